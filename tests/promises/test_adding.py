from __future__ import annotations

import hashlib

import pytest

from tests.promises.ground import Ground

FRONT = "---\ntags: [a]\nid: 007\n---\n"

APPENDS = {
    "to an empty note": ("", "x", "x"),
    "behind a final newline": ("a\n", "x", "a\nx"),
    "behind a last line without newline": ("a", "x", "a\nx"),
    "two lines": ("a", "x\ny\n", "a\nx\ny\n"),
    "nothing is trimmed": ("a  \n\n", "  x  ", "a  \n\n  x  "),
    "a tab and a newline": ("a\n", "\tx\n", "a\n\tx\n"),
    "text that looks like a flag": ("a\n", "inline", "a\ninline"),
}
PREPENDS = {
    "to an empty note": ("", "x", "x\n"),
    "before the text": ("a\n", "x", "x\na\n"),
    "with a newline of its own": ("a\n", "x\n", "x\na\n"),
    "behind the frontmatter": (FRONT + "a\n", "x", FRONT + "x\na\n"),
    "to a note that is all frontmatter": (FRONT, "x", FRONT + "x\n"),
    "a rule is not frontmatter": ("text\n---\na: 1\n---\n", "x", "x\ntext\n---\na: 1\n---\n"),
}
NEAR_APPENDS = {
    "LaTeX": (b"a\n", "$\\nabla$", b"a\n$\\nabla$"),
    "to CRLF": (b"a\r\nb\r\n", "x", b"a\r\nb\r\nx"),
    "behind a byte order mark": (b"\xef\xbb\xbfa\n", "x", b"\xef\xbb\xbfa\nx"),
    "10 KB": (b"a\n", "x" * 10_000, b"a\n" + b"x" * 10_000),
}
NEAR_PREPENDS = {
    "LaTeX behind frontmatter": (FRONT.encode() + b"a", "\\tau", FRONT.encode() + b"\\tau\na"),
    "CRLF frontmatter": (b"---\r\na: 1\r\n---\r\nb\r\n", "x", b"---\r\na: 1\r\n---\r\nx\nb\r\n"),
    "frontmatter without a final newline": (b"---\na: 1\n---", "x", b"---\na: 1\n---\nx\n"),
    "frontmatter that never ends": (b"---\na: 1\n", "x", b"x\n---\na: 1\n"),
    "empty frontmatter": (b"---\n---\na", "x", b"---\n---\nx\na"),
    "a byte order mark alone": (b"\xef\xbb\xbfa", "x", b"\xef\xbb\xbfx\na"),
    "a byte order mark": (b"\xef\xbb\xbf---\na: 1\n---\nb", "x", b"\xef\xbb\xbf---\na: 1\n---\nx\nb"),
}


@pytest.mark.parametrize(("before", "content", "after"), APPENDS.values(), ids=APPENDS)
def test_appending_starts_a_line_and_changes_nothing_else(
    ground: Ground, before: str, content: str, after: str
) -> None:
    path = ground.put("Note.md", before)
    done = ground.call("append_note", name=path, content=content)
    assert ground.get(path) == after.encode()
    tag = hashlib.sha256(after.encode()).hexdigest()[:16]
    told = {"path": path, "appended": True, "etag": tag, "size": len(after.encode())}
    assert done == {**told, "change": done["change"]}


@pytest.mark.parametrize(("before", "content", "after"), PREPENDS.values(), ids=PREPENDS)
def test_prepending_goes_behind_the_frontmatter_and_changes_nothing_else(
    ground: Ground, before: str, content: str, after: str
) -> None:
    path = ground.put("Note.md", before)
    done = ground.call("prepend_note", name=path, content=content)
    assert ground.get(path) == after.encode()
    assert (done["prepended"], done["size"]) == (True, len(after.encode()))


@pytest.mark.parametrize(("before", "content", "after"), NEAR_APPENDS.values(), ids=NEAR_APPENDS)
def test_what_the_command_cannot_carry_is_appended_whole(
    near: Ground, before: bytes, content: str, after: bytes
) -> None:
    path = near.put("Note.md", before)
    near.call("append_note", name=path, content=content)
    assert near.get(path) == after


@pytest.mark.parametrize(("before", "content", "after"), NEAR_PREPENDS.values(), ids=NEAR_PREPENDS)
def test_what_the_command_cannot_carry_is_prepended_whole(
    near: Ground, before: bytes, content: str, after: bytes
) -> None:
    path = near.put("Note.md", before)
    near.call("prepend_note", name=path, content=content)
    assert near.get(path) == after


def test_inline_adds_no_newline(ground: Ground) -> None:
    path = ground.put("Note.md", "a")
    ground.call("append_note", name=path, content="b", inline=True)
    ground.call("prepend_note", name=path, content="c", inline=True)
    assert ground.get(path) == b"cab"


@pytest.mark.parametrize("tool", ["append_note", "prepend_note"])
def test_if_match_guards_an_addition(ground: Ground, tool: str) -> None:
    path = ground.put("Note.md", "a\n")
    failure = ground.fails(tool, name=path, content="x", if_match="feedfeedfeedfeed")
    assert (failure.code, failure.error_code) == (-32000, "CONFLICT")
    assert ground.call(tool, name=path, content="x", if_match=ground.call("read_note", name=path)["etag"])


@pytest.mark.parametrize("tool", ["append_note", "prepend_note"])
def test_adding_never_creates(ground: Ground, tool: str) -> None:
    assert ground.fails(tool, name=ground.at("Missing.md"), content="x").code == -32003


def test_twenty_appends_sent_at_once_are_all_kept_in_order(ground: Ground) -> None:
    path = ground.put("Log.md", "")
    numbers = [ground.server.begin_call("append_note", name=path, content=f"line {at}") for at in range(20)]
    for number in numbers:
        ground.server.end_call(number)
    assert ground.get(path).decode().split("\n") == [f"line {at}" for at in range(20)]


def test_the_file_keeps_its_mode(near: Ground) -> None:
    path = near.put("Note.md", "a\n")
    (near.folder / path).chmod(0o640)
    near.call("append_note", name=path, content="\\n")
    assert (near.folder / path).stat().st_mode & 0o777 == 0o640
