"""One line ⇄ one JSON-RPC message."""

from __future__ import annotations

from obsidian_mcp.errors import Failure, InvalidRequest, ParseError, spec_of
from obsidian_mcp.protocol import quickjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Id = str | int | None


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


def decode(line: bytes) -> Any:
    """The JSON value on a line. NaN, infinities, and numbers nobody can hold are not JSON."""
    try:
        return quickjson.decode(line.decode("utf-8"))
    except RecursionError:
        raise ParseError("The line is nested too deeply to read. Send a flatter message.") from None
    except ValueError as error:
        raise ParseError(
            f"The line is not valid JSON: {_reason(error)}. Send one JSON object per line, in UTF-8."
        ) from None


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    return str(error).split(";")[0]


def is_response(message: Any) -> bool:
    """We send no requests, so an answer to one can only be dropped."""
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


def reply(id: Id, result: bytes) -> bytes:
    """A reply around a result that is already encoded."""
    return b'{"jsonrpc":"2.0","id":' + encode(id) + b',"result":' + result + b"}"


def error_object(failure: Failure) -> dict[str, Any]:
    look = spec_of(failure)
    return {"code": look.rpc, "message": failure.message, "data": {"errorCode": look.error_code, **failure.data}}


def error_reply(id: Id, failure: Failure) -> bytes:
    return encode({"jsonrpc": "2.0", "id": id, "error": error_object(failure)})


def notification(method: str, params: dict[str, Any]) -> bytes:
    return encode({"jsonrpc": "2.0", "method": method, "params": params})
