from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator

import pytest

from tests.promises.ground import Ground

NOTES = {
    "empty": b"",
    "no final newline": b"a\nb",
    "a final newline": b"a\nb\n",
    "trailing white space": b"a  \n\n\n \n",
    "only newlines": b"\n\n\n",
    "leading newlines": b"\n\r\n\na",
    "CRLF": b"a\r\nb\r\n",
    "a byte order mark": b"\xef\xbb\xbfa\n",
    "frontmatter": b"---\nid: 007\n---\nbody\n",
    "emoji": "👩‍🔬 é\n".encode(),
    "a form feed and a line separator": "a\x0cb\u2028c\x85d\n".encode(),
}


@pytest.mark.parametrize("data", NOTES.values(), ids=NOTES)
def test_a_note_is_read_byte_for_byte(ground: Ground, data: bytes) -> None:
    path = ground.put("Note.md", data)
    read = ground.call("read_note", name=path)
    assert read["content"].encode() == data
    assert read["size"] == len(data)
    assert read["etag"] == hashlib.sha256(data).hexdigest()[:16]
    assert read["lines"] == len(data.split(b"\n")) - data.endswith(b"\n") - (not data)
    assert "next_line" not in read


IMPOSTORS = {
    "file not found": 'Error: File "{path}" not found.',
    "file not found, with a newline": 'Error: File "{path}" not found.\n',
    "vault not found": "Vault not found.",
    "switched off": "Command line interface is not enabled. Please turn it on in Settings > General > Advanced.",
    "closed vault": 'Error: Command "read" not found. It may require a plugin to be enabled.',
    "a type error": "TypeError: Cannot read properties of null (reading 'x')\n",
    "a success": "Created: {path}\n",
    "noise": "Checking for update\nApp is up to date.\n\r\ntext",
}


@pytest.mark.parametrize("text", IMPOSTORS.values(), ids=IMPOSTORS)
def test_a_note_that_pretends_to_be_a_reply_is_read_as_a_note(ground: Ground, text: str) -> None:
    path = ground.at("Note.md")
    ground.put("Note.md", text.format(path=path))
    assert ground.call("read_note", name=path)["content"] == text.format(path=path)


def test_a_page_has_the_lines_asked_for(ground: Ground) -> None:
    path = ground.put("Note.md", "1\n2\n3\n4\n5")
    page = ground.call("read_note", name=path, start_line=2, max_lines=2)
    assert (page["content"], page["lines"], page["next_line"]) == ("2\n3\n", 5, 4)
    last = ground.call("read_note", name=path, start_line=4, max_lines=9)
    assert (last["content"], "next_line" in last) == ("4\n5", False)


def test_the_parts_of_a_long_note_put_together_are_the_note(ground: Ground) -> None:
    text = "".join(f"{number} {'ä' * (number % 400)}\n" for number in range(250)) + "no newline at the end"
    path = ground.put("Long.md", text)
    parts = list(pages(ground, path))
    assert len(parts) > 3
    assert "".join(parts) == text


def pages(ground: Ground, path: str) -> Iterator[str]:
    """As a reader does it that follows what each page says."""
    onwards: dict[str, int] | None = {}
    while onwards is not None:
        page = ground.call("read_note", name=path, **onwards)
        assert len(json.dumps({"success": True, "data": page}, ensure_ascii=False).encode()) < 11_600
        yield page["content"]
        onwards = {f"start_{unit}": page[f"next_{unit}"] for unit in ("line", "char") if f"next_{unit}" in page} or None


def test_a_line_that_is_longer_than_a_page_is_cut_and_goes_on(ground: Ground) -> None:
    text = "".join(map(str, range(10_000))) + "\nnext\n"
    path = ground.put("Long.md", text)
    page = ground.call("read_note", name=path)
    assert (page["lines"], page["next_line"], page["next_char"]) == (2, 1, len(page["content"]) + 1)
    assert "".join(pages(ground, path)) == text


def test_a_line_of_a_megabyte_never_comes_whole(ground: Ground) -> None:
    path = ground.put("Long.md", "x" * 1_100_000 + "\nnext\n")
    assert len(ground.call("read_note", name=path)["content"]) < 11_500
    last = ground.call("read_note", name=path, start_line=1, start_char=1_100_000)
    assert (last["content"], "next_line" in last) == ("x\nnext\n", False)
    assert ground.call("read_note", name=path, start_line=2)["content"] == "next\n"


def test_what_a_reader_must_not_lose_stands_before_the_text(ground: Ground) -> None:
    path = ground.put("Note.md", "1\n2\n")
    page = ground.call("read_note", name=path, max_lines=1)
    assert list(page) == ["path", "lines", "next_line", "etag", "size", "content"]


def test_beyond_the_last_line_there_is_nothing(ground: Ground) -> None:
    path = ground.put("Note.md", "1\n")
    page = ground.call("read_note", name=path, start_line=9)
    assert (page["content"], page["lines"], "next_line" in page) == ("", 1, False)


def test_a_file_that_is_not_text_is_not_read_as_text(ground: Ground) -> None:
    path = ground.put("Binary.md", b"\xff\xfe\x00bad")
    assert ground.fails("read_note", name=path).error_code == "NOT_TEXT"
    assert ground.fails("append_note", name=path, content="x").error_code == "NOT_TEXT"


def test_a_file_is_described(ground: Ground) -> None:
    path = ground.put("Folder/Release 1.2.md", "häh")
    info = ground.call("file_info", name=path)
    assert (info["path"], info["name"], info["extension"], info["size"]) == (path, "Release 1.2", "md", 4)
    assert info["etag"] == ground.call("read_note", name=path)["etag"]
    assert info["modified"][:2] == info.get("created", "20")[:2] == "20"  # absent where nothing knows it
    assert info["modified"].endswith("Z")


def test_a_picture_can_be_described(ground: Ground) -> None:
    path = ground.put("Picture.png", b"\x89PNG\xff\xfe")
    info = ground.call("file_info", name=path)
    assert (info["extension"], info["size"]) == ("png", 6)


def test_a_file_larger_than_memory_should_hold_is_described_but_not_read(near: Ground) -> None:
    path = near.put("Film.mp4", b"")
    before = near.server.peak_mb()
    os.truncate(near.folder / path, 400 * 1024 * 1024)
    assert near.call("file_info", name=path)["size"] == 400 * 1024 * 1024
    assert near.fails_quietly("append_note", name=path, content="x").error_code == "TOO_LARGE"
    assert near.server.peak_mb() < before + 100


def test_a_note_of_thirty_megabytes_is_read_in_parts(near: Ground) -> None:
    path = near.put("Huge.md", b"0123456789abcde\n" * (2 * 1024 * 1024))
    page = near.call("read_note", name=path, start_line=5, max_lines=3)
    assert (page["content"], page["lines"]) == ("0123456789abcde\n" * 3, 2 * 1024 * 1024)


def test_opening_shows_the_note(with_app: Ground) -> None:
    path = with_app.put("Note.md", "x")
    assert with_app.call("open_note", name=path) == {"path": path, "opened": True}
    assert with_app.call("open_note", name=path, new_tab=True)["opened"] is True


def test_opening_never_creates(ground: Ground) -> None:
    assert ground.fails("open_note", name=ground.at("Missing.md")).code == -32003
