from __future__ import annotations

import posixpath

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, CliFailed, Failure, InvalidArguments, NoteNotFound
from obsidian_mcp.operations.moving_many import MovesPlan, move_notes
from obsidian_mcp.vault.names import Destination
from obsidian_mcp.vault.reference import Reference
from tests.support import resolver as independent
from tests.support.memory import Files, context
from tests.vault.links.test_link_rewrites import AROUND, FOLDERS, link_lines, paths


def run(files: Files, names: list[str], to: str, dry_run: bool = False) -> MovesPlan:
    it = context(files)("Memory", CallContext(), 0)
    goal = Destination.parse(to or "/")
    return move_notes(list(map(Reference.parse, names)), goal, it.vault, it.index, it.call, dry_run=dry_run)


def vault(notes: dict[str, str]) -> Files:
    return Files({path: text.encode() for path, text in notes.items()})


CASES: dict[str, tuple[list[str], str, dict[str, str], dict[str, str]]] = {
    # names, to, the vault before, and after
    "links between moved notes": (
        ["a", "b"],
        "T",
        {"a.md": "[[b]] [x](b.md)", "b.md": "[[a|y]]", "c.md": "[[a]]"},
        {"T/a.md": "[[b]] [x](b.md)", "T/b.md": "[[a|y]]", "c.md": "[[a]]"},
    ),
    "paths to them, and from them": (
        ["A/a.md", "B/b.md"],
        "T",
        {
            "A/a.md": "[[B/b]] [[../c]] [[./d]]",
            "B/b.md": "![[A/a#h|x]]",
            "c.md": "[[A/a]] [[B/b]]",
            "A/d.md": "[x](a.md)",
        },
        {"T/a.md": "[[b]] [[../c]] [[d]]", "T/b.md": "![[a#h|x]]", "c.md": "[[a]] [[b]]", "A/d.md": "[x](a.md)"},
    ),
    "a folder keeps its name, and what is in it its place": (
        ["A/"],
        "B",
        {"A/a.md": "[[/A/s/b]] ![[A/p.png]]", "A/s/b.md": "[x](../a.md)", "A/p.png": "png", "c.md": "[[./A/s/b]]"},
        {"B/A/a.md": "[[b]] ![[A/p.png]]", "B/A/s/b.md": "[x](../a.md)", "B/A/p.png": "png", "c.md": "[[b]]"},
    ),
    "a folder in a folder": (
        ["A/s/"],
        "",
        {"A/s/b.md": "[[./c]]", "A/s/c.md": "", "A/x.md": "[[s/b]]"},
        {"s/b.md": "[[./c]]", "s/c.md": "", "A/x.md": "[[s/b]]"},
    ),
    "a link that would mean another note": (
        ["A/n.md", "A/m.md"],
        "B",
        {"A/n.md": "[[k]]", "A/m.md": "", "A/k.md": "", "B/k.md": "", "C/n.md": "", "s.md": "[[A/n]]"},
        {"B/n.md": "[[A/k]]", "B/m.md": "", "A/k.md": "", "B/k.md": "", "C/n.md": "", "s.md": "[[B/n]]"},
    ),
    "a canvas and a property": (
        ["a", "b"],
        "T",
        {"a.md": "", "b.md": '---\nup: "[[/a]]"\n---\n', "c.canvas": '{"file":"a.md"},{"file":"b.md"}'},
        {"T/a.md": "", "T/b.md": '---\nup: "[[a]]"\n---\n', "c.canvas": '{"file":"T/a.md"},{"file":"T/b.md"}'},
    ),
}


@pytest.mark.parametrize(("names", "to", "before", "after"), CASES.values(), ids=CASES)
def test_many_move_with_every_link(names: list[str], to: str, before: dict[str, str], after: dict[str, str]) -> None:
    files = vault(before)
    run(files, names, to)
    assert files == vault(after)


def test_the_vault_and_its_inverse_change_restore_every_file() -> None:
    files = vault({"A/a.md": "[[../x]] [[b]]", "A/b.md": "[[A/a]]", "x.md": "[[A/b]]"})
    before = dict(files)
    done = run(files, ["A/"], "B")
    context(files)("Memory", CallContext(), 0).vault.commit("back", done.changes.inverse)
    assert dict(files) == before


def test_a_great_many_are_looked_for_in_links_as_a_few_are() -> None:
    before = {f"A/n{number}.md": f"[[/A/n{number + 1}]]" for number in range(30)} | {"s.md": "[[/A/n7]] [[/A/x]]"}
    files = vault(before)
    done = run(files, ["A/"], "B")
    assert sum(len(one.links) for one in done.rewrites) == 30
    assert (files["B/A/n3.md"], files["s.md"]) == (b"[[n4]]", b"[[n7]] [[/A/x]]")


def test_a_dry_run_tells_all_of_it_and_changes_nothing() -> None:
    files = vault({"A/a.md": "", "A/b.md": "[[/A/a]]", "x.base": 'f: link("a")'})
    before = dict(files)
    plan = run(files, ["A/"], "B", dry_run=True)
    assert plan.moved == {"A/a.md": "B/A/a.md", "A/b.md": "B/A/b.md"}
    assert [one.path for one in plan.rewrites] == ["A/b.md"]
    assert plan.mentioned_in == ["x.base"]
    assert dict(files) == before


REFUSED: dict[str, tuple[list[str], str, type[Failure]]] = {
    "a note that is there already": (["B/b.md"], "B", InvalidArguments),
    "a folder that is there already": (["A/s/"], "A", InvalidArguments),
    "a folder into itself": (["A/"], "A", InvalidArguments),
    "a folder into one of its own": (["A/"], "a/S", InvalidArguments),
    "a note twice": (["A/a.md", "A/a"], "B", InvalidArguments),
    "a note and its folder": (["A/a.md", "A/"], "B", InvalidArguments),
    "what stands in the way": (["A/a.md", "A/b.md"], "B", AlreadyExists),
    "in another case too": (["C/B.md"], "B", AlreadyExists),
    "two that would be one": (["A/a.md", "C/a.md"], "D", AlreadyExists),
    "two that differ in case": (["A/b.md", "C/B.md"], "D", AlreadyExists),
    "no such note": (["nope"], "B", NoteNotFound),
    "no such folder": (["Nope/"], "B", NoteNotFound),
    "a note as the folder": (["A/a.md"], "B/x.md", InvalidArguments),
    "a place that another one leaves": (["s/", "A/s/"], "A", InvalidArguments),
}


@pytest.mark.parametrize(("names", "to", "kind"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_move_stops_all_of_it(names: list[str], to: str, kind: type[Failure]) -> None:
    files = vault(dict.fromkeys(["A/a.md", "A/b.md", "A/s/x.md", "s/x.md", "B/b.md", "C/a.md", "C/B.md"], ""))
    before = dict(files)
    with pytest.raises(kind):
        run(files, names, to)
    assert dict(files) == before


def test_with_the_app_it_is_refused() -> None:
    it = context(vault({"a.md": ""}))("Memory", CallContext(), 0)
    with pytest.raises(CliFailed):
        move_notes([Reference.parse("a")], Destination.parse("B"), it.vault, None, it.call, dry_run=False)


# The law, over vaults that nobody chose


@settings(max_examples=300)
@given(paths(), st.data())
def test_every_link_leads_where_it_led(files: list[str], data: st.DataObject) -> None:
    link = st.builds(
        link_lines,
        st.sampled_from([*files, "nowhere.md", "a.md"]),
        st.sampled_from(["name", "path", "whole", "root", "up", "here", "upper"]),
        st.sampled_from(["wiki", "alias", "markdown", "angle"]),
    )
    lines = st.lists(st.builds(str.replace, st.sampled_from(AROUND), st.just("LINK"), link), max_size=3)
    before = {path: "\n\n".join(data.draw(lines)) for path in files}
    names = data.draw(st.lists(st.sampled_from(files), min_size=1, max_size=4, unique=True))
    to = data.draw(st.sampled_from(FOLDERS))
    there = vault(before)
    try:
        done = run(there, names, to)
    except (AlreadyExists, InvalidArguments):
        assume(False)
    assert dict(done.moved) == {name: posixpath.join(to, posixpath.basename(name)) for name in names}
    for path, text in before.items():
        now = done.moved.get(path, path)
        for line, changed in zip(text.split("\n"), there[now].decode().split("\n"), strict=True):
            _require_kept(line, changed, path, now, files, list(there), done)


def _require_kept(
    line: str, changed: str, path: str, now: str, files: list[str], after: list[str], done: MovesPlan
) -> None:
    target, target_after = independent.target_of(line), independent.target_of(changed)
    led = None if target is None or not path.endswith(".md") else independent.leads_to(target, path, files)
    if led is None or target_after is None:
        assert line == changed
        return
    assert independent.leads_to(target_after, now, after) == done.moved.get(led, led), (line, changed)
