"""Files of any kind, and names as people and notes write them."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.promises.ground import Ground, MemoryGround

KINDS = {"no extension": ("LICENSE zq", ""), "a text": ("notes zq.txt", ".txt"), "a script": ("publish zq.js", ".js")}


@pytest.mark.parametrize(("name", "extension"), KINDS.values(), ids=KINDS)
def test_a_file_of_any_kind_is_described_renamed_moved_and_deleted(ground: Ground, name: str, extension: str) -> None:
    path = ground.put(f"Sub/{name}", b"\xff text")
    ground.put("Other/Note.md")
    for named in (path, name, name.upper(), f"[[{name}]]"):
        assert ground.call("file_info", name=named)["path"] == path
    assert ground.call("file_info", name=path)["extension"] == extension.removeprefix(".")
    renamed = ground.call("rename_note", name=name, new_name="New zq")["path"]
    assert renamed == ground.at(f"Sub/New zq{extension}")
    moved = ground.call("move_note", name=f"New zq{extension}", to=ground.at("Other"))["path"]
    assert ground.get(ground.at(f"Other/New zq{extension}")) == b"\xff text"
    assert ground.call("delete_note", name=moved)["path"] == moved
    assert not ground.has(moved)


@pytest.mark.parametrize(("name", "extension"), KINDS.values(), ids=KINDS)
def test_a_file_of_any_kind_moves_to_a_whole_path(near: Ground, name: str, extension: str) -> None:
    path = near.put(name, "x")
    near.call("move_note", name=path, to=near.at(f"Sub/{name}"))
    assert near.get(near.at(f"Sub/{name}")) == b"x"
    assert near.fails("rename_note", name=near.at(f"Sub/{name}"), new_name="New.md").code == -32602
    if extension:
        assert near.call("move_note", name=name, to=near.at(f"New{extension}"))["path"] == near.at(f"New{extension}")


def test_a_path_means_exactly_that_file(ground: Ground) -> None:
    for name in ("LICENSE", "LICENSE.md", "Sub/LICENSE", "Sub/license.md", "Sub/LICENSE.txt"):
        ground.put(name, name)
    for path in list(ground.files()):
        assert ground.call("read_note", name=path)["content"] == path.removeprefix(ground.prefix)


def test_a_text_file_is_made_as_it_is_called(ground: Ground) -> None:
    made = ground.call("create_note", name=ground.at("notes zq.txt"), content="x")
    assert (made["path"], ground.get(made["path"])) == (ground.at("notes zq.txt"), b"x")
    assert ground.call("read_note", name="notes zq.txt")["content"] == "x"
    ground.call("append_note", name="notes zq.txt", content="y", inline=True)
    assert list(ground.files().values()) == [b"xy"]


def test_a_file_that_is_not_made_here_is_refused_and_a_note_of_its_name_is_not(ground: Ground) -> None:
    failure = ground.fails("create_note", name=ground.at("Node.js"), content="x")
    assert failure.code == -32602
    assert ground.at("Node.js.md") in failure.message
    assert ground.call("create_note", name=ground.at("Node.js.md"), content="x")["path"] == ground.at("Node.js.md")
    assert ground.call("read_note", name=ground.at("Node.js"))["content"] == "x"


def test_a_note_is_found_as_people_and_notes_write_it(ground: Ground) -> None:
    path = ground.put("Sub/Zq note.md", "found")
    ground.put("Sub/C# zq.md", "sharp")
    ground.put("Sub/C.md", "c")
    vault = "Memory" if isinstance(ground, MemoryGround) else ground.folder.name
    addresses = [
        f"open?vault={quote(vault)}&file=Zq%20note",
        f"vault/{quote(vault)}/{quote(path)}",
        "open?file=zq note",
    ]
    links = ["[[Zq note]]", "![[Sub/zq note.md#Part|shown]]", "Zq note#Part", "Zq note#^block"]
    for name in (*links, *(f"obsidian://{address}" for address in addresses)):
        assert ground.call("read_note", name=name)["path"] == path, name
    assert ground.call("read_note", name=ground.at("Sub/C# zq"))["content"] == "sharp"
    assert ground.call("read_note", name=ground.at("Sub/C#zq"))["content"] == "c"


def test_a_place_on_the_disk_is_found_if_it_is_in_the_vault(near: Ground) -> None:
    path = near.put("Sub/Zq note.md", "found")
    for address in (f"open?path={quote(str(near.folder / path), safe='')}", str(near.folder / path)):
        assert near.call("read_note", name=f"obsidian://{address}")["path"] == path
    outside = f"obsidian://open?path={near.folder.parent / 'outside' / 'x.md'}"
    assert near.fails("read_note", name=outside).code == -32602
    assert near.fails("create_note", name=outside, content="x").code == -32602


def test_a_link_to_another_vault_is_refused(ground: Ground) -> None:
    ground.put("Zq note.md", "x")
    failure = ground.fails("delete_note", name="obsidian://open?vault=Another%20zq&file=Zq%20note")
    assert failure.code == -32602
    assert "Another zq" in failure.message


def test_a_section_is_not_deleted_with_its_note(ground: Ground) -> None:
    path = ground.put("Zq note.md", "# Part\n")
    changes = {"delete_note": {}, "append_note": {"content": "x"}, "rename_note": {"new_name": "y"}}
    for tool, more in changes.items():
        failure = ground.fails(tool, name="Zq note#Part", **more)
        assert failure.code == -32602
        assert path in failure.message


def test_a_folder_is_told_with_its_first_notes(ground: Ground) -> None:
    paths = [ground.put(f"Zq folder/{name}.md") for name in ("A", "B", "Deep/C")]
    for name in ("zq folder/", "Zq folder", "[[Zq folder/]]"):
        failure = ground.fails("read_note", name=ground.at(name) if name[0] != "[" else f"[[{ground.at(name[2:])}")
        assert (failure.code, failure.data["notes"]) == (-32003, paths), name
        assert all(path in failure.message for path in paths)
