"""Bases without the app: the rows of a view, or a refusal that names what is not understood."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.client import ToolFailed
from tests.support.memory import Files, MemoryVault, Session, session

NOTES = {
    "Projects/Alpha.md": b"---\nstatus: open\ndue: 2026-11-20\nrating: 3\ntags: [project/big]\n---\n[[Beta]]",
    "Projects/Beta.md": b"---\nStatus: done\ndue: 2026-12-01\nrating: 5\nparent: '[[Alpha]]'\n---\n#todo",
    "Projects/Deep/Gamma.md": b"---\nstatus: Open\nareas: [Home, Work]\n---\n",
    "Log.md": b"#project",
    "pic.png": b"\x89PNG",
}
ALL = ["Log.md", "Projects/Alpha.md", "Projects/Beta.md", "Projects/Deep/Gamma.md", "All.base", "pic.png"]


def ask(base: str, client: Session | None = None, **more: Any) -> dict[str, Any]:
    client = client or session(Files({**NOTES, "All.base": base.encode()}))
    return client.call("query_base", name="All.base", **more)


def names(base: str) -> list[str]:
    return [row["path"].rpartition("/")[2].partition(".")[0] for row in ask(base, limit=100)["rows"]]


def matching(expression: str) -> list[str]:
    quoted = expression.replace("'", "''")
    return names(f"filters:\n  and:\n    - '{quoted}'\n    - file.ext == \"md\"\n")


EXPRESSIONS = {
    'status == "open"': ["Alpha"],
    'note.status != "open"': ["Log", "Beta", "Gamma"],
    'note["status"] == "done"': ["Beta"],
    'STATUS == "done"': ["Beta"],
    "rating > 3": ["Beta"],
    "rating >= 3 && rating < 5": ["Alpha"],
    "rating == 3 || rating == 5": ["Alpha", "Beta"],
    "rating + 2 * 1 == 5": ["Alpha"],
    "(rating - 1) % 4 == 0": ["Beta"],
    "!rating": [],
    "!(rating == 3)": ["Log", "Beta", "Gamma"],
    "rating.isEmpty()": ["Log", "Gamma"],
    "!areas.isEmpty()": ["Gamma"],
    'due < date("2026-11-30")': ["Alpha"],
    'due == "2026-11-20"': ["Alpha"],
    'due > date("2026-11-19") + "1 week"': ["Beta"],
    'due - "1M" < date("2026-10-31")': ["Alpha"],
    "due.month == 12": ["Beta"],
    "file.mtime < now()": ["Log", "Alpha", "Beta", "Gamma"],
    'file.inFolder("Projects")': ["Alpha", "Beta", "Gamma"],
    'file.folder == "Projects"': ["Alpha", "Beta"],
    'file.name == "Log.md"': ["Log"],
    'file.basename.contains("a")': ["Alpha", "Beta", "Gamma"],
    'file.path.startsWith("Projects/")': ["Alpha", "Beta", "Gamma"],
    'file.basename.endsWith("a")': ["Alpha", "Beta", "Gamma"],
    'file.hasTag("project")': ["Log", "Alpha"],
    'file.hasTag("todo", "nothing")': ["Beta"],
    'file.tags.contains("#project")': ["Log", "Alpha"],
    'file.tags.containsAny("todo", "project/big")': ["Alpha", "Beta"],
    'file.hasProperty("areas")': ["Gamma"],
    'file.hasLink("Beta")': ["Alpha"],
    'file.links.contains(link("Beta"))': ["Alpha"],
    'file.backlinks.contains(link("Alpha"))': ["Beta"],
    'parent == link("Alpha")': ["Beta"],
    'parent == "Projects/Alpha.md"': ["Beta"],
    'areas.contains("home")': ["Gamma"],
    'areas.containsAll("home", "work")': ["Gamma"],
    'areas.containsAny("home", "x")': ["Gamma"],
    'areas[1] == "Work"': ["Gamma"],
    "areas.length == 2": ["Gamma"],
    'status.contains("OPEN")': ["Alpha", "Gamma"],
    'status.lower() == "open"': ["Alpha", "Gamma"],
    'list(status).contains("done")': ["Beta"],
    'if(rating > 3, "a", "b") == "a"': ["Beta"],
    '["done", "open"].contains(status)': ["Alpha", "Beta", "Gamma"],
    "file.size > 1000": [],
    "true": ["Log", "Alpha", "Beta", "Gamma"],
}


@pytest.mark.parametrize(("expression", "found"), EXPRESSIONS.items(), ids=EXPRESSIONS)
def test_a_filter_chooses_rows(expression: str, found: list[str]) -> None:
    assert matching(expression) == found


NOT_UNDERSTOOD = {
    "a function": ('file.name.replace("a", "b") == "x"', "replace"),
    "a pattern": ("/a+/.matches(file.name)", "/a+/"),
    "this": ("file.hasLink(this)", "this"),
    "this file": ("file.hasLink(this.file)", "this"),
    "the time of birth": ("file.ctime > now()", "file.ctime"),
    "a loop": ("file.tags.filter(value.length > 2).length > 1", "filter"),
    "not an expression": ("status ==", "ends too soon"),
    "rubbish": ("status ~ 3", "~"),
    "a list by itself": ("areas", "a list"),
    "the opposite of an unknown": ('!status.contains("open")', "missing property"),
    "case at the beginning": ('status.startsWith("o")', "case"),
    "a number and its text": ('rating == "3"', "the number 3"),
    "a number and a text": ('rating < "x"', "compared"),
    "a formula that is not there": ("formula.x == 1", "formula.x"),
    "the vault's own folder": ('file.folder == "/"', "file.folder"),
    "a division by zero": ("rating / 0 == 1", "zero"),
    "a tag below another in a property": ('tags.contains("project")', "hasTag"),
}


@pytest.mark.parametrize(("expression", "named"), NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_what_is_not_understood_is_named_and_no_row_is_guessed(expression: str, named: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        matching(expression)
    assert caught.value.error_code == "INVALID_ARGUMENTS"
    assert named in caught.value.message
    assert expression[:10] in caught.value.message


def test_what_is_not_understood_is_named_even_where_no_row_needs_it() -> None:
    with pytest.raises(ToolFailed):
        matching('false && file.name.replace("a", "b") == "x"')


def test_the_time_of_birth_is_told_where_it_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    born = {"Log.md": 1e9, "Projects/Alpha.md": 2e9, "Projects/Beta.md": 1.5e9, "Projects/Deep/Gamma.md": 1.2e9}
    monkeypatch.setattr(MemoryVault, "created", lambda self, path: born.get(path.value))
    assert matching('file.ext == "md" && file.ctime < date("2010-01-01")') == ["Log", "Gamma"]
    shown = "views: [{type: table, order: [file.ctime], sort: [{property: file.ctime, direction: DESC}]}]\n"
    rows = ask(f'filters: file.ext == "md"\n{shown}')["rows"]
    assert [row["path"].rpartition("/")[2] for row in rows] == ["Alpha.md", "Beta.md", "Gamma.md", "Log.md"]
    assert rows[-1]["file.ctime"].startswith("2001-09-")
    with pytest.raises(ToolFailed) as caught:
        ask("filters: file.ctime < now()")
    assert "file.ctime of" in caught.value.message


NOTE = """---
status: open
area: "[[Log]]"
---
# Overview

````text
```base
filters: file.name == "not this one"
```
````

> ```base
> filters: '%s'
> views: [{type: table, name: Mine}]
> ```

~~~ base
filters: file.ext == "png"
views: [{type: cards, name: Pictures}, {type: table, name: Both}]
~~~

```base
views: [{type: table, name: Both}]
"""
OF_THIS = {
    "file.hasLink(this.file)": ["Gamma"],
    "this.file.hasLink(file.path)": ["Log"],
    "this.file.links.contains(file.file)": ["Log"],
    "file.path == this.file.path": ["Board"],
    "file.folder == this.file.folder": ["Board", "Log"],
    "status == this.status": ["Board", "Alpha"],
    "status == this['status']": ["Board", "Alpha"],
    'this.file.hasProperty("area") && file.name == "Log.md"': ["Log"],
    "file.backlinks.contains(this.file)": ["Log"],
}


def board(expression: str) -> Session:
    linked = NOTES["Projects/Deep/Gamma.md"] + b"[[Board]]"
    note = NOTE % expression.replace("'", "''")
    return session(Files({**NOTES, "Projects/Deep/Gamma.md": linked, "Board.md": note.encode()}))


@pytest.mark.parametrize(("expression", "found"), OF_THIS.items(), ids=OF_THIS)
def test_in_a_base_that_stands_in_a_note_this_is_that_note(expression: str, found: list[str]) -> None:
    data = board(f'file.ext == "md" && {expression}').call("query_base", name="Board")
    assert [row["path"].rpartition("/")[2].partition(".")[0] for row in data["rows"]] == found


@pytest.mark.parametrize(
    "expression", ["file.hasLink(this)", "this.note.x == 1", "this.file.unknown == 1", 'this.file.folder == "/"']
)
def test_what_this_may_be_beyond_that_is_not_guessed(expression: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        board(expression).call("query_base", name="Board")
    assert expression in caught.value.message


def test_a_note_may_hold_several_bases() -> None:
    client = board("true")
    assert client.call("query_base", name="Board")["views"] == ["Mine", "Pictures", "Both", "Both"]
    data = client.call("query_base", name="Board.md", view="Pictures")
    assert [row["path"] for row in data["rows"]] == ["pic.png"]
    for view, said in (("Both", "2 bases"), ("Nothing", "Mine, Pictures")):
        with pytest.raises(ToolFailed) as caught:
            client.call("query_base", name="Board", view=view)
        assert said in caught.value.message


@pytest.mark.parametrize("name", ["Log", "pic.png"])
def test_what_holds_no_base_is_refused(name: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files(NOTES)).call("query_base", name=name)
    assert (caught.value.error_code, "```base" in caught.value.message) == ("INVALID_ARGUMENTS", True)


def test_an_empty_base_is_every_file() -> None:
    data = ask("")
    assert sorted(row["path"] for row in data["rows"]) == sorted(ALL)
    assert (data["total"], data["views"]) == (6, ["Table"])


VIEWS = """
filters: file.ext == "md"
formulas:
  next: rating + 1
  hard: file.name.replace("a", "b")
views:
  - type: table
    name: By rating
    order: [file.name, rating, formula.next, formula.hard, note.due, parent]
    sort: [{property: rating, direction: DESC}]
  - type: cards
    name: Open
    filters:
      or: [status == "open", {not: [file.inFolder("Projects")]}]
    sort: [{column: file.name}]
  - type: table
    name: First
    sort: [{property: rating, direction: ASC}]
    limit: 1
  - type: table
    name: Some
    limit: 2
  - type: table
    name: Groups
    groupBy: {property: status, direction: DESC}
    sort: [{property: file.name, direction: DESC}]
"""


def test_the_first_view_is_the_default_and_null_comes_last() -> None:
    data = ask(VIEWS)
    assert data["view"] == "By rating"
    assert data["views"] == ["By rating", "Open", "First", "Some", "Groups"]
    assert data["rows"][0] == {
        "path": "Projects/Beta.md",
        "file.name": "Beta.md",
        "rating": 5,
        "formula.next": 6,
        "note.due": "2026-12-01",
        "parent": "[[Alpha]]",
    }
    assert [row["rating"] for row in data["rows"]] == [5, 3, None, None]
    assert "formula.hard" in data["note"]


def test_a_view_adds_its_own_filters() -> None:
    assert [row["path"] for row in ask(VIEWS, view="Open")["rows"]] == ["Projects/Alpha.md", "Log.md"]


def test_a_limit_takes_the_first_and_without_an_order_none() -> None:
    assert [row["path"] for row in ask(VIEWS, view="First")["rows"]] == ["Projects/Alpha.md"]
    data = ask(VIEWS, view="Some")
    assert len(data["rows"]) == 4
    assert "first 2" in data["note"]


def test_groups_come_together() -> None:
    found = [row["path"] for row in ask(VIEWS, view="Groups")["rows"]]
    assert found == ["Projects/Deep/Gamma.md", "Projects/Alpha.md", "Projects/Beta.md", "Log.md"]


def test_rows_come_in_pages() -> None:
    client = session(
        Files({f"{number:02}.md": b"" for number in range(30)} | {"All.base": b'filters: file.ext == "md"'})
    )
    seen: list[str] = []
    cursor: str | None = None
    while True:
        data = ask("", client, limit=8, **({"cursor": cursor} if cursor else {}))
        seen += [row["path"] for row in data["rows"]]
        cursor = data.get("next_cursor")
        if cursor is None:
            break
    assert seen == [f"{number:02}.md" for number in range(30)]


BROKEN = {
    "YAML that is none": ("filters: [", "NOT_TEXT"),
    "views that are no list": ("views: 7", "NOT_TEXT"),
    "formulas that are no names": ("formulas: [a]", "NOT_TEXT"),
    "a filter of an unknown kind": ("filters: {xor: [a]}", "INVALID_ARGUMENTS"),
}


@pytest.mark.parametrize(("base", "code"), BROKEN.values(), ids=BROKEN)
def test_a_broken_base_is_told(base: str, code: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        ask(base)
    assert caught.value.error_code == code


def test_an_unknown_view_and_a_file_that_is_no_base_are_refused() -> None:
    for arguments in ({"name": "All.base", "view": "Nope"}, {"name": "Log"}):
        with pytest.raises(ToolFailed) as caught:
            session(Files({**NOTES, "All.base": VIEWS.encode()})).call("query_base", **arguments)
        assert caught.value.code == -32602


def test_a_formula_that_leads_to_itself_is_refused() -> None:
    with pytest.raises(ToolFailed) as caught:
        ask("formulas: {a: formula.b, b: formula.a}\nfilters: formula.a == 1")
    assert "itself" in caught.value.message


def test_an_expression_without_end_is_refused() -> None:
    for expression in ("(" * 10_000, "!" * 4_000 + "a", "a" + ".b" * 2_000 + "(", "[" * 3_000):
        with pytest.raises(ToolFailed):
            matching(expression)
