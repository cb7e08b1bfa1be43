from __future__ import annotations

import pytest

from tests.promises.ground import Ground

# Moving many


def test_notes_and_folders_move_together_with_every_link(without_app: Ground) -> None:
    ground = without_app
    ground.put("One.md", "[[A/Two]] ![[A/p.png]]")
    ground.put("A/Two.md", "[x](../One.md)\r\n")
    ground.put("A/p.png", b"\x89PNG\xff")
    ground.put("See.md", "[[One#h|x]] [[./A/Two]]")
    done = ground.call("move_notes", names=["One", "A/"], to="New/Deep")
    assert done.items() >= {"moved": True, "total": 3, "links_updated": 1, "notes_changed": ["See.md"]}.items()
    assert {"old_path": "A/Two.md", "path": "New/Deep/A/Two.md"} in done["notes"]
    assert ground.files() == {
        "New/Deep/One.md": b"[[A/Two]] ![[A/p.png]]",
        "New/Deep/A/Two.md": b"[x](../One.md)\r\n",
        "New/Deep/A/p.png": b"\x89PNG\xff",
        "See.md": b"[[One#h|x]] [[Two]]",
    }


def test_a_folder_that_has_moved_is_gone_unless_something_else_is_in_it(without_app: Ground) -> None:
    for path in ("A/B/x.md", "A/y.md", "C/z.md"):
        without_app.put(path, "")
    if without_app.folder.is_dir():
        (without_app.folder / "C/Empty").mkdir()
    done = without_app.call("move_notes", names=["A/", "C/"], to="New")
    assert done["total"] == 3
    assert not (without_app.folder / "A").exists()
    if without_app.folder.is_dir():
        assert (without_app.folder / "C/Empty").is_dir()
        without_app.call("undo_change", id=done["change"])
        assert (without_app.folder / "A/B/x.md").is_file()
        assert not (without_app.folder / "New").exists()


def test_moving_many_is_planned_first_and_refused_as_one(without_app: Ground) -> None:
    ground = without_app
    for path in ("A/x.md", "A/y.md", "B/y.md"):
        ground.put(path, "[[/A/x]]")
    before = ground.files()
    plan = ground.call("move_notes", names=["A/"], to="B", dry_run=True)
    assert (plan["moved"], plan["links_updated"], plan["plan"][0]) == (
        False,
        3,
        {"note": "A/x.md", "from": "/A/x", "to": "x"},
    )
    assert ground.files() == before
    failure = ground.fails("move_notes", names=["A/x.md", "A/y.md"], to="B")
    assert failure.error_code == "ALREADY_EXISTS"
    assert "Nothing was changed" in failure.message
    assert ground.fails("move_notes", names=["A/"], to="A/x").code == -32602
    assert ground.fails("move_notes", names=["A/x.md"], to="../out").code == -32602
    assert ground.fails("move_notes", names=[], to="B").code == -32602


def test_the_app_moves_notes_one_by_one(with_app: Ground) -> None:
    path = with_app.put("Note.md")
    failure = with_app.fails("move_notes", names=[path], to="B")
    assert (failure.code, "obsidian_move_note" in failure.message) == (-32000, True)


# Replacing


def test_a_text_is_replaced_where_the_number_of_places_is_the_expected_one(readable: Ground) -> None:
    for path, text in (("A.md", "zqzq one\r\nzqzq two"), ("B.md", "a zqzq"), ("C.md", "none")):
        readable.put(path, text)
    shown = readable.call("replace_in_notes", query="", old_text="zqzq", new_text="new")
    assert (shown["places"], shown["replaced"], shown["total"]) == (3, 0, 2)
    assert [(note["path"], note["count"]) for note in shown["notes"]] == [
        (readable.at("A.md"), 2),
        (readable.at("B.md"), 1),
    ]
    assert "-a zqzq\n+a new" in shown["notes"][1]["diff"]
    failure = readable.fails("replace_in_notes", query="", old_text="zqzq", new_text="new", expected=2)
    assert (failure.error_code, failure.data["places"]) == ("CONFLICT", 3)
    planned = readable.call("replace_in_notes", query="", old_text="zqzq", new_text="new", expected=3, dry_run=True)
    assert planned["replaced"] == 0
    done = readable.call("replace_in_notes", query="", old_text="zqzq", new_text="new", expected=3)
    assert (done["places"], done["replaced"]) == (3, 3)
    assert readable.get(readable.at("A.md")) == b"new one\r\nnew two"
    assert readable.get(readable.at("B.md")) == b"a new"


def test_properties_are_not_broken_by_a_replacement(readable: Ground) -> None:
    readable.put("A.md", "---\nk: zqzq\n---\n")
    readable.put("B.md", "k: zqzq")
    failure = readable.fails("replace_in_notes", query="", old_text="k: zqzq", new_text="k: [", expected=2)
    assert (failure.code, "A.md" in failure.message) == (-32602, True)


# Renaming


def test_a_tag_is_renamed_with_its_children(readable: Ground) -> None:
    notes = {
        "A.md": ("\ufeff#zqzq and #Zqzq/x\r\n`#zqzq`", "\ufeff#new and #new/x\r\n`#zqzq`"),
        "B.md": ("---\ntags: [a, zqzq] # c\n---\n", "---\ntags: [a, new] # c\n---\n"),
        "C.md": ("#zqzqq zqzq", "#zqzqq zqzq"),
    }
    for path, (before, _) in notes.items():
        readable.put(path, before)
    arguments = {"kind": "tag", "old": "#zqzq", "new": "#new"}
    planned = readable.call("rename_term", **arguments, dry_run=True)
    done = readable.call("rename_term", **arguments)
    assert (planned["renamed"], done["renamed"]) == (False, True)
    assert (done["places"], done["notes_changed"]) == (3, [readable.at("A.md"), readable.at("B.md")])
    assert readable.files() == {readable.at(path): after.encode() for path, (_, after) in notes.items()}
    assert readable.fails("rename_term", **arguments).code == -32602


def test_a_property_is_renamed_everywhere_or_nowhere(readable: Ground) -> None:
    readable.put("A.md", "---\nzqzq: 1 # one\n---\nzqzq: 1")
    readable.put("B.md", "---\nb: 2\nZqzq: [x]\n---\n")
    readable.call("rename_term", kind="property", old="zqzq", new="new key")
    assert readable.get(readable.at("A.md")) == b"---\nnew key: 1 # one\n---\nzqzq: 1"
    assert readable.get(readable.at("B.md")) == b"---\nb: 2\nnew key: [x]\n---\n"
    failure = readable.fails("rename_term", kind="property", old="new key", new="b")
    assert (failure.code, "B.md" in failure.message) == (-32602, True)


def test_a_heading_is_renamed_with_every_link_to_it(readable: Ground) -> None:
    note = readable.put("Zq note.md", "# Top\n## Old ##\n[[#Old]] [x](#Old)\n")
    readable.put("Sub/See.md", "[[Zq note#Top#Old|x]] ![[zq note#old]] [y](Zq%20note.md#Old) `[[Zq note#Old]]`")
    done = readable.call("rename_term", kind="heading", name="Zq note", old="Old", new="New one")
    assert (done["places"], done["total"]) == (5, 2)
    assert readable.get(note) == b"# Top\n## New one ##\n[[#New one]] [x](#New%20one)\n"
    assert readable.get(readable.at("Sub/See.md")) == (
        b"[[Zq note#Top#New one|x]] ![[zq note#New one]] [y](Zq%20note.md#New%20one) `[[Zq note#Old]]`"
    )
    failure = readable.fails("rename_term", kind="heading", name=note, old="Top", new="new, ONE")
    assert (failure.error_code, "line 2" in failure.message) == ("ALREADY_EXISTS", True)


@pytest.mark.parametrize("arguments", [{"kind": "heading"}, {"kind": "tag", "name": "Note"}, {"kind": "alias"}])
def test_a_heading_needs_its_note_and_nothing_else_does(readable: Ground, arguments: dict[str, str]) -> None:
    readable.put("Note.md", "# a\n#a")
    assert readable.fails("rename_term", old="a", new="b", **arguments).code == -32602


# Repairing


def test_broken_links_are_listed_and_the_sure_ones_mended(readable: Ground) -> None:
    readable.put("A/Zq one.md")
    readable.put("A/Zq two.md")
    readable.put("B/Zq two.md")
    see = readable.put("See.md", "[[Old/Zq one#h|x]]\n[y](Old/Zq%20two.md) [[Zq nothing]]")
    found = readable.call("repair_links", name=see)
    assert (found["total"], found["repaired"]) == (3, 0)
    assert found["broken"][0] == {
        "path": see,
        "line": 1,
        "link": "[[Old/Zq one#h|x]]",
        "targets": [readable.at("A/Zq one.md")],
    }
    assert len(found["broken"][1]["targets"]) == 2
    assert readable.call("repair_links", name=see, sure=True, dry_run=True)["repaired"] == 1
    done = readable.call("repair_links", name=see, sure=True)
    assert (done["repaired"], done["total"]) == (1, 2)
    chosen = {"path": see, "link": done["broken"][0]["link"], "target": readable.at("B/Zq two.md")}
    assert readable.call("repair_links", name=see, links=[chosen])["repaired"] == 1
    assert readable.get(see) == b"[[Zq one#h|x]]\n[y](B/Zq%20two.md) [[Zq nothing]]"
    assert readable.fails("repair_links", links=[chosen]).code == -32602


# Where the notes are out of reach


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("replace_in_notes", {"query": "", "old_text": "a", "new_text": "b", "expected": 1}),
        ("rename_term", {"kind": "tag", "old": "a", "new": "b"}),
        ("repair_links", {"sure": True}),
    ],
)
def test_the_app_alone_cannot_change_many_notes_as_one(
    app_alone: Ground, tool: str, arguments: dict[str, object]
) -> None:
    app_alone.put("Note.md", "#a [[x]]")
    failure = app_alone.fails(tool, **arguments)
    assert (failure.error_code, "machine that has the vault" in failure.message) == ("CLI_FAILED", True)
