from __future__ import annotations

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidArguments, NoteNotFound
from obsidian_mcp.operations.repairing import BrokenLink, Chosen, RepairPlan, repair_links
from obsidian_mcp.vault.reference import Reference
from tests.support.memory import Files, context


def run(
    files: Files,
    *chosen: tuple[str, str, str],
    path: str | None = None,
    sure: bool = False,
    limit: int = 25,
    dry_run: bool = False,
) -> RepairPlan:
    it = context(files)("Memory", CallContext(), 0)
    assert it.contents is not None
    links = [Chosen(Reference.parse(note), link, Reference.parse(target)) for note, link, target in chosen]
    return repair_links(path, links, sure, limit, it.vault, it.contents, it.call, dry_run=dry_run)


def notes() -> Files:
    return Files(
        {
            "A/One.md": b"",
            "A/Two.md": b"",
            "B/Two.md": b"",
            "Aliased.md": b"---\naliases: [Other name]\n---\n",
            "pics/p.png": b"png",
            "s.md": b"[[One]]\r\n![[Old/One#h|x]] [y](Old/Two.md#h)\r\n[[Nowhere]] ![[p.jpg|100]]",
            "t.md": b'---\nup: "[[Other name]]"\n---\n`[[Old/One]]` [z](Old/One.md "t")',
        }
    )


def test_broken_links_are_listed_with_what_they_may_mean() -> None:
    files = notes()
    found = run(files)
    assert found.broken == [
        BrokenLink("s.md", 2, "![[Old/One#h|x]]", ["A/One.md"]),
        BrokenLink("s.md", 2, "[y](Old/Two.md#h)", ["A/Two.md", "B/Two.md"]),
        BrokenLink("s.md", 3, "[[Nowhere]]", []),
        BrokenLink("s.md", 3, "![[p.jpg|100]]", ["pics/p.png"]),
        BrokenLink("t.md", 2, "[[Other name]]", ["Aliased.md"]),
        BrokenLink("t.md", 4, '[z](Old/One.md "t")', ["A/One.md"]),
    ]
    assert (found.total, found.repaired) == (6, 0)
    assert files == notes()


def test_those_of_one_note_alone_and_no_more_than_asked_for() -> None:
    assert {each.path for each in run(notes(), path="t.md").broken} == {"t.md"}
    found = run(notes(), limit=1)
    assert (len(found.broken), found.total) == (1, 6)


def test_the_sure_ones_are_repaired_and_keep_their_form_heading_and_alias() -> None:
    files = notes()
    found = run(files, sure=True, limit=1)
    assert (found.repaired, found.total, len(found.broken)) == (4, 2, 1)
    assert files["s.md"] == b"[[One]]\r\n![[One#h|x]] [y](Old/Two.md#h)\r\n[[Nowhere]] ![[p.png|100]]"
    assert files["t.md"] == b'---\nup: "[[Aliased]]"\n---\n`[[Old/One]]` [z](One.md "t")'


def test_a_chosen_one_is_repaired_and_no_other() -> None:
    files = notes()
    found = run(files, ("s", "[y](Old/Two.md#h)", "B/Two"), ("s.md", "[[Nowhere]]", "[[One]]"))
    assert (found.repaired, found.total) == (2, 4)
    assert files["s.md"] == b"[[One]]\r\n![[Old/One#h|x]] [y](B/Two.md#h)\r\n[[One]] ![[p.jpg|100]]"
    assert files["t.md"] == notes()["t.md"]


@pytest.mark.parametrize("link", ["Old/One", "[[Old/One]]", "![[Old/One#h|x]]"])
def test_a_link_may_be_named_by_its_target(link: str) -> None:
    files = notes()
    assert run(files, ("s", link, "A/One.md")).repaired == 1


def test_a_dry_run_tells_what_would_be_and_changes_nothing() -> None:
    files = notes()
    found = run(files, sure=True, dry_run=True)
    assert [(one.path, [link.after for link in one.links]) for one in found.rewrites] == [
        ("s.md", ["One", "p.png"]),
        ("t.md", ["Aliased", "One.md"]),
    ]
    assert files == notes()


def test_a_choice_that_does_not_fit_stops_all_of_it() -> None:
    files = notes()
    with pytest.raises(InvalidArguments):
        run(files, ("s", "[[Nowhere]]", "One"), ("s", "[[One]]", "A/Two.md"))
    with pytest.raises(NoteNotFound):
        run(files, ("s", "[[Nowhere]]", "Nothing"))
    assert files == notes()


def test_where_nothing_is_sure_nothing_changes() -> None:
    files = Files({"a.md": b"[[x/b]] [[nowhere at all]]", "A/b.md": b"", "B/b.md": b""})
    assert run(files, sure=True).repaired == 0
    assert files["a.md"] == b"[[x/b]] [[nowhere at all]]"


def test_a_canvas_is_repaired_too() -> None:
    files = Files({"A/b.md": b"", "c.canvas": b'{"nodes":[{"file":"B/b.md"},{"text":"[[B/b]]"}]}'})
    assert run(files, sure=True).repaired == 2
    assert files["c.canvas"] == b'{"nodes":[{"file":"A/b.md"},{"text":"[[b]]"}]}'
