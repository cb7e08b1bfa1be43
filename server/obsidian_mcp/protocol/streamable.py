"""Streamable HTTP without I/O: what headers mean, and which status an error has."""

from __future__ import annotations

import base64
import binascii
import functools
import hashlib
import hmac

from obsidian_mcp.errors import HeaderMismatch, InvalidParams, InvalidRequest, UnknownSession, spec_of
from obsidian_mcp.protocol import revisions
from obsidian_mcp.protocol.methods import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from obsidian_mcp.protocol.jsonrpc import Reply
    from obsidian_mcp.protocol.methods import Method

VERSION, METHOD, NAME, SESSION = "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"
_DECIDING = {name.encode(): name for name in (VERSION, METHOD, NAME, SESSION, "accept", "content-type")}
MOST_ENDED = 10_000
MOST_CACHED = 1000
LONGEST_CLIENT = 100  # characters of its name
ASKS = "+"  # in a session's id: the client can ask its user something; no base64 for addresses has it
KEEP_ALIVE = b": \n\n"  # a comment of a stream
ASSUMED = "2025-03-26"  # what the specification takes a client for that sends no version
STATUSES = {-32700: 400, -32600: 400, -32602: 400, -32020: 400, -32021: 400, -32022: 400, -32601: 404}


class Sessions:
    """Ids that carry their own proof, and what the session has to remember: nothing is stored for those that are
    alive, and nothing can run out."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._ended: dict[str, None] = {}
        self._proof = functools.lru_cache(MOST_CACHED)(self._proof_of)

    def new(self, session: Session, nonce: str) -> str:
        """With what the client calls itself, or the beginning of it, and whether it can ask its user something."""
        name = session.client[:LONGEST_CLIENT].encode("utf-8", "replace")
        kept = base64.urlsafe_b64encode(name).decode().rstrip("=") + (ASKS if session.asks else "")
        body = f"{session.revision}.{nonce}~{kept}"
        return f"{body}.{self._proof(body)}"

    def known(self, id: str) -> Session:
        """What was agreed on in it; raises if it is none of ours."""
        body, _, proof = id.rpartition(".")
        proven = hmac.compare_digest(proof.encode(), self._proof(body).encode())
        if not proven or id in self._ended:
            raise UnknownSession("This session is not known here.", "Send initialize again, without the header.")
        revision, _, rest = body.partition(".")
        kept = rest.partition("~")[2]
        name = kept.removesuffix(ASKS)
        client = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode("utf-8", "replace")
        return Session(revision, client, asks=name != kept)

    def end(self, id: str) -> None:
        """From now on it is not known. Of those that have ended, the latest are remembered."""
        self.known(id)
        self._ended[id] = None
        while len(self._ended) > MOST_ENDED:
            del self._ended[next(iter(self._ended))]

    def _proof_of(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


def is_mcp(headers: Mapping[str, str]) -> bool:
    """By what every MCP client sends and no other does: the kind of stream it takes, or a session."""
    return "text/event-stream" in headers.get("accept", "").lower() or SESSION in headers


def takes_json(accept: str) -> bool:
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return any(kind in ("application/json", "application/*", "*/*") for kind in kinds)


class Headers(dict[str, str]):
    """Those that decide something, the first of each name."""

    repeated = ""  # one of MCP's own that is there more than once

    def require_once(self) -> None:
        if self.repeated:
            raise HeaderMismatch(f"The header {self.repeated} is there more than once.", "Send it once.")


def headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """From a request's, in lower case as they come."""
    found = Headers()
    for key, value in raw:
        name = _DECIDING.get(key)
        if name is None:
            continue
        if name not in found:
            found[name] = value.decode("latin-1")
        elif name.startswith("mcp-"):
            found.repeated = name
    return found


def legacy_session(headers: Mapping[str, str], sessions: Sessions) -> Session:
    """The one that a request without an envelope belongs to."""
    version = headers.get(VERSION)
    if version is not None and version not in revisions.LEGACY:
        raise InvalidRequest(
            f"Protocol version {version!r} is not spoken here.",
            f"Use one of {', '.join((*revisions.LEGACY, *revisions.MODERN))}.",
        )
    if SESSION in headers:
        return sessions.known(headers[SESSION])
    return Session(version or ASSUMED)


def check_mirrors(headers: Mapping[str, str], message: Any, methods: Mapping[str, Method]) -> None:
    """In the stateless era the headers repeat what the body says, for programs that read only headers."""
    if not isinstance(message, dict):
        raise InvalidRequest("A message must be a JSON object.")
    if "id" not in message:
        return
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(params, dict) or not isinstance(meta, dict) or revisions.VERSION_KEY not in meta:
        raise InvalidParams(f"A request needs params._meta with {revisions.ENVELOPE}.")
    if headers.get(VERSION) != meta[revisions.VERSION_KEY]:
        raise HeaderMismatch(f"The header {VERSION} must repeat params._meta's {revisions.VERSION_KEY}.")
    if headers.get(METHOD) != message.get("method"):
        raise HeaderMismatch(f"The header {METHOD} must repeat the method.")
    method = message.get("method")
    named_by = methods[method].named_by if isinstance(method, str) and method in methods else ""
    named = params.get(named_by) if named_by else None
    if named is not None and _decoded(headers.get(NAME)) != named:
        raise HeaderMismatch(f"The header {NAME} must repeat params.{named_by}.")


def _decoded(value: str | None) -> str | None:
    """A name that no header can hold comes as =?base64?…?=."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def is_modern(message: Any, headers: Mapping[str, str]) -> bool:
    """By the header or by the envelope: one without the other is a mistake to be told."""
    if headers.get(VERSION) in revisions.MODERN:
        return True
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and revisions.VERSION_KEY in meta


def status_of(reply: Reply | list[Reply], modern: bool) -> int:
    """An error that the transport knows has a status of its own; a tool's failure has none."""
    if isinstance(reply, list) or reply.failure is None:
        return 200
    if reply.id is None:
        return 400
    return STATUSES.get(spec_of(reply.failure).rpc, 200) if modern else 200


def event(message: bytes) -> bytes:
    """One message of a stream. JSON has no line ends of its own."""
    return b"event: message\ndata: " + message + b"\n\n"
