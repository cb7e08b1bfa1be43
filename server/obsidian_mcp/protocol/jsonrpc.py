"""One line ⇄ one JSON-RPC message. What is sent is a value until a door encodes it."""

from __future__ import annotations

from obsidian_mcp.errors import Failure, InvalidRequest, ParseError, spec_of
from obsidian_mcp.protocol import quickjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeAlias

    Id = str | int | None

    class HasJson(Protocol):
        """A result that encodes itself."""

        @property
        def json(self) -> bytes: ...

    Result = dict[str, Any] | HasJson
    Message: TypeAlias = "Reply | Notification | Call | list[Reply]"


class Request:
    """A request, or a notification; that one's id means nothing."""

    __slots__ = ("id", "is_notification", "method", "params")

    def __init__(self, method: str, params: Any, id: str | int, is_notification: bool) -> None:
        self.method = method
        self.params = params
        self.id = id
        self.is_notification = is_notification

    @property
    def meta(self) -> dict[str, Any]:
        meta = self.params.get("_meta") if isinstance(self.params, dict) else None
        return meta if isinstance(meta, dict) else {}


class Encoded:
    """A result that is JSON already: what doesn't change is encoded once."""

    __slots__ = ("json",)

    def __init__(self, json: bytes) -> None:
        self.json = json


class Reply:
    """The answer to one request: a result or a failure. Its id is None where the request has no usable one."""

    __slots__ = ("failure", "id", "result")

    def __init__(self, id: Id, result: Result | None = None, failure: Failure | None = None) -> None:
        self.id = id
        self.result = result
        self.failure = failure


class Notification:
    __slots__ = ("method", "params")

    def __init__(self, method: str, params: dict[str, Any]) -> None:
        self.method = method
        self.params = params


class Call:
    """A request of ours to the client."""

    __slots__ = ("id", "method", "params")

    def __init__(self, id: str, method: str, params: dict[str, Any]) -> None:
        self.id = id
        self.method = method
        self.params = params


def decode(data: bytes, what: str = "The line", hint: str = "Send one JSON object per line, in UTF-8.") -> Any:
    """The JSON value of a line, or of something else. NaN, infinities, and numbers too large to hold are not JSON."""
    try:
        return quickjson.decode(data.decode("utf-8"))
    except RecursionError:
        raise ParseError(f"{what} is nested too deeply to read.", "Send a flatter message." if hint else "") from None
    except ValueError as error:
        raise ParseError(f"{what} is not valid JSON: {_reason(error)}.", hint) from None


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return str(error).split(";")[0]


def is_response(message: Any) -> bool:
    """An answer to a request of ours, or what claims to be one."""
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def id_of(message: Any) -> Id:
    """The id to answer a faulty message with: its own where it has a usable one."""
    value = message.get("id") if isinstance(message, dict) else None
    return value if is_id(value) else None


def is_id(value: Any) -> bool:
    """True and False are integers to Python, and 1 and 0 as keys of a dict; not here."""
    return isinstance(value, str | int) and not isinstance(value, bool)


def parse(message: Any) -> Request:
    if not isinstance(message, dict):
        raise InvalidRequest("A message must be a JSON object.")
    if message.get("jsonrpc") != "2.0":
        raise InvalidRequest('A message must carry "jsonrpc": "2.0".')
    if "id" in message and not is_id(message["id"]):
        raise InvalidRequest("A request's id must be a string or an integer.")
    method = message.get("method")
    if not isinstance(method, str):
        raise InvalidRequest("A request needs a method, as a string.")
    params = message.get("params", {})
    if not isinstance(params, dict | list):
        raise InvalidRequest("A request's params must be an object.")
    return Request(method, params, message.get("id", 0), "id" not in message)


def encode(message: Any) -> bytes:
    """Compact UTF-8. A lone surrogate that a client sent goes back as its JSON escape."""
    return quickjson.encode(message).encode("utf-8", "backslashreplace")


def encode_message(message: Message) -> bytes:
    """What goes over the wire. An array is the answer to a batch."""
    if isinstance(message, list):
        return b"[" + b",".join(map(_encode_reply, message)) + b"]"
    if isinstance(message, Notification):
        return encode({"jsonrpc": "2.0", "method": message.method, "params": message.params})
    if isinstance(message, Call):
        return encode({"jsonrpc": "2.0", "id": message.id, "method": message.method, "params": message.params})
    return _encode_reply(message)


def _encode_reply(reply: Reply) -> bytes:
    if reply.failure is not None:
        return encode({"jsonrpc": "2.0", "id": reply.id, "error": error_object(reply.failure)})
    result = reply.result
    encoded = encode(result) if isinstance(result, dict) else result.json if result is not None else b"{}"
    id = b"%d" % reply.id if type(reply.id) is int else encode(reply.id)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id, encoded)


def error_object(failure: Failure) -> dict[str, Any]:
    spec = spec_of(failure)
    return {"code": spec.rpc, "message": failure.message, "data": {"errorCode": spec.error_code, **failure.data}}
