from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AmbiguousName, Conflict, Failure, InvalidArguments, NoteNotFound, NotText
from obsidian_mcp.index.library import Library
from obsidian_mcp.operations import tasking
from obsidian_mcp.operations.tasking import Listing, Marked, Marking, Wanted
from obsidian_mcp.vault import text
from obsidian_mcp.vault.changes import ChangeSet, Committed
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.query.matching import Matcher, Note
from obsidian_mcp.vault.query.tree import Query
from obsidian_mcp.vault.structure import Structure
from obsidian_mcp.vault.tasks import TaskSettings
from tests.support.memory import Files, MemoryVault

NOTES = {
    "b/Board.md": (
        "---\nkanban-plugin: board\n---\n## Now\n- [ ] paint @{2031-03-01}\n## Done\n- [x] sand @{2031-01-01}\n"
    ),
    "A/Plan.md": "# Plan\n- [ ] order Seeds 📅 2031-05-01\n- [x] dig\n## Later\n- [-] fence [due:: 2031-04-01]\n",
    "A/Deep/More.md": "1. [/] water the seeds (due:: 2031-02-01)\n\n- [ ] order ^id\n",
    "Garden.md": "- [ ] @{2031-01-01} is no date here\n```\n- [ ] code\n```\n",
    "Old/Gone.md": "- [ ] rake 🗓️ 2030-01-01\n",
    "Text.md": "due 📅 [ ] and - [ ]\n\\- [ ] no\n",
}
NOTE = VaultPath("A/Plan.md")


class Vault(MemoryVault):
    """With settings, and a count of what was written."""

    excluded: tuple[str, ...] = ()
    commits = 0

    def settings(self) -> VaultConfig:
        return VaultConfig({"userIgnoreFilters": list(self.excluded)})

    def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
        self.commits += 1
        return super().commit(doing, plan)


def files(**more: str) -> Files:
    return Files({path: content.encode() for path, content in {**NOTES, **more}.items()})


@pytest.fixture(params=["read", "indexed"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    made = Library(files(), str(tmp_path / "index.sqlite") if request.param == "indexed" else None)
    yield made
    for store in (made._store, *made._idle):
        if store is not None:
            store.close()


def listed(
    library: Library | None,
    status: str = "todo",
    within: str | None = None,
    due_before: str | None = None,
    words: str | None = None,
    vault: Vault | None = None,
) -> Listing:
    wanted = Wanted.of(status, due_before, words)
    return tasking.listed(wanted, within, vault or Vault(files()), library, CallContext())


def lines(listing: Listing) -> list[str]:
    return [f"{each.path}:{each.task.line}" for each in listing.page(0, 100)]


LISTED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "what is to do, by path": (
        {},
        ["A/Deep/More.md:1", "A/Deep/More.md:3", "A/Plan.md:2", "b/Board.md:5", "Garden.md:1", "Old/Gone.md:1"],
    ),
    "what is done or cancelled": ({"status": "done"}, ["A/Plan.md:3", "A/Plan.md:5", "b/Board.md:7"]),
    "a folder with those in it": ({"within": "A"}, ["A/Deep/More.md:1", "A/Deep/More.md:3", "A/Plan.md:2"]),
    "a folder by its name alone": ({"within": "deep/"}, ["A/Deep/More.md:1", "A/Deep/More.md:3"]),
    "a note": ({"within": "Plan", "status": "any"}, ["A/Plan.md:2", "A/Plan.md:3", "A/Plan.md:5"]),
    "a note by a link": ({"within": "[[A/Plan]]"}, ["A/Plan.md:2"]),
    "the whole vault": ({"within": "/", "status": "done"}, ["A/Plan.md:3", "A/Plan.md:5", "b/Board.md:7"]),
    "all the words, in any case": ({"words": "SEEDS order"}, ["A/Plan.md:2"]),
    "what is due, the first first": (
        {"due_before": "2031-05-02"},
        ["Old/Gone.md:1", "A/Deep/More.md:1", "b/Board.md:5", "A/Plan.md:2"],
    ),
    "not what is due on that day": ({"due_before": "2031-03-01"}, ["Old/Gone.md:1", "A/Deep/More.md:1"]),
    "what was due": ({"due_before": "2032-01-01", "status": "done"}, ["b/Board.md:7", "A/Plan.md:5"]),
    "all at once": (
        {"due_before": "2032-01-01", "status": "any", "within": "A/", "words": "e"},
        ["A/Deep/More.md:1", "A/Plan.md:5", "A/Plan.md:2"],
    ),
    "nothing": ({"words": "zebra"}, []),
}


@pytest.mark.parametrize(("asked", "expected"), LISTED.values(), ids=LISTED)
def test_these_tasks_are_listed(library: Library, asked: dict[str, Any], expected: list[str]) -> None:
    assert lines(listed(library, **asked)) == expected


def test_a_task_has_its_section_and_date(library: Library) -> None:
    (fence,) = listed(library, "done", words="fence").page(0, 5)
    assert (fence.section, fence.due, fence.task.mark) == ("Later", datetime.date(2031, 4, 1), "-")
    assert [each.section for each in listed(library, within="More").page(0, 5)] == [None, None]


def test_a_status_that_the_vault_calls_done_is_done(library: Library) -> None:
    statuses = '{"statusSettings": {"customStatuses": [{"symbol": "/", "type": "DONE"}]}}'
    vault = Vault(files(**{".obsidian/plugins/obsidian-tasks-plugin/data.json": statuses}))
    assert lines(listed(library, "done", "A/Deep", vault=vault)) == ["A/Deep/More.md:1"]
    assert lines(listed(library, "todo", "A/Deep", vault=vault)) == ["A/Deep/More.md:3"]


def test_a_task_counts_whether_or_not_the_plugin_filters_it(library: Library) -> None:
    vault = Vault(files(**{".obsidian/plugins/obsidian-tasks-plugin/data.json": '{"globalFilter": "#none"}'}))
    assert lines(listed(library, "todo", vault=vault)) == LISTED["what is to do, by path"][1]


def test_excluded_files_are_left_out_unless_they_are_asked_for(library: Library) -> None:
    vault = Vault(files())
    vault.excluded = ("Old/", "A/Deep")
    assert lines(listed(library, vault=vault)) == ["A/Plan.md:2", "b/Board.md:5", "Garden.md:1"]
    assert lines(listed(library, within="A", vault=vault)) == ["A/Plan.md:2"]
    assert lines(listed(library, within="Old", vault=vault)) == ["Old/Gone.md:1"]
    assert lines(listed(library, within="Gone", vault=vault)) == ["Old/Gone.md:1"]


REFUSED: dict[str, tuple[dict[str, Any], type[Failure], str]] = {
    "a date that is none": ({"due_before": "soon"}, InvalidArguments, "2026-11-18"),
    "a place that is not there": ({"within": "Gardn"}, NoteNotFound, "Garden.md"),
    "a folder that is not there": ({"within": "Gardn/"}, NoteNotFound, "A"),
    "a place outside": ({"within": "../x"}, InvalidArguments, "within"),
}


@pytest.mark.parametrize(("asked", "kind", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_meant_is_refused(
    library: Library, asked: dict[str, Any], kind: type[Failure], said: str
) -> None:
    with pytest.raises(kind) as caught:
        listed(library, **asked)
    assert said in caught.value.message


def test_a_folder_and_a_note_of_one_name_are_not_guessed_between() -> None:
    both = files(**{"X/Plan/One.md": "- [ ] one", "X/Two.md": "- [ ] two", "Two/Three.md": "- [ ] three"})
    library, vault = Library(both, None), Vault(both)
    with pytest.raises(AmbiguousName) as caught:
        listed(library, within="plan", vault=vault)
    assert "X/Plan/ or A/Plan.md" in caught.value.message
    assert lines(listed(library, within="X/Plan/", vault=vault)) == ["X/Plan/One.md:1"]
    assert lines(listed(library, within="A/Plan.md", vault=vault)) == ["A/Plan.md:2"]
    assert lines(listed(library, within="Two", vault=vault)) == ["Two/Three.md:1"]  # its very path


def test_without_the_notes_only_one_of_them_can_be_asked_for() -> None:
    assert lines(listed(None, within="Plan")) == ["A/Plan.md:2"]
    with pytest.raises(InvalidArguments) as caught:
        listed(None)
    assert "within" in caught.value.message


def test_a_note_that_is_not_text_is_told() -> None:
    vault = Vault(Files({"A.md": b"- [ ] \xff"}))
    with pytest.raises(NotText):
        listed(None, within="A", vault=vault)


PIECES = st.sampled_from(["- ", "12) ", "\t", "> ", "[ ] ", "[x]\t", "[X] ", "[-] ", "[🙂] ", "a", " ", "\n", "\r\n"])


@given(st.lists(PIECES, max_size=24).map("".join))
def test_the_search_for_notes_with_tasks_passes_over_none(content: str) -> None:
    settings, tasks = TaskSettings(), Structure(content).tasks
    for status in ("todo", "done", "any"):
        asked = Query(tasking.filter_for(Wanted.of(status, None, None), ""))
        if any(status == "any" or settings.is_closed(task.mark) == (status == "done") for task in tasks):
            assert Matcher(asked, lambda words, note: False, CallContext()).matches(Note("A.md", content.encode()))


# Marking

DATED = TaskSettings(sets_done_date=True)


def marking(task: str, mark: str = "x", settings: TaskSettings | None = None, path: VaultPath = NOTE) -> Marking:
    return Marking(path, task, mark, settings or TaskSettings(), datetime.date(2031, 4, 9))


def mark(vault: Vault, wanted: Marking, if_match: str | None = None, dry_run: bool = False) -> Marked:
    return tasking.mark(wanted, if_match, vault, dry_run=dry_run)


def test_a_task_is_ticked_and_nothing_else() -> None:
    vault = Vault(files())
    before = vault.read(NOTE)
    done = mark(vault, marking("order seeds", settings=DATED), text.etag(before))
    after = before.replace(
        b"- [ ] order Seeds \xf0\x9f\x93\x85 2031-05-01",
        b"- [x] order Seeds \xf0\x9f\x93\x85 2031-05-01 \xe2\x9c\x85 2031-04-09",
    )
    assert (done.line, done.before, done.after, vault.read(NOTE), done.note) == (2, before, after, after, None)


def test_a_dry_run_writes_nothing() -> None:
    vault = Vault(files())
    done = mark(vault, marking("dig", " "), dry_run=True)
    assert b"- [ ] dig" in done.after
    assert (vault.read(NOTE), vault.commits) == (done.before, 0)


def test_a_task_that_has_the_mark_already_is_left_alone_and_that_is_said() -> None:
    vault = Vault(files())
    done = mark(vault, marking("dig"))
    assert (done.after, vault.commits) == (done.before, 0)
    assert done.note is not None
    assert "already" in done.note


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_note_with_another_etag_is_left_alone(dry_run: bool) -> None:
    vault = Vault(files())
    with pytest.raises(Conflict):
        mark(vault, marking("order"), "0" * 16, dry_run)
    assert vault.commits == 0


def test_a_note_that_changes_meanwhile_is_looked_at_again() -> None:
    class Busy(Vault):
        def commit(self, doing: str, plan: Callable[[], ChangeSet]) -> Committed:
            def later() -> ChangeSet:
                self._files["A/Plan.md"] = b"new\n" + self._files["A/Plan.md"]
                return plan()

            return super().commit(doing, later)

    vault = Busy(files())
    done = mark(vault, marking("order"))
    assert (done.line, vault.read(NOTE)) == (3, done.after)
    assert done.after.startswith(b"new\n# Plan\n- [x] order")


RECURRING: dict[str, tuple[str, str, TaskSettings, bool]] = {
    "by an emoji": ("- [ ] a 🔁 every day", "x", TaskSettings(), True),
    "by a field": ("- [ ] a [repeat:: every day]", "X", TaskSettings(), True),
    "opened again": ("- [x] a 🔁 every day", " ", TaskSettings(), False),
    "not done": ("- [ ] a 🔁 every day", "/", TaskSettings(), False),
    "not the plugin's": ("- [ ] a 🔁 every day", "x", TaskSettings(filter="#task"), False),
    "once": ("- [ ] a", "x", TaskSettings(), False),
}


@pytest.mark.parametrize(("line", "new", "settings", "is_told"), RECURRING.values(), ids=RECURRING)
def test_what_the_plugin_would_do_with_a_recurring_task_is_told(
    line: str, new: str, settings: TaskSettings, is_told: bool
) -> None:
    vault = Vault(Files({"A/Plan.md": line.encode()}))
    done = mark(vault, marking("a", new, settings))
    assert (done.note is not None) is is_told
    assert done.after.count(b"\n") == 0


def test_a_task_that_is_not_there_is_told_with_the_nearest() -> None:
    vault = Vault(files())
    with pytest.raises(NoteNotFound) as caught:
        mark(vault, marking("order sedes"))
    assert "order Seeds 📅 2031-05-01 (line 2)" in caught.value.message
    with pytest.raises(NoteNotFound) as caught:
        mark(vault, marking("order", path=VaultPath("Text.md")))
    assert "no tasks" in caught.value.message


SEVERAL = {
    "with more of the text": ("- [ ] buy milk\n# Shop\n- [ ] buy rice\n", "buy", "more of its text"),
    "by their marks": ("- [ ] buy\n# Shop\n- [x] buy\n", "buy", "mark before it"),
    "not at all": ("- [ ] buy\n# Shop\n- [ ] buy\n", "buy", "the same"),
}


@pytest.mark.parametrize(("content", "wanted", "repair"), SEVERAL.values(), ids=SEVERAL)
def test_tasks_that_could_be_meant_are_told_apart(content: str, wanted: str, repair: str) -> None:
    vault = Vault(Files({"A/Plan.md": content.encode()}))
    with pytest.raises(AmbiguousName) as caught:
        mark(vault, marking(wanted))
    assert all(said in caught.value.message for said in ("(line 1)", "(line 3, section Shop)", repair))
    assert vault.commits == 0
