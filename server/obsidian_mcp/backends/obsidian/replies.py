"""What the CLI's replies mean. Pure: bytes in, a value or a Failure out.

With the app reachable the CLI exits with 0 whatever happened and prints its
message on stdout, so only the known shape of a success counts as one; an exit
code proves nothing. `read` is apart: a note's own text may look like any reply.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from obsidian_mcp.backends.obsidian.process import Output
from obsidian_mcp.errors import (
    AlreadyExists,
    CliDisabled,
    CliFailed,
    Failure,
    Hint,
    InvalidArguments,
    NoteNotFound,
    ObsidianNotRunning,
    PermissionDenied,
    VaultNotFound,
)
from obsidian_mcp.registry import with_doctor
from obsidian_mcp.vault.path import VaultPath, is_path

# Older installers print these before the payload; stripped at the head only, never inside a note.
_NOISE = re.compile(
    rb"(?:\r?\n"
    rb"|[\d\-:.,TZ ]*Loading updated app package [^\n]*\n"
    rb"|Your Obsidian installer is out of date\. Please [^\n]*\n"
    rb"|Checking for update\.*\r?\n"
    rb"|Latest version is [\d.]+\r?\n"
    rb"|App is up to date\.?\r?\n)"
)
_NOT_RUNNING = re.compile(r"unable to find Obsidian|Unable to connect to main process", re.IGNORECASE)

START = with_doctor(
    "Start Obsidian, then try again; or serve the files without it, with --backend embedded.",
    "in a terminal tells why",
)
SWITCH_ON = with_doctor("Turn it on in Settings > General > Advanced, then try again.", "checks it")

# The first that matches names the failure, its fact and what to do next. {0} is the sentence itself.
_SENTENCES: tuple[tuple[re.Pattern[str], type[Failure], str, Hint | str], ...] = (
    (re.compile(r"Vault not found\.\s*$"), VaultNotFound, "Obsidian knows no vault of that name.", ""),
    (
        re.compile(r"Command line interface is not enabled"),
        CliDisabled,
        "Obsidian's command line interface is switched off.",
        SWITCH_ON,
    ),
    (re.compile(r'Error: File ".*" not found\.'), NoteNotFound, "Obsidian says: {0}", "Check the name."),
    (
        re.compile(r"Error: Destination file already exists!"),
        AlreadyExists,
        "Obsidian says that the destination exists already.",
        "Choose another.",
    ),
    (re.compile(r"Error: File name cannot contain"), InvalidArguments, "Obsidian refuses the name: {0}", ""),
    (
        re.compile(r"Error: (?:EACCES|EPERM|EROFS)\b"),
        PermissionDenied,
        "The system does not let Obsidian do that ({0}).",
        "Check the permissions of the note and its folder.",
    ),
    (re.compile(r"(?:[A-Za-z]*Error): "), CliFailed, "Obsidian failed: {0}", "See whether it shows a message."),
)


def evaluated(reply: str) -> str | None:
    """The value that `eval` printed; what the console printed before it does not count."""
    last = reply.rstrip("\r\n").rpartition("\n")[2]
    return last.removeprefix("=> ") if last.startswith("=> ") else None


def path_line(reply: str) -> VaultPath | None:
    """The path that is all of the reply."""
    line = reply.strip("\r\n")
    return VaultPath(line) if line.lower().endswith(".md") and is_path(line) else None


END_OF_TIME = 253_402_300_800_000  # the year 10000, in milliseconds


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the `file` command prints."""

    path: str
    size: int
    created_ms: int
    modified_ms: int


def payload(output: Output) -> str:
    """The reply without noise; raises where the CLI could not talk to the app."""
    reachable(output)
    return strip_noise(output.stdout).decode("utf-8", "replace")


def reachable(output: Output) -> None:
    """Raise if there was no app to ask, or the CLI died."""
    if output.code in (0, None):
        return
    complaint = (output.stderr or output.stdout).decode("utf-8", "replace").strip()
    if _NOT_RUNNING.search(complaint):
        raise ObsidianNotRunning("Obsidian is not running, or not reachable from here.", START)
    code = output.code if output.code > 0 else 128 - output.code  # as a shell counts a signal
    how = f"exit code {code}" if output.code > 0 else f"exit code {code} (signal {-output.code})"
    raise CliFailed(
        f"The Obsidian CLI ended with {how}: {_first_line(complaint).rstrip('.') or 'it said nothing'}.",
        "See whether Obsidian is well, then try again.",
        exitCode=code,
    )


def strip_noise(stdout: bytes) -> bytes:
    while noise := _NOISE.match(stdout):
        stdout = stdout[noise.end() :]
    return stdout


def without_one_noise_line(stdout: bytes) -> bytes | None:
    noise = _NOISE.match(stdout)
    return stdout[noise.end() :] if noise else None


def is_false_not_found(reply: str, command: str) -> bool:
    """What a registered vault whose window is closed says the first time. Nothing has run then."""
    return reply.startswith(f'Error: Command "{command}" not found.')


def failure(reply: str) -> Failure | None:
    """The failure that a reply tells of, if it is one of the known sentences."""
    for pattern, kind, fact, hint in _SENTENCES:
        if pattern.match(reply):
            return kind(fact.format(_first_line(reply)), hint)
    return None


def unexpected(reply: str, doing: str) -> Failure:
    """The failure for a reply that is not the success it should be."""
    shown = _first_line(reply) or "nothing"
    return failure(reply) or CliFailed(
        f"Obsidian's reply while {doing} is not one that is known to mean success: {shown}",
        "See whether Obsidian shows a message, and look at the note.",
    )


def named_path(reply: str, verb: str) -> str | None:
    """`Created: P` → P."""
    return _rest(reply, f"{verb}: ")


def moved_path(reply: str, verb: str, path: VaultPath) -> str | None:
    """`Moved: P -> Q` → Q."""
    return _rest(_nfc(reply), _nfc(f"{verb}: {path} -> "))


def says(reply: str, verb: str, path: VaultPath) -> bool:
    """Whether the reply is the success of that verb on that path."""
    named = named_path(reply, verb)
    return named is not None and _nfc(named) == _nfc(path.value)


def listed(reply: str) -> list[str]:
    return [line.rstrip("\r") for line in reply.split("\n") if line.strip()]


def file_facts(reply: str) -> FileFacts | None:
    """Tab-separated lines; None if it is anything else."""
    fields = dict(line.partition("\t")[::2] for line in listed(reply) if "\t" in line)
    try:
        facts = FileFacts(fields["path"], int(fields["size"]), int(fields["created"]), int(fields["modified"]))
    except (KeyError, ValueError):
        return None
    sane = facts.size >= 0 and all(0 <= moment < END_OF_TIME for moment in (facts.created_ms, facts.modified_ms))
    return facts if sane else None


def note_text(stdout: bytes, size: int) -> bytes | None:
    """The note's bytes out of what `read` printed, by the size that the note is known to have.

    `read` adds a newline to a note that ends without one, and an old installer
    puts lines in front; the size tells both from the note's own text.
    """
    rest: bytes | None = stdout
    while rest is not None:
        if len(rest) == size:
            return rest
        if len(rest) == size + 1 and rest.endswith(b"\n"):
            return rest[:-1]
        rest = without_one_noise_line(rest)
    return None


def is_loss_of(stdout: bytes, data: bytes) -> bool:
    """Whether this is the file as well as it can be printed: a mark, CR and bytes that are not UTF-8 may be lost."""

    def left(shown: bytes) -> str:
        return shown.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r", "").rstrip("\n")

    return left(data) in (left(stdout), left(strip_noise(stdout)))


def _rest(reply: str, prefix: str) -> str | None:
    """What follows on the one line there is; more lines are not a known success."""
    rest = reply[len(prefix) :].rstrip("\r\n")
    return rest if reply.startswith(prefix) and "\n" not in rest else None


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].strip()[:300]


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
