from __future__ import annotations

import pytest

from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.errors import Cancelled, Failure, FileFailed, PermissionDenied, TooLarge
from obsidian_mcp.index.names import Names
from obsidian_mcp.operations.backlinks import linking_to
from obsidian_mcp.vault.path import VaultPath
from tests.support.memory import Files, context

NOTE = VaultPath("A/Note.md")


def asked(files: Files, call: CallContext) -> int | None:
    it = context(files)("Memory", call, 0)
    return linking_to(NOTE, it.vault, it.index, call)


LINKS = {
    "a wikilink": ("Other.md", "[[Note]]", 1),
    "several in one note": ("Other.md", "[[Note]] [[A/Note|x]] ![[Note#Part]]", 1),
    "a Markdown link": ("A/Other.md", "[x](Note.md)", 1),
    "a property": ("Other.md", '---\nup: "[[Note]]"\n---\n', 1),
    "a canvas": ("Board.canvas", '{"nodes": [{"type": "file", "file": "A/Note.md"}]}', 1),
    "only its name": ("Other.md", "Note, A/Note.md", 0),
    "a link in code": ("Other.md", "`[[Note]]`", 0),
    "a link to another of its name": ("B/Other.md", "[[B/Note]]", 0),
}


@pytest.mark.parametrize(("path", "text", "count"), LINKS.values(), ids=LINKS)
def test_notes_that_lead_to_it_are_counted(path: str, text: str, count: int) -> None:
    files = Files({"A/Note.md": b"[[Note]] itself", "B/Note.md": b"", path: text.encode()})
    assert asked(files, CallContext()) == count


@pytest.mark.parametrize("kind", [NotBegun, PermissionDenied, FileFailed, TooLarge])
def test_what_cannot_be_looked_at_in_time_makes_it_unknown(
    kind: type[Failure], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Names, call: CallContext) -> None:
        raise kind("No.")

    monkeypatch.setattr(Names, "snapshot", fail)
    assert asked(Files({"A/Note.md": b""}), CallContext()) is None


def test_it_takes_no_more_than_its_part_of_the_time_and_is_cancelled_with_the_call() -> None:
    files = Files({"A/Note.md": b"", **{f"{number}.md": b"" for number in range(40)}})
    assert asked(files, CallContext(0.0)) is None
    call = CallContext()
    call.cancel()
    with pytest.raises(Cancelled):
        asked(files, call)
