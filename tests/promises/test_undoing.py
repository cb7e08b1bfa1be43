"""What was changed is told, and taken back byte for byte: on every ground, unless one is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.promises.ground import Ground

TEXT = "---\ntags: [a]  # mine\n---\n# Plan\n\n- [ ] one\n- [ ] two\n"

#                    tool, arguments, for a note Plan.md and one Log.md that links to it
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "appending": ("append_note", {"name": "Plan", "content": "more"}),
    "prepending": ("prepend_note", {"name": "Plan", "content": "first"}),
    "overwriting": ("create_note", {"name": "Plan.md", "content": "gone", "overwrite": True}),
    "creating": ("create_note", {"name": "New.md", "content": "new"}),
    "deleting": ("delete_note", {"name": "Plan"}),
    "deleting for good": ("delete_note", {"name": "Plan", "permanent": True}),
    "renaming": ("rename_note", {"name": "Plan", "new_name": "Scheme"}),
    "moving": ("move_note", {"name": "Plan", "to": "Sub"}),
}
# What the app alone can't be told: it is given whole texts or additions, and no carriage return.
BY_FILE: dict[str, tuple[str, dict[str, Any]]] = {
    "editing": ("edit_note", {"name": "Plan", "old_text": "one", "new_text": "1"}),
    "emptying": ("create_note", {"name": "Plan.md", "content": "", "overwrite": True}),
    "a section": ("edit_note", {"name": "Plan", "section": "Plan", "new_text": "short\n"}),
    "properties": ("set_properties", {"name": "Plan", "set": {"n": 1}, "add": {"tags": ["b"]}}),
    "a task": ("set_task", {"name": "Plan", "task": "two", "mark": "x"}),
    "a tag everywhere": ("rename_term", {"kind": "tag", "old": "a", "new": "z"}),
    "a heading with its links": ("rename_term", {"kind": "heading", "name": "Plan", "old": "Plan", "new": "Aim"}),
    "creating in folders": ("create_note", {"name": "Deep/Er/New.md", "content": "n"}),
}
MANY = {
    "moving many": ("move_notes", {"names": ["Plan", "Log"], "to": "Far/Away"}),
    "moving a folder": ("move_notes", {"names": ["Sub/"], "to": "Far"}),
}


def furnished(ground: Ground) -> dict[str, bytes]:
    ground.put("Plan.md", TEXT)
    ground.put("Log.md", "see [[Plan#Plan|it]] and [[Plan]]\n")
    ground.put("Sub/Deep.md", "[[Plan]] [[Log]]")
    return ground.files()


def undone(ground: Ground, tool: str, arguments: dict[str, Any]) -> None:
    before = furnished(ground)
    done = ground.call(tool, **arguments)
    after = ground.files()
    assert after != before
    back = ground.call("undo_change", id=done["change"])
    assert (back["id"], back["undone"]) == (done["change"], True)
    assert visible(ground.files()) == before
    again = ground.call("undo_change", id=back["change"])
    assert (again["id"], visible(ground.files())) == (back["change"], visible(after))


def visible(files: dict[str, bytes]) -> dict[str, bytes]:
    """What the app keeps in its trash aside."""
    return {path: data for path, data in files.items() if not path.startswith(".trash/")}


@pytest.mark.parametrize(("tool", "arguments"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_taken_back_and_made_again(ground: Ground, tool: str, arguments: dict[str, Any]) -> None:
    undone(ground, tool, arguments)


@pytest.mark.parametrize(("tool", "arguments"), BY_FILE.values(), ids=BY_FILE)
def test_a_change_of_one_thing_is_taken_back(readable: Ground, tool: str, arguments: dict[str, Any]) -> None:
    undone(readable, tool, arguments)


@pytest.mark.parametrize(("tool", "arguments"), MANY.values(), ids=MANY)
def test_a_move_of_many_is_taken_back_as_one(without_app: Ground, tool: str, arguments: dict[str, Any]) -> None:
    undone(without_app, tool, arguments)


def test_folders_that_a_change_made_go_with_it(near: Ground) -> None:
    near.put("Plan.md")
    done = near.call("create_note", name=near.at("Deep/Er/New.md"), content="n")
    near.call("undo_change", id=done["change"])
    assert not (near.folder / near.at("Deep")).exists()


def test_a_folder_with_something_else_in_it_stays(near: Ground) -> None:
    near.put("Plan.md")
    done = near.call("create_note", name=near.at("Deep/Er/New.md"), content="n")
    near.put("Deep/Mine.md", "mine")
    near.call("undo_change", id=done["change"])
    assert near.files() == {near.at("Plan.md"): b"", near.at("Deep/Mine.md"): b"mine"}
    assert not (near.folder / near.at("Deep/Er")).exists()


def test_changes_are_listed_newest_first_with_what_they_did(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    second = readable.call("rename_note", name=path, new_name="Aim")["change"]
    listed = readable.call("list_changes", name=readable.at("Aim.md"), limit=2)["changes"]
    assert [each["id"] for each in listed] == [second, first]
    assert listed[0].items() >= {"tool": "rename_note", "undone": False}.items()
    assert path in listed[0]["paths"]
    assert listed[0]["summary"].startswith("Renamed")
    told = readable.call("list_changes", id=first)
    assert "+b" in told["diff"].splitlines()
    assert told["changes"][0]["id"] == first


def test_a_note_that_was_edited_since_is_left_alone_and_the_edit_is_shown(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\nb\nc\n")
    id = readable.call("edit_note", name=path, old_text="b", new_text="B")["change"]
    readable.put("Plan.md", "a\nBB\nc\n")
    failure = readable.fails("undo_change", id=id)
    assert (failure.error_code, "+BB" in failure.message) == ("CONFLICT", True)
    assert readable.fails("undo_change", id=id, merge=True).error_code == "CONFLICT"


def test_edits_on_other_lines_stay_where_that_is_wanted(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\nb\nc\n")
    id = readable.call("edit_note", name=path, old_text="b", new_text="B")["change"]
    readable.put("Plan.md", "a\nB\nc\nmine\n")
    assert "merge" in readable.fails("undo_change", id=id).message
    shown = readable.call("undo_change", id=id, merge=True, dry_run=True)
    assert (shown["undone"], "+b" in shown["diff"].splitlines()) == (False, True)
    assert readable.get(path) == b"a\nB\nc\nmine\n"
    readable.call("undo_change", id=id, merge=True)
    assert readable.get(path) == b"a\nb\nc\nmine\n"


def test_a_later_change_of_ours_is_named(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    second = readable.call("append_note", name=path, content="c")["change"]
    failure = readable.fails("undo_change", id=first)
    assert second in failure.message
    readable.call("undo_change", id=second)
    readable.call("undo_change", id=first)
    assert readable.get(path) == b"a\n"


def test_a_note_that_has_moved_since_is_found(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    readable.call("rename_note", name=path, new_name="Aim")
    readable.call("undo_change", id=first)
    assert readable.get(readable.at("Aim.md")) == b"a\n"


def test_a_note_that_a_person_has_moved_is_found_by_its_text(near: Ground) -> None:
    path = near.put("Plan.md", "a\n")
    first = near.call("append_note", name=path, content="bee")["change"]
    (near.folder / near.at("Mine")).mkdir()
    (near.folder / path).rename(near.folder / near.at("Mine/Other.md"))
    near.call("undo_change", id=first)
    assert near.get(near.at("Mine/Other.md")) == b"a\n"


def test_a_note_that_is_gone_is_said_to_be_gone(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    second = readable.call("delete_note", name=path)["change"]
    failure = readable.fails("undo_change", id=first)
    assert (failure.code, "gone" in failure.message, second in failure.message) == (-32003, True, True)


def test_what_is_undone_is_not_undone_twice(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    by = readable.call("undo_change", id=first)["change"]
    failure = readable.fails("undo_change", id=first)
    assert (failure.code, by in failure.message) == (-32602, True)
    assert readable.call("list_changes", id=first)["changes"][0]["undone"] is True


def test_there_is_no_such_change(readable: Ground) -> None:
    readable.put("Plan.md")
    for id in ("zzzzzz", "", "é", "x" * 5000):
        assert readable.fails("undo_change", id=id).code == -32602
        assert readable.fails("list_changes", id=id).code == -32602


def test_a_note_in_the_way_is_not_overwritten(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    readable.put("Other.md")
    id = readable.call("delete_note", name=path)["change"]
    readable.put("Plan.md", "mine")
    assert readable.fails("undo_change", id=id).error_code == "ALREADY_EXISTS"


def test_the_latest_change_is_taken_back_and_then_the_one_before_it(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    first = readable.call("append_note", name=path, content="b")["change"]
    second = readable.call("append_note", name=path, content="c")["change"]
    assert [readable.call("undo_change")["id"] for _ in range(2)] == [second, first]
    assert readable.get(path) == b"a\n"


def test_what_changes_nothing_is_no_change(readable: Ground) -> None:
    path = readable.put("Plan.md", "---\nn: 1\n---\n")
    assert "change" not in readable.call("set_properties", name=path, set={"n": 1})


@pytest.mark.parametrize("since", ["soon", "2026-13-01", "", "12"])
def test_a_time_that_is_none_is_refused(readable: Ground, since: str) -> None:
    readable.put("Plan.md")
    assert readable.fails("list_changes", since=since).code == -32602


def test_another_note_with_the_same_text_is_never_taken_for_one_that_is_gone(near: Ground) -> None:
    near.put("Template.md", "# Meeting\n")
    id = near.call("create_note", name=near.at("M.md"), content="# Meeting\n")["change"]
    (near.folder / near.at("M.md")).unlink()
    assert near.fails("undo_change", id=id).code == -32003


def test_a_moved_note_that_was_edited_since_is_moved_back_only_where_the_edit_may_stay(near: Ground) -> None:
    path = near.put("Plan.md", "a\n")
    near.put("Log.md", "[[Plan]]\n")
    id = near.call("rename_note", name=path, new_name="Aim")["change"]
    near.put("Aim.md", "a\nmine\n")
    failure = near.fails("undo_change", id=id)
    assert (failure.error_code, "merge" in failure.message) == ("CONFLICT", True)
    near.call("undo_change", id=id, merge=True)
    assert (near.get(path), near.get(near.at("Log.md"))) == (b"a\nmine\n", b"[[Plan]]\n")


def test_where_everything_is_as_before_there_is_nothing_to_undo(readable: Ground) -> None:
    path = readable.put("Plan.md", "a\n")
    id = readable.call("append_note", name=path, content="b")["change"]
    readable.put("Plan.md", "a\n")
    failure = readable.fails("undo_change", id=id, merge=True)
    assert (failure.code, "nothing to undo" in failure.message) == (-32602, True)


def test_a_reply_about_a_change_of_many_fits_the_client(readable: Ground) -> None:
    for number in range(60):
        readable.put(f"{number} é.md", f"#old {'ü' * 200}\n" * 5)
    id = readable.call("rename_term", kind="tag", old="old", new="new")["change"]
    for tool in ("list_changes", "undo_change"):
        told = readable.call(tool, id=id)
        assert len(json.dumps(told, ensure_ascii=False).encode()) <= 11_500, tool
