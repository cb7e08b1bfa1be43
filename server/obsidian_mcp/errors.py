"""Every way a call can fail, and the one table of what each looks like outside.

A message must be enough by itself: hosts show the model the message and drop
the rest. It says what happened, to which note, and what to do next.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Failure(Exception):
    """A call that failed in a way its caller can be told about."""

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class ParseError(Failure):
    """The line is not JSON."""


class InvalidRequest(Failure):
    """JSON, but not a JSON-RPC request, or not one that may come now."""


class MethodNotFound(Failure):
    """No such method in this era."""


class InvalidParams(Failure):
    """The call itself is malformed: no tool name, no object of arguments."""


class UnknownTool(Failure):
    """No such tool, or one that is switched off."""


class InvalidArguments(Failure):
    """A tool's arguments are wrong; nothing has run."""


class UnsupportedVersion(Failure):
    """A request of the stateless era names a revision that is not spoken here."""


class HeaderMismatch(Failure):
    """On HTTP: a header says something else than the body."""


class UnknownSession(Failure):
    """On HTTP: a session that this server has not begun."""


class InternalError(Failure):
    """A bug of ours."""


class AlreadyExists(Failure):
    """Something is already where a note would be made."""


class Conflict(Failure):
    """The note is not the one that `if_match` names."""


class CliFailed(Failure):
    """The Obsidian CLI failed, or claimed a success that did not happen."""


class CliDisabled(Failure):
    """The CLI is switched off in Obsidian's settings."""


class NotText(Failure):
    """The file is not UTF-8 text."""


class FileFailed(Failure):
    """The disk could not do it."""


class TooLarge(Failure):
    """More than a reply can hold."""


class BridgeFailed(Failure):
    """The bridge server can't be reached, refuses, or talks nonsense."""


class ObsidianNotRunning(Failure):
    """The app does not answer, or its executable is not to be found."""


class VaultNotFound(Failure):
    """Obsidian knows no vault of that name."""


class NoteNotFound(Failure):
    """No note there."""


class AmbiguousName(Failure):
    """Several notes have the name."""


class PermissionDenied(Failure):
    """The system, or the vault's boundary, forbids it."""


class TimedOut(Failure):
    """The time limit for the whole call has passed."""


class Cancelled(Failure):
    """The client took the call back. It gets no reply."""


class ErrorSpec:
    """What one kind of failure looks like to each kind of caller."""

    __slots__ = ("envelope", "error_code", "http", "rpc", "shell")

    def __init__(self, error_code: str, rpc: int, http: int, envelope: int, shell: int) -> None:
        self.error_code = error_code
        self.rpc = rpc
        self.http = http
        self.envelope = envelope
        self.shell = shell


#                          errorCode                 JSON-RPC  HTTP  envelope  shell
ERRORS: dict[type[Failure], ErrorSpec] = {
    ParseError: ErrorSpec("PARSE_ERROR", -32700, 400, 1, 2),
    InvalidRequest: ErrorSpec("INVALID_REQUEST", -32600, 400, 1, 2),
    MethodNotFound: ErrorSpec("METHOD_NOT_FOUND", -32601, 404, 1, 2),
    InvalidParams: ErrorSpec("INVALID_PARAMS", -32602, 400, 1, 2),
    UnknownTool: ErrorSpec("UNKNOWN_TOOL", -32602, 404, 1, 2),
    InvalidArguments: ErrorSpec("INVALID_ARGUMENTS", -32602, 400, 1, 2),
    UnsupportedVersion: ErrorSpec("UNSUPPORTED_PROTOCOL_VERSION", -32022, 400, 1, 2),
    HeaderMismatch: ErrorSpec("HEADER_MISMATCH", -32020, 400, 1, 2),
    UnknownSession: ErrorSpec("UNKNOWN_SESSION", -32600, 404, 1, 2),
    InternalError: ErrorSpec("INTERNAL_ERROR", -32603, 500, 1, 70),
    AlreadyExists: ErrorSpec("ALREADY_EXISTS", -32000, 200, 1, 1),
    Conflict: ErrorSpec("CONFLICT", -32000, 200, 1, 1),
    CliFailed: ErrorSpec("CLI_FAILED", -32000, 200, 1, 1),
    CliDisabled: ErrorSpec("CLI_DISABLED", -32000, 200, 1, 3),
    NotText: ErrorSpec("NOT_TEXT", -32000, 200, 1, 1),
    FileFailed: ErrorSpec("FILE_FAILED", -32000, 200, 1, 1),
    TooLarge: ErrorSpec("TOO_LARGE", -32000, 200, 1, 1),
    BridgeFailed: ErrorSpec("BRIDGE_FAILED", -32000, 200, 1, 1),
    ObsidianNotRunning: ErrorSpec("OBSIDIAN_NOT_RUNNING", -32001, 200, 127, 3),
    VaultNotFound: ErrorSpec("VAULT_NOT_FOUND", -32002, 200, 1, 4),
    NoteNotFound: ErrorSpec("FILE_NOT_FOUND", -32003, 200, 1, 5),
    AmbiguousName: ErrorSpec("AMBIGUOUS_NAME", -32004, 200, 1, 6),
    PermissionDenied: ErrorSpec("PERMISSION_DENIED", -32005, 200, 1, 7),
    TimedOut: ErrorSpec("TIMEOUT", -32006, 200, 124, 8),
    Cancelled: ErrorSpec("CANCELLED", -32000, 200, 1, 130),
}


def spec_of(failure: Failure) -> ErrorSpec:
    """The row of its class, or of the one it is a kind of."""
    return next(ERRORS[kind] for kind in type(failure).__mro__ if kind in ERRORS)
