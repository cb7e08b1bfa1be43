from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.backends.obsidian import argv, replies
from obsidian_mcp.backends.obsidian.process import Output
from obsidian_mcp.errors import (
    AlreadyExists,
    CliDisabled,
    CliFailed,
    Failure,
    InvalidArguments,
    NoteNotFound,
    ObsidianNotRunning,
    PermissionDenied,
    VaultNotFound,
)
from obsidian_mcp.vault.path import VaultPath

NOTE = VaultPath("A/Note.md")
SENTENCES: dict[str, type[Failure] | None] = {
    "Vault not found.": VaultNotFound,
    "Vault not found.\n": VaultNotFound,
    "Vault not found.md": None,
    "Command line interface is not enabled. Please turn it on in Settings > General > Advanced.": CliDisabled,
    'Error: File "x.md" not found.': NoteNotFound,
    "Error: Destination file already exists!": AlreadyExists,
    'Error: File name cannot contain any of the following characters: * " \\ / < > : | ?': InvalidArguments,
    "Error: EACCES: permission denied, open '/x'": PermissionDenied,
    "Error: EPERM: operation not permitted": PermissionDenied,
    "Error: EROFS: read-only file system": PermissionDenied,
    "Error: ENOENT: no such file or directory, rename 'a' -> 'b'": CliFailed,
    'Error: Command "x" not found. Did you mean: y?': CliFailed,
    "TypeError: Cannot read properties of null (reading 'path')": CliFailed,
    "Error: No active file. Use file=<name> or path=<path> to specify a file.": CliFailed,
    "Created: Error.md": None,
}


@pytest.mark.parametrize(("reply", "kind"), SENTENCES.items(), ids=SENTENCES)
def test_a_sentence_means_one_failure(reply: str, kind: type[Failure] | None) -> None:
    failure = replies.failure(reply)
    assert (type(failure) if failure else None) == kind


@pytest.mark.parametrize("reply", ["", "Done", "Created", "created: A/Note.md", "Moved: A/Note.md"])
def test_a_reply_that_is_not_a_known_success_is_a_failure(reply: str) -> None:
    assert not replies.says(reply, "Created", NOTE)
    assert isinstance(replies.unexpected(reply, "creating"), CliFailed)


def test_a_success_is_of_that_verb_on_that_path() -> None:
    assert replies.says("Created: A/Note.md\n", "Created", NOTE)
    assert replies.says("Created: A/Note.md\r\n", "Created", NOTE)
    assert not replies.says("Created: A/Note 1.md\n", "Created", NOTE)
    assert not replies.says("Overwrote: A/Note.md\n", "Created", NOTE)
    assert replies.says("Created: Cafe\u0301.md", "Created", VaultPath("Café.md"))
    assert replies.moved_path("Moved: A/Note.md -> B/Note.md\n", "Moved", NOTE) == "B/Note.md"
    assert replies.moved_path("Moved: B/Note.md -> C/Note.md\n", "Moved", NOTE) is None


@pytest.mark.parametrize(
    ("code", "stderr", "kind"),
    [
        (1, b"The CLI is unable to find Obsidian. Please make sure Obsidian is running", ObsidianNotRunning),
        (1, b"Unable to connect to main process", ObsidianNotRunning),
        (1, b"something else", CliFailed),
        (127, b"", CliFailed),
        (-9, b"", CliFailed),
    ],
)
def test_an_exit_code_tells_of_an_app_that_was_not_reached(code: int, stderr: bytes, kind: type[Failure]) -> None:
    with pytest.raises(kind):
        replies.payload(Output(b"", stderr, code))


NOISE = st.sampled_from(
    [
        b"\r\n",
        b"\n",
        b"Checking for update\n",
        b"Latest version is 1.13.8\n",
        b"App is up to date.\n",
        b"2026-01-02 10:11:12 Loading updated app package /x\n",
        b"Your Obsidian installer is out of date. Please download the latest installer\n",
    ]
)


@given(st.lists(NOISE, max_size=4), st.lists(NOISE | st.binary(max_size=10), max_size=4).map(b"".join))
def test_a_notes_text_is_told_from_noise_by_its_size(noise: list[bytes], note: bytes) -> None:
    printed = b"".join(noise) + note + (b"" if note.endswith(b"\n") else b"\n")
    found = replies.note_text(printed, len(note))
    assert found is not None
    assert len(found) == len(note)
    if not noise:
        assert found == note


def test_noise_is_stripped_at_the_head_only() -> None:
    reply = b"\r\nChecking for update\nCreated: x.md\nChecking for update\n"
    assert replies.strip_noise(reply) == b"Created: x.md\nChecking for update\n"


def test_file_facts_are_read_or_refused() -> None:
    rows = "path\tA/N.md\nname\tN\nextension\tmd\nsize\t12\ncreated\t1700000000000\nmodified\t1700000000001\n"
    facts = replies.file_facts(rows)
    assert facts == replies.FileFacts("A/N.md", 12, 1700000000000, 1700000000001)
    assert replies.file_facts(rows.replace("12", "twelve")) is None
    assert replies.file_facts('Error: File "x" not found.') is None


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("plain", True),
        ("real\nnewline\tand tab", True),
        ("back\\slash", True),
        ("\\nabla", False),
        ("\\\\n", False),
        ("C:\\temp", False),
        ("a\rb", False),
        ("a\x00b", False),
        ("x" * 3000, True),
        ("x" * 3001, False),
        ("漢" * 1001, False),
    ],
)
def test_what_the_command_can_carry(text: str, carried: bool) -> None:
    assert argv.can_carry(text) is carried


def test_flags_are_sent_or_not() -> None:
    assert argv.create(NOTE, "x", overwrite=False) == ["create", "path=A/Note.md", "content=x"]
    assert argv.create(NOTE, "", overwrite=True) == ["create", "path=A/Note.md", "overwrite"]
    assert argv.delete(NOTE, permanent=False) == ["delete", "path=A/Note.md"]
    assert argv.open_note(NOTE, new_tab=True) == ["open", "path=A/Note.md", "newtab"]
    assert argv.move(NOTE, VaultPath("A/New.md")) == ["rename", "path=A/Note.md", "name=New"]
    assert argv.move(NOTE, VaultPath("A/New 1.2.md")) == ["move", "path=A/Note.md", "to=A/New 1.2.md"]
    assert argv.move(NOTE, VaultPath("B/Note.md")) == ["move", "path=A/Note.md", "to=B/Note.md"]
    assert argv.for_vault("My Vault", ["files"]) == ["vault=My Vault", "files"]
