"""Every way a call can fail, and the one table of what each looks like outside.

A failure is facts: what happened, how the vault was left, what to do next, data. The sentence is made here, from
those facts, and nowhere else. It must be enough by itself: hosts show the model the message and drop the rest.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any, Self


class VaultState:
    """How a call that failed has left the vault, and the sentence that says so."""

    __slots__ = ("name", "sentence")

    def __init__(self, name: str, sentence: str) -> None:
        self.name = name
        self.sentence = sentence

    def __repr__(self) -> str:
        return f"VaultState({self.name})"


READ = VaultState("read", "")  # nothing that could have changed it was tried
UNTOUCHED = VaultState("untouched", "Nothing was changed.")
UNKNOWN = VaultState("unknown", "It may have taken effect, or may still take effect: look before trying again.")
CHANGED = VaultState("changed", "The vault was changed: look before trying again.")
STATES = (READ, UNTOUCHED, UNKNOWN, CHANGED)

MODEL, SHELL, DOCTOR = "model", "shell", "doctor"


class Hint:
    """What to do next, in the words of each audience.

    A model over MCP knows tools, a person at the command line knows commands and flags, and the doctor doesn't send
    people to the doctor. Where a form is left out, the one before it is said. A hint that names a tool needs it:
    where that is switched off, `without` is said.
    """

    __slots__ = ("doctor", "model", "needs", "shell", "without")

    def __init__(
        self, model: str, shell: str | None = None, doctor: str | None = None, needs: str = "", without: str = ""
    ) -> None:
        self.model = model
        self.needs = needs
        self.without = without
        self.shell = model if shell is None else shell
        self.doctor = self.shell if doctor is None else doctor

    def among(self, tools: Container[str]) -> Hint:
        """As it can be said where these tools are offered."""
        return Hint(self.without) if self.needs and self.needs not in tools else self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hint) and (self.model, self.shell, self.doctor) == (
            other.model,
            other.shell,
            other.doctor,
        )

    __hash__ = None  # type: ignore[assignment]  # equal by value, and never a key

    def __repr__(self) -> str:
        return f"Hint({self.model!r})"


class Failure(Exception):
    """A call that failed in a way its caller can be told about.

    `fact` is a whole sentence, and so is `hint`. `vault` is READ where the failure itself cannot have changed
    anything: whether the call could have is known to what runs it (`running`).
    """

    def __init__(self, fact: str, hint: Hint | str = "", vault: VaultState = READ, **data: Any) -> None:
        super().__init__(fact)
        self.fact = fact
        self.hint = hint if isinstance(hint, Hint) else Hint(hint)
        self.vault = vault
        self.data = data

    @property
    def message(self) -> str:
        """As a model is told it."""
        return self.told_to(MODEL)

    def told_to(self, audience: str) -> str:
        """The sentences, in the words of an audience: MODEL, SHELL or DOCTOR."""
        hint: str = getattr(self.hint, audience)
        return " ".join(part for part in (self.fact, self.vault.sentence, hint) if part)

    def leaving(self, vault: VaultState) -> Self:
        """This failure, as told by the caller that knows how the vault was left."""
        self.vault = vault
        return self

    def among(self, tools: Container[str]) -> Self:
        """This failure, as told where these tools are offered."""
        self.hint = self.hint.among(tools)
        return self

    def within(self, fact: str, vault: VaultState) -> Self:
        """A failure of this kind as part of a larger fact, which ends with what happened here."""
        return type(self)(f"{fact}: {self.fact}", self.hint, vault, **self.data)


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


class NotStarted(CliFailed):
    """The Obsidian command could not be started, so nothing ran."""


class CliDisabled(Failure):
    """The CLI is switched off in Obsidian's settings."""


class NotText(Failure):
    """The file is not UTF-8 text."""


class FileFailed(Failure):
    """The disk could not do it."""


class NotJson(FileFailed):
    """A file of the vault's settings is not JSON."""


class TooLarge(Failure):
    """More than a reply can hold."""


class BridgeFailed(Failure):
    """The bridge server can't be reached, refuses, or talks nonsense."""


class ObsidianNotRunning(Failure):
    """The app does not answer, or its executable is not to be found."""


class WithoutApp(ObsidianNotRunning):
    """The vault is served without the app, and only the app could do this."""


class VaultNotFound(Failure):
    """Obsidian knows no vault of that name."""


class NoteNotFound(Failure):
    """No note there."""


class NoSuchName(NoteNotFound):
    """No file is called so. It may be another name of one: `asked` is what was looked for."""

    asked = ""


class ResourceNotFound(Failure):
    """No resource has that address, in the stateless era."""


class NoSuchResource(ResourceNotFound):
    """No resource has that address, under the older revisions."""


class ResourceTooLarge(Failure):
    """A resource that is more than a reply can hold."""


class AmbiguousName(Failure):
    """Several notes have the name."""


class PermissionDenied(Failure):
    """The system, or the vault's boundary, forbids it."""


class TimedOut(Failure):
    """The time limit for the whole call has passed."""


class NotConfirmed(Failure):
    """The person was asked first, and did not say yes."""


class Question:
    """What a person is asked before something is done: the words, those beside the box to tick, and what to do
    instead. `subject` is what the answer holds for, such as a note's etag."""

    __slots__ = ("message", "otherwise", "subject", "title")

    def __init__(self, message: str, title: str, subject: str, otherwise: str = "") -> None:
        self.message = message
        self.title = title
        self.subject = subject
        self.otherwise = otherwise


class NeedsAnswer(NotConfirmed):
    """A call that can't go on before the person has been asked. No client is told this: it is asked."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.message)
        self.question = question


class Cancelled(Failure):
    """The client took the call back. It gets no reply."""


class BadArguments(InvalidArguments):
    """The arguments as such don't fit the tool's schema; `data` says which."""


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
    ResourceNotFound: ErrorSpec("RESOURCE_NOT_FOUND", -32602, 404, 1, 5),
    NoSuchResource: ErrorSpec("RESOURCE_NOT_FOUND", -32002, 404, 1, 5),
    ResourceTooLarge: ErrorSpec("RESOURCE_TOO_LARGE", -32602, 200, 1, 1),
    AmbiguousName: ErrorSpec("AMBIGUOUS_NAME", -32004, 200, 1, 6),
    PermissionDenied: ErrorSpec("PERMISSION_DENIED", -32005, 200, 1, 7),
    TimedOut: ErrorSpec("TIMEOUT", -32006, 200, 124, 8),
    NotConfirmed: ErrorSpec("NOT_CONFIRMED", -32000, 200, 1, 1),
    Cancelled: ErrorSpec("CANCELLED", -32000, 200, 1, 130),
}


def spec_of(failure: Failure) -> ErrorSpec:
    """The row of its class, or of the one it is a kind of."""
    return next(ERRORS[kind] for kind in type(failure).__mro__ if kind in ERRORS)
