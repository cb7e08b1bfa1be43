from __future__ import annotations

import hashlib

import pytest

from tests.promises.ground import Ground
from tests.support.world import World

INVALID, NOT_FOUND, AMBIGUOUS, CONFLICT = -32602, -32003, -32003, -32005

NOTE = "---\nid: 007 # kept\ntags: [a, b]\n---\n# Top\n\nfirst line\n\n## Log\n- one\n- two\n\n## Later\nlast"
EDITS = {
    "a word": ({"old_text": "first", "new_text": "1st"}, NOTE.replace("first", "1st"), 1),
    "a text within a section": ({"old_text": "two", "new_text": "2", "section": "Log"}, NOTE.replace("two", "2"), 1),
    "a section": ({"section": "Log", "new_text": "- three"}, NOTE.replace("- one\n- two", "- three"), 1),
    "every place": ({"old_text": "- ", "new_text": "* ", "all": True}, NOTE.replace("- ", "* "), 2),
    "nothing in its place": ({"old_text": "first ", "new_text": ""}, NOTE.replace("first ", ""), 1),
    "a text by other words": ({"old_string": "first", "new_string": "1st"}, NOTE.replace("first", "1st"), 1),
    "a section by another word": ({"heading": "Later", "new_str": "end"}, NOTE.replace("last", "end"), 1),
}


@pytest.mark.parametrize(("arguments", "after", "count"), EDITS.values(), ids=EDITS)
def test_one_thing_is_changed_and_nothing_else(
    ground: Ground, arguments: dict[str, object], after: str, count: int
) -> None:
    path = ground.put("Note.md", NOTE)
    done = ground.call("edit_note", name=path, **arguments)
    assert ground.get(path) == after.encode()
    assert done["replaced"] == count
    assert done["etag"] == hashlib.sha256(after.encode()).hexdigest()[:16]
    assert done["size"] == len(after.encode())
    assert done["diff"].startswith("@@")


UGLY = {
    "CRLF": b"a\r\n\r\n## H\r\n- x\r\n- y\r\n\r\n## I\r\nend\r\n",
    "mixed line ends": b"a\n\r\n## H\r\n- x\n- y\r\n\r\n## I\nend",
    "a byte order mark": b"\xef\xbb\xbfa\n## H\n- x\n- y\n## I\n",
    "ugly properties": b"---\n a:   'b'  # c\n\n---\na\n## H\n- x\n- y\n## I",
}


@pytest.mark.parametrize("before", UGLY.values(), ids=UGLY)
def test_an_edit_leaves_foreign_bytes_alone(near: Ground, before: bytes) -> None:
    path = near.put("Note.md", before)
    near.call("edit_note", name=path, old_text="- x\n- y", new_text="- z\n- x\n- y")
    after = near.get(path)
    end = b"\r\n" if b"- x\r\n" in before else b"\n"
    assert after.replace(b"- z" + end, b"") == before
    near.call("edit_note", name=path, section="H", new_text="new")
    assert near.get(path).startswith(before[: before.index(b"- x")])
    assert near.get(path).endswith(before[before.index(b"## I") :])


def test_a_text_that_stands_twice_is_refused_with_its_places(ground: Ground) -> None:
    path = ground.put("Note.md", "# A\nsame\n## B\nsame\n")
    failure = ground.fails("edit_note", name=path, old_text="same", new_text="x")
    assert "line 2 (A)" in failure.message
    assert "line 4 (B)" in failure.message
    ground.call("edit_note", name=path, old_text="same", new_text="x", section="B")
    assert ground.get(path) == b"# A\nsame\n## B\nx\n"


def test_a_text_that_is_not_there_is_refused_with_the_nearest(ground: Ground) -> None:
    path = ground.put("Note.md", "# A\n\n## Plans\nWe meet on Monday at nine.\n")
    failure = ground.fails("edit_note", name=path, old_text="We meet on Tuesday at nine.", new_text="x")
    assert failure.code == NOT_FOUND
    assert "We meet on Monday at nine." in failure.message
    assert "line 4 (Plans)" in failure.message


def test_the_nearest_text_is_shown_from_within_a_long_line(ground: Ground) -> None:
    path = ground.put("Note.md", f"# A\n{'word ' * 300}We meet on Monday at nine. {'more ' * 300}\n")
    failure = ground.fails("edit_note", name=path, old_text="We meet on Tuesday at nine.", new_text="x")
    assert "line 2 (A)" in failure.message
    assert "We meet on Monday at nine." in failure.message


def test_the_nearest_lines_are_shown_together(ground: Ground) -> None:
    path = ground.put("Note.md", "# A\n\nfirst of all\nsecond of these\nthird and last\n")
    failure = ground.fails("edit_note", name=path, old_text="one\nsecond of those\nthird and last", new_text="x")
    assert 'line 3 (A): "first of all\nsecond of these\nthird and last"' in failure.message


def test_curly_quotes_are_found_by_straight_ones_and_that_is_told(ground: Ground) -> None:
    path = ground.put("Note.md", "She said “no” – twice.\n")
    done = ground.call("edit_note", name=path, old_text='said "no" - twice', new_text="said yes")
    assert ground.get(path) == b"She said yes.\n"
    assert "quotes" in done["note"]


def test_two_sections_of_one_name_are_refused_with_the_names_that_can_be_given(ground: Ground) -> None:
    path = ground.put("Note.md", "# A\n## Log\nx\n# B\n## Log\ny\n")
    failure = ground.fails("edit_note", name=path, section="Log", new_text="z")
    assert "B > Log" in failure.message
    ground.call("edit_note", name=path, section="B > Log", new_text="z")
    assert ground.get(path) == b"# A\n## Log\nx\n# B\n## Log\nz\n"


def test_headings_of_one_name_are_told_apart_by_their_marks(ground: Ground) -> None:
    path = ground.put("Note.md", "# Log\na\n## Log\nb\n")
    ground.call("append_note", name=path, content="c", section="## Log")
    assert ground.get(path) == b"# Log\na\n## Log\nb\nc\n"


def test_blocks_of_one_id_are_told_with_their_lines(ground: Ground) -> None:
    path = ground.put("Note.md", "one ^a\n\n- two ^A\n")
    failure = ground.fails("edit_note", name=path, section="^a", new_text="x")
    assert "line 1: one ^a; line 3: - two ^A" in failure.message


CROSSING = {"the end": "b\n# C", "the beginning": "a\n# B", "both ends": "a\n# B\nb\n# C"}


@pytest.mark.parametrize("old_text", CROSSING.values(), ids=CROSSING)
def test_a_text_that_crosses_the_edge_of_its_section_is_told_so(ground: Ground, old_text: str) -> None:
    path = ground.put("Note.md", "# A\na\n# B\nb\n# C\nc\n")
    failure = ground.fails("edit_note", name=path, section="B", old_text=old_text, new_text="x")
    assert "lines 3 to 4" in failure.message
    assert "Leave section out" in failure.message


def test_a_heading_in_a_code_block_is_none(ground: Ground) -> None:
    path = ground.put("Note.md", "```\n## Log\n```\n## Log\nx\n")
    ground.call("edit_note", name=path, section="Log", new_text="y")
    assert ground.get(path) == b"```\n## Log\n```\n## Log\ny\n"


def test_properties_stay_readable(ground: Ground) -> None:
    path = ground.put("Note.md", "---\na: 1\n---\ntext\n")
    assert ground.fails("edit_note", name=path, old_text="a: 1", new_text="a: b: c").code == INVALID
    assert ground.fails("edit_note", name=path, old_text="a: 1\n---\n", new_text="a: 1\n").code == INVALID
    ground.call("edit_note", name=path, old_text="---\na: 1\n---\n", new_text="")
    assert ground.get(path) == b"text\n"


BAD = {
    "neither a text nor a section": {"new_text": "x"},
    "the same text": {"old_text": "a", "new_text": "a"},
    "a section that is not there": {"section": "None", "new_text": "x"},
    "a stale etag": {"old_text": "a", "new_text": "b", "if_match": "0123456789abcdef"},
    "a code block that is left open": {"section": "H", "new_text": "```"},
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_what_cannot_be_done_changes_nothing(ground: Ground, arguments: dict[str, object]) -> None:
    path = ground.put("Note.md", "a\n## H\nb\n## I\n")
    ground.fails("edit_note", name=path, **arguments)


def test_a_dry_run_shows_the_edit_and_changes_nothing(ground: Ground) -> None:
    path = ground.put("Note.md", "a\nb\n")
    done = ground.call("edit_note", name=path, old_text="b", new_text="c", dry_run=True)
    assert done["diff"] == "@@ -1,3 +1,3 @@\n a\n-b\n+c\n "
    assert ground.get(path) == b"a\nb\n"
    assert ground.call("edit_note", name=path, old_text="b", new_text="c", if_match=done["etag"])["replaced"] == 1


def test_a_block_is_replaced_by_its_id(ground: Ground) -> None:
    path = ground.put("Note.md", "- one ^a\n  - child\n- two\n")
    ground.call("edit_note", name=path, section="^a", new_text="uno")
    assert ground.get(path) == b"- uno ^a\n  - child\n- two\n"


# Sections of what is added


def test_an_entry_joins_the_list_of_its_section(ground: Ground) -> None:
    path = ground.put("Note.md", "# T\n\n## Log\n- one\n\n## Later\n")
    ground.call("append_note", name=path, content="- two", section="Log")
    ground.call("prepend_note", name=path, content="- zero", section="Log")
    assert ground.get(path) == b"# T\n\n## Log\n- zero\n- one\n- two\n\n## Later\n"


def test_an_overwrite_says_how_much_it_replaced(ground: Ground) -> None:
    path = ground.put("Note.md", "a\nb\nc")
    done = ground.call("create_note", name=path, content="x", overwrite=True)
    assert (done["replaced_size"], done["replaced_lines"]) == (5, 3)
    assert "replaced_size" not in ground.call("create_note", name=ground.at("Fresh.md"), content="x")


# Properties


PROPERTIES = {
    "a new one": ({"set": {"status": "done"}}, NOTE.replace("\n---\n#", "\nstatus: done\n---\n#")),
    "one that is there": ({"set": {"id": 8}}, NOTE.replace("007", "8")),
    "one that goes": ({"set": {"id": None}}, NOTE.replace("id: 007 # kept\n", "")),
    "a tag more": ({"add": {"tags": ["#c"]}}, NOTE.replace("[a, b]", "[a, b, c]")),
    "a tag less": ({"remove": {"tags": ["b"]}}, NOTE.replace("[a, b]", "[a]")),
    "as JSON text": ({"set": '{"status": "done"}'}, NOTE.replace("\n---\n#", "\nstatus: done\n---\n#")),
    "a text that looks like a number": ({"set": {"x": "007"}}, NOTE.replace("\n---\n#", '\nx: "007"\n---\n#')),
}


@pytest.mark.parametrize(("arguments", "after"), PROPERTIES.values(), ids=PROPERTIES)
def test_a_property_is_set_and_nothing_else(ground: Ground, arguments: dict[str, object], after: str) -> None:
    path = ground.put("Note.md", NOTE)
    done = ground.call("set_properties", name=path, **arguments)
    assert ground.get(path).decode() == after
    assert done["etag"] == hashlib.sha256(after.encode()).hexdigest()[:16]


def test_properties_are_made_and_go_with_the_last_one(ground: Ground) -> None:
    path = ground.put("Note.md", "text\n")
    done = ground.call("set_properties", name=path, set={"a": [1, "x"]})
    assert done["properties"] == {"a": [1, "x"]}
    assert ground.get(path) == b"---\na:\n  - 1\n  - x\n---\ntext\n"
    ground.call("set_properties", name=path, set={"a": None})
    assert ground.get(path) == b"text\n"


def test_properties_that_cannot_be_read_are_refused_with_the_line(ground: Ground) -> None:
    path = ground.put("Note.md", "---\na: 1\na: 2\n---\n")
    failure = ground.fails("set_properties", name=path, set={"b": 1})
    assert failure.code == INVALID
    assert "3" in failure.message
    assert ground.fails("set_properties", name=path).code == INVALID


# Days and templates


def test_a_day_that_is_not_there_yet_is_not_made_by_reading(readable: Ground) -> None:
    failure = readable.fails("read_note", name="@daily:2019-01-02")
    assert failure.code == NOT_FOUND
    assert "2019-01-02.md" in failure.message
    assert "ppend" in failure.message


def test_a_day_is_made_by_writing_to_it(readable: Ground) -> None:
    done = readable.call("append_note", name="@daily:2019-01-03", content="- x")
    assert done["path"] == "2019-01-03.md"
    assert readable.get("2019-01-03.md") == b"- x"
    assert readable.call("read_note", name="@daily:2019-01-03")["content"] == "- x"
    readable.call("delete_note", name="2019-01-03.md", permanent=True)


@pytest.mark.parametrize("name", ["@daily:soon", "@weekly", "@daily:2026-13-01"])
def test_a_day_that_means_nothing_is_refused(readable: Ground, name: str) -> None:
    readable.fails("append_note", name=name, content="x")


def test_a_note_is_made_from_a_template(ground: Ground) -> None:
    template = ground.put("Templates/Meeting.md", "---\nkind: meeting\n---\n# {{title}}\n")
    path = ground.at("Budget.md")
    ground.call("create_note", name=path, template=template, content="- one\n")
    assert ground.get(path) == b"---\nkind: meeting\n---\n# Budget\n- one\n"
    assert ground.fails("create_note", name=ground.at("Other.md"), template="None").code == NOT_FOUND


def test_the_note_in_front_of_the_person_can_be_named(with_app: Ground, world: World) -> None:
    path = with_app.put("Note.md", "a\n")
    world.editor(path=path)
    with_app.call("append_note", name="@active", content="b")
    assert with_app.call("read_note", name="@active")["content"] == "a\nb"
    world.editor()
    assert with_app.fails("read_note", name="@active").code == NOT_FOUND


def test_without_the_app_no_note_is_in_front(without_app: Ground) -> None:
    without_app.fails("read_note", name="@active")


def test_the_app_tells_todays_note_where_the_settings_are_out_of_reach(app_alone: Ground) -> None:
    done = app_alone.call("append_note", name="@daily", content="- x")
    assert app_alone.get(done["path"]) == b"- x"
    app_alone.fails("append_note", name="@daily:yesterday", content="x")


# What an attack has found


SPILLS = {
    "an id at the end of its paragraph": ("## A\ntext ^id\n\n## B\n", "A", "more", "## A\ntext ^id\n\nmore\n\n## B\n"),
    "an id of its own": ("a\nb ^p1\n\nc\n", "^p1", "ADD", "a\nb ^p1\n\nADD\n\nc\n"),
    "a table's id": (
        "## A\n| a |\n|---|\n| b |\n\n^t\n\nx\n",
        "^t",
        "more",
        "## A\n| a |\n|---|\n| b |\n\n^t\n\nmore\n\nx\n",
    ),
    "a table": ("## A\n| a |\n|---|\n| b |\n", "A", "more", "## A\n| a |\n|---|\n| b |\n\nmore\n"),
    "a row joins its table": ("## A\n| a |\n|---|\n| b |\n", "A", "| c |", "## A\n| a |\n|---|\n| b |\n| c |\n"),
    "a callout": ("## A\n> [!note]\n> text\n", "A", "more", "## A\n> [!note]\n> text\n\nmore\n"),
    "a list": ("## A\n- x\n", "A", "more", "## A\n- x\n\nmore\n"),
    "a board's settings": (
        "## Done\n\n- [x] b\n\n%% kanban:settings\n```\n{}\n```\n%%\n",
        "Done",
        "- [ ] c",
        "## Done\n\n- [x] b\n- [ ] c\n\n%% kanban:settings\n```\n{}\n```\n%%\n",
    ),
}


@pytest.mark.parametrize(("before", "section", "content", "after"), SPILLS.values(), ids=SPILLS)
def test_what_is_added_leaves_alone(ground: Ground, before: str, section: str, content: str, after: str) -> None:
    path = ground.put("Note.md", before)
    ground.call("append_note", name=path, content=content, section=section)
    assert ground.get(path).decode() == after


def test_what_would_hide_text_is_refused(ground: Ground) -> None:
    path = ground.put("Note.md", "## A\ntext\n- [ ] task\n")
    for content in ("```\ncode", "<!--"):
        assert "the task task" in ground.fails("prepend_note", name=path, content=content, section="A").message
    path = ground.put("Plain.md", "## A\ntext\n")
    ground.fails("prepend_note", name=path, content="```\ncode", section="A")


def test_a_block_keeps_its_own_id(ground: Ground) -> None:
    path = ground.put("Note.md", "first\n\nsecond ^p\n\n- [ ] t ^k\n")
    for new in ("", "a\n\nb"):
        ground.fails("edit_note", name=path, section="^p", new_text=new)
    ground.call("edit_note", name=path, section="^k", new_text="[x] done")
    assert ground.get(path) == b"first\n\nsecond ^p\n\n- [x] done ^k\n"


def test_a_board_keeps_its_settings(ground: Ground) -> None:
    settings = "\n\n%% kanban:settings\n```\n{}\n```\n%%\n"
    path = ground.put("Note.md", f"## Done\n\n- [x] b{settings}")
    ground.call("edit_note", name=path, section="Done", new_text="- [x] c")
    assert ground.get(path).decode() == f"## Done\n\n- [x] c{settings}"


def test_properties_cannot_be_edited_away_by_what_stands_before_them(ground: Ground) -> None:
    path = ground.put("Note.md", "---\na: 1\n---\nbody\n")
    ground.fails("edit_note", name=path, old_text="---\na", new_text="# T\n---\na")
    path = ground.put("Other.md", "---\nrule above\n\n## A\nx\n")
    done = ground.call("prepend_note", name=path, content="intro", section="A")
    assert done["path"] == path
    ground.fails("prepend_note", name=path, content="intro\n\n---", section="A")


def test_an_empty_text_is_not_a_whole_section(ground: Ground) -> None:
    path = ground.put("Note.md", "## A\nprecious\n")
    ground.fails("edit_note", name=path, section="A", old_text="", new_text="x")


def test_only_notes_have_properties(ground: Ground) -> None:
    path = ground.put("Board.canvas", '{"nodes":[]}')
    assert ground.fails("set_properties", name=path, set={"a": 1}).code == INVALID


def test_no_note_is_made_that_would_stand_in_for_every_day(ground: Ground) -> None:
    for name in ("@daily", "@active", "@weekly:soon"):
        assert ground.fails("create_note", name=name, content="x").code == INVALID


def test_values_without_an_end_are_refused(ground: Ground) -> None:
    path = ground.put("Note.md", "x")
    deep: object = 1
    for _ in range(100):
        deep = {"a": deep}
    assert "levels" in ground.fails("set_properties", name=path, set={"k": deep}).message
    for wanted in ({"k": deep}, {"": 1}, {"a\nb": 1}, {f"k{number}": 1 for number in range(200)}):
        assert ground.fails("set_properties", name=path, set=wanted).code == INVALID


CANVAS = '{"nodes": [{"id": "1", "type": "text", "text": "one"}], "edges": []}'
BASE = "filters: file.hasTag('a')\nviews:\n  - type: table\n    name: All\n"
BREAKS = {
    "appending to a canvas": ("Map.canvas", CANVAS, "append_note", {"content": "- a line"}),
    "prepending to a canvas": ("Map.canvas", CANVAS, "prepend_note", {"content": "# Title"}),
    "a quote in a canvas": ("Map.canvas", CANVAS, "edit_note", {"old_text": "one", "new_text": 'the "one"'}),
    "a canvas that is a text": ("Map.canvas", "", "append_note", {"content": '"text"'}),
    "appending a list to a base": ("All.base", BASE, "append_note", {"content": "- a line"}),
    "appending a text to a base": ("All.base", BASE, "append_note", {"content": "a line"}),
    "a property twice in a base": ("All.base", BASE, "append_note", {"content": "views: []\n"}),
}


@pytest.mark.parametrize(("name", "before", "tool", "arguments"), BREAKS.values(), ids=BREAKS)
def test_what_would_break_a_canvas_or_a_base_is_refused(
    ground: Ground, name: str, before: str, tool: str, arguments: dict[str, str]
) -> None:
    path = ground.put(name, before)
    failure = ground.fails(tool, name=path, **arguments)
    assert failure.code == INVALID
    assert path in failure.message


def test_what_leaves_a_canvas_or_a_base_readable_is_done(ground: Ground) -> None:
    canvas, base, broken = ground.put("M.canvas", CANVAS), ground.put("A.base", BASE), ground.put("B.canvas", "{")
    ground.call("edit_note", name=canvas, old_text="one", new_text="uno")
    assert ground.get(canvas) == CANVAS.replace("one", "uno").encode()
    ground.call("append_note", name=base, content="formulas:\n  a: 1\n")
    assert ground.get(base) == f"{BASE}formulas:\n  a: 1\n".encode()
    ground.call("append_note", name=broken, content='"nodes": []}')
    assert ground.get(broken) == b'{\n"nodes": []}'
