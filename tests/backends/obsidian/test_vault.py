"""Which command makes which change: pure, by the bytes before and after."""

from __future__ import annotations

import pytest

from obsidian_mcp.backends.obsidian.vault import _command
from obsidian_mcp.vault.changes import Write
from obsidian_mcp.vault.path import VaultPath

BOM = b"\xef\xbb\xbf"
CHANGES = {
    "a new note": (Write("N.md", None, b"x"), "create"),
    "a new note that is empty": (Write("N.md", None, b""), "create"),
    "an addition at the end": (Write("N.md", b"a\n", b"a\nx"), "append"),
    "an addition at the top": (Write("N.md", b"a\n", b"x\na\n"), "prepend"),
    "an addition after the frontmatter": (Write("N.md", b"---\nk: 1\n---\na", b"---\nk: 1\n---\nx\na"), "prepend"),
    "all of the text": (Write("N.md", b"a", b"b", whole=True), "create"),
    "all of a text that goes on": (Write("N.md", b"a", b"ab", whole=True), "create"),
    "all of a text that was cut in a character": (Write("N.md", b"\xc3", "ée".encode(), whole=True), "create"),
    "all of a text with a byte order mark": (Write("N.md", BOM + b"a", BOM + b"ab", whole=True), "create"),
    "nothing where there was something": (Write("N.md", b"a", b"", whole=True), ""),
    "an addition that the command would mangle": (Write("N.md", b"a\n", b"a\n\\nu"), ""),
    "an addition to lines that end in CR LF": (Write("N.md", b"a\r\n", b"a\r\nx"), ""),
    "an addition that completes a character": (Write("N.md", b"\xc3", "ée".encode()), ""),
    "a change in the middle": (Write("N.md", b"abc", b"aXc"), ""),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_made_by_the_command_that_can_make_it_or_by_none(change: Write, expected: str) -> None:
    command, _ = _command(VaultPath("N.md"), change)
    assert (command[0] if command else "") == expected
    assert ("overwrite" in (command or ())) == (expected == "create" and change.before is not None)
