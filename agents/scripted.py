"""A model that is a script, to try the evaluation without a key: it follows the plan of the task that it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.calls import Call
from agents.evaluation import PREFIX
from agents.everything import TASKS
from agents.ours import Ours
from agents.seen import NOTHING, Seen
from agents.tasks import Task
from interop.ide import Model


class Follower(Model):
    """What it does next follows from the messages alone, as with any model."""

    def call(self, request: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        found = next_of(request)
        return (PREFIX + found.tool, found.sent()) if isinstance(found, Call) else None

    def text(self, request: dict[str, Any]) -> str:
        found = next_of(request)
        return found if isinstance(found, str) else "Hello."


def next_of(request: Mapping[str, Any]) -> Call | str:
    """The next call, or the answer."""
    messages = request.get("messages", ())
    task = next((task for task in TASKS if task.words in _said(messages)), None)
    offered = any(tool.get("name", "").startswith(PREFIX) for tool in request.get("tools", ()))
    return "Hello." if task is None or not offered else _followed(task, results(messages))


def _followed(task: Task, known: Sequence[Seen]) -> Call | str:
    server, left = Ours(), list(known)
    server.memory["etag"] = ""
    plan = task.plan(server)
    try:
        step = next(plan)
        while True:
            if not step[0].is_extra and not left:
                return step[0]
            step = plan.send([NOTHING if step[0].is_extra else left.pop(0)])
    except StopIteration as end:
        return str(end.value or "Done.")


def results(messages: Sequence[Mapping[str, Any]]) -> list[Seen]:
    """What the model was shown of each call."""
    parts = [part for message in messages for part in _parts(message) if part.get("type") == "tool_result"]
    return [Seen(_text(part.get("content")), bool(part.get("is_error"))) for part in parts]


def _said(messages: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(_text(part.get("text")) for message in messages for part in _parts(message))


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")
