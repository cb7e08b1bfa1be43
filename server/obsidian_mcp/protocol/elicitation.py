"""A question to the person, as MCP asks it: a form with one box to tick, and what an answer means.

In the stateless era a call that needs an answer ends with the question and is sent again with the answer. What was
asked travels with it, signed, so that nothing has to be remembered here and no answer to one call can serve another:
the state names the call, its arguments, what the question was about, and until when it holds.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from obsidian_mcp.errors import InvalidParams, NotConfirmed, Question
from obsidian_mcp.protocol import results, revisions

KEY = "confirm"
METHOD = "elicitation/create"
HOLDS = 300.0  # seconds
CHANGED = "What the person was asked about has changed meanwhile."
DECLINED = "The person was asked and declined."
UNANSWERED = "The person was asked, and nobody answered."


class BadState(InvalidParams):
    """A requestState that is not ours, has expired, or belongs to another call."""


def form(question: Question, revision: str | None = None) -> dict[str, Any]:
    """The params of the question. A box that has to be ticked: an empty form is accepted by one key."""
    box = {"type": "boolean", "title": question.title, "default": False}
    asked = {
        "message": question.message,
        "requestedSchema": {"type": "object", "properties": {KEY: box}, "required": [KEY]},
    }
    return asked if revision in revisions.WITHOUT_MODE else {"mode": "form", **asked}


def require_yes(answer: Any, otherwise: str) -> None:
    """Raise unless it is a plain yes."""
    action = answer.get("action") if isinstance(answer, Mapping) else None
    content = answer.get("content") if isinstance(answer, Mapping) else None
    if action == "accept" and isinstance(content, Mapping) and content.get(KEY) is True:
        return
    raise NotConfirmed(DECLINED if action in ("accept", "decline") else UNANSWERED, otherwise)


def digest(name: str, arguments: Mapping[str, Any]) -> str:
    """Of a call."""
    said = json.dumps([name, arguments], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(said.encode()).hexdigest()


class States:
    """Signs what was asked, and knows it again. `key` is this process's own."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def sign(self, call: str, subject: str, until: float) -> str:
        body = base64.urlsafe_b64encode(json.dumps([call, subject, until]).encode()).decode()
        return f"{body}.{self._proof(body)}"

    def subject(self, state: str, call: str, now: float) -> str:
        """What the question was about. Raises BadState."""
        body, _, proof = state.rpartition(".")
        if not hmac.compare_digest(_bytes(proof), _bytes(self._proof(body))):
            raise _bad("is not one of this server")
        of, subject, until = json.loads(base64.urlsafe_b64decode(body))
        if of != call:
            raise _bad("belongs to another call")
        if now > until:
            raise _bad("has expired")
        return str(subject)

    def _proof(self, body: str) -> str:
        return hmac.new(self._key, _bytes(body), hashlib.sha256).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bad(why: str) -> BadState:
    return BadState(f"The requestState {why}.", "Send the call again without it.")


def required(question: Question, state: str) -> dict[str, Any]:
    """The result of a call that needs an answer, in the stateless era."""
    asked = {"method": METHOD, "params": form(question)}
    return results.input_required({KEY: asked}, state)
