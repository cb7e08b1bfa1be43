from __future__ import annotations

import hashlib
import os

import pytest

from tests.promises.ground import Ground
from tests.support.web import WebSession

TEXTS = {
    "nothing": "",
    "one line": "hello",
    "a final newline": "hello\n",
    "trailing white space": "hello  \n\n \t",
    "a real newline and tab": "a\n\tb",
    "text that looks like an option": "permanent",
    "text that looks like key=value": "path=Other.md",
    "a leading dash": "--help",
    "emoji and combining letters": "e\u0301 👩‍🔬 ﷽",
    "a frontmatter": "---\nid: 007\n---\nbody",
    "text that looks like a reply": 'Error: File "x" not found.',
}
UNCARRIABLE = {
    "LaTeX": "$\\nabla \\times \\nu$",
    "a Windows path": "C:\\temp\\new",
    "carriage returns": "a\r\nb\r\n",
    "a byte order mark and CR": "\ufeffa\r\n",
    "NUL": "a\x00b",
    "5 KB": "x" * 5000,
    "5 KB of three-byte letters": "漢字" * 900,
    "1 MiB": "0123456789abcde\n" * 65536,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_new_note_holds_exactly_the_content(ground: Ground, text: str) -> None:
    path = ground.at("Folder/New note.md")
    made = ground.call("create_note", name=path, content=text)
    data = text.encode()
    assert ground.get(path) == data
    assert made == {
        "path": path,
        "created": True,
        "overwritten": False,
        "etag": hashlib.sha256(data).hexdigest()[:16],
        "size": len(data),
        "change": made["change"],
    }


@pytest.mark.parametrize("text", UNCARRIABLE.values(), ids=UNCARRIABLE)
def test_text_that_the_command_cannot_carry_arrives_whole(near: Ground, text: str) -> None:
    path = near.at("Folder/New note.md")
    if isinstance(near.server, WebSession) and len(text) >= 1024 * 1024:
        pytest.skip("over HTTP a whole request may have 1 MiB")
    assert near.call("create_note", name=path, content=text)["size"] == len(text.encode())
    assert near.get(path) == text.encode()


@pytest.mark.parametrize("text", ["", "short", "$\\nabla$", "x" * 9000])
def test_overwriting_replaces_everything(near: Ground, text: str) -> None:
    path = near.put("Note.md", "old and much longer than the new text" * 10)
    done = near.call("create_note", name=path, content=text, overwrite=True)
    assert (done["created"], done["overwritten"]) == (False, True)
    assert near.get(path) == text.encode()


def test_overwrite_makes_a_note_that_is_not_there(ground: Ground) -> None:
    done = ground.call("create_note", name=ground.at("New.md"), content="x", overwrite=True)
    assert (done["created"], done["overwritten"]) == (True, False)


def test_an_existing_note_is_never_overwritten_unasked(ground: Ground) -> None:
    path = ground.put("Note.md", "precious")
    failure = ground.fails("create_note", name=path, content="new")
    assert (failure.code, failure.error_code) == (-32000, "ALREADY_EXISTS")
    assert not ground.has(ground.at("Note 1.md"))


def test_another_case_is_the_same_note(ground: Ground) -> None:
    ground.put("Note.md", "precious")
    assert ground.fails("create_note", name=ground.at("NOTE.md"), content="new").error_code == "ALREADY_EXISTS"


def test_one_of_several_spellings_is_never_overwritten(ground: Ground) -> None:
    if os.path.exists(str(ground.folder).swapcase()):
        pytest.skip("this file system ignores case")
    ground.put("note.md", "lower")
    ground.put("NOTE.md", "upper")
    assert ground.fails("create_note", name=ground.at("Note.md"), content="x", overwrite=True).code == -32004


def test_a_sharp_s_is_not_a_double_s(ground: Ground) -> None:
    path = ground.put("Maße.md", "x")
    assert ground.fails("delete_note", name=ground.at("Masse.md")).code == -32003
    assert ground.call("create_note", name=ground.at("Masse.md"), content="y")["created"] is True
    assert ground.get(path) == b"x"


def test_a_folder_of_the_name_stands_in_the_way(near: Ground) -> None:
    near.put("dir.md/inside.md", "x")
    near.put("Note.md", "x")
    assert near.fails("create_note", name=near.at("dir.md"), content="x").error_code == "ALREADY_EXISTS"
    assert near.fails("create_note", name=near.at("Note.md/sub"), content="x").error_code == "ALREADY_EXISTS"
    assert near.fails("move_note", name=near.at("Note.md"), to=near.at("Note.md/sub")).error_code == "ALREADY_EXISTS"


def test_a_new_name_is_written_as_obsidian_would(ground: Ground) -> None:
    made = ground.call("create_note", name=ground.at("Cafe\u0301\u00a0x"), content="y")
    assert made["path"] == ground.at("Café x.md")


def test_an_existing_folder_is_used_however_it_is_spelled(near: Ground) -> None:
    near.put("Übung/One.md", "x")
    assert near.call("create_note", name=near.at("U\u0308BUNG/Two"), content="y")["path"] == near.at("Übung/Two.md")
    assert near.call("move_note", name=near.at("Übung/Two.md"), to=near.at("ÜBUNG/Three.md"))["path"] == near.at(
        "Übung/Three.md"
    )


def test_a_name_with_a_dot_is_a_note(ground: Ground) -> None:
    assert ground.call("create_note", name=ground.at("Release 1.2"))["path"] == ground.at("Release 1.2.md")


def test_a_canvas_keeps_its_extension(ground: Ground) -> None:
    assert ground.call("create_note", name=ground.at("Board.canvas"), content="{}")["path"] == ground.at("Board.canvas")


def test_if_match_guards_an_overwrite(ground: Ground) -> None:
    path = ground.put("Note.md", "mine")
    failure = ground.fails("create_note", name=path, content="new", overwrite=True, if_match="0" * 16)
    assert (failure.code, failure.error_code) == (-32000, "CONFLICT")
    tag = ground.call("read_note", name=path)["etag"]
    ground.call("create_note", name=path, content="new", overwrite=True, if_match=tag)
    assert ground.get(path) == b"new"


def test_if_match_without_a_note_is_an_error(ground: Ground) -> None:
    failure = ground.fails("create_note", name=ground.at("New.md"), content="x", overwrite=True, if_match="0" * 16)
    assert failure.code == -32003


@pytest.mark.parametrize("bad", list('*"\\<>:|?#^[]'))
def test_a_name_that_links_cannot_carry_is_refused(ground: Ground, bad: str) -> None:
    assert ground.fails("create_note", name=ground.at(f"a{bad}b"), content="x").code == -32602


ELSEWHERE = ["CON", "nul.md", "a/Com1.x/b", "dot.", "space ", "a./b", "a\u202eb", "a\u200bb", "\ufeffx"]


def test_a_name_that_another_system_could_not_hold_or_show_is_refused(ground: Ground) -> None:
    path = ground.put("Note.md", "x")
    for bad in ELSEWHERE:
        assert ground.fails("create_note", name=ground.at(bad), content="x").code == -32602, bad
        assert ground.fails("move_note", name=path, to=ground.at(f"{bad}/")).code == -32602, bad
        assert ground.fails("rename_note", name=path, new_name=bad).code == -32602, bad


def test_a_note_that_has_such_a_name_is_read_changed_moved_and_renamed(near: Ground) -> None:
    for folder, name in (("nul", "CON.md"), ("dot.", "a: b?.md"), ("x\u202ey", "space .md")):
        path = near.put(f"{folder}/{name}", "text")
        assert near.call("read_note", name=path)["content"] == "text"
        near.call("append_note", name=path, content=" more", inline=True)
        moved = near.call("move_note", name=path, to=near.at("Moved"))["path"]
        assert moved == near.at(f"Moved/{name}")
        near.call("move_note", name=moved, to=near.at("Good/Name.md"))
        path = near.put(f"{folder}/{name}", "text")
        near.call("rename_note", name=path, new_name="Better")
        assert near.get(near.at(f"{folder}/Better.md")) == b"text"
        near.call("delete_note", name=near.at("Good/Name.md"), permanent=True)


def test_a_name_too_long_for_the_disk_is_refused(ground: Ground) -> None:
    assert ground.fails("create_note", name=ground.at("é" * 127), content="x").code == -32602
    assert ground.call("create_note", name=ground.at("é" * 126), content="x")["created"] is True
