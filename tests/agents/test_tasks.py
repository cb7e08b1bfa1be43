"""The tasks, the mistakes and their vault hold together."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.everything import TASKS
from agents.mistakes import MISTAKES
from agents.ours import Ours
from agents.policies import CAREFUL
from agents.report import Run, bars
from agents.tasks import Task
from agents.trial import Ground, Result, tried
from agents.vault import files, put, snapshot

FILES = files()
NAMES = """
 misspelt name, wrong case, NFD, alias, ambiguous name, missing heading, duplicate heading, heading in a fence,
 curly quotes, LF for CRLF, text twice, text gone, stale etag, wrong argument name, string for list, null,
 past the end, too large, outside the vault, read-only, empty query, unknown operator, cancelled,
 half-read overwrite, tool that is off""".replace("\n", "").split(", ")


def test_there_are_a_thousand_notes_and_always_the_same() -> None:
    assert len(FILES) == 1_000
    assert files() == FILES


def test_there_are_as_many_tasks_of_each_kind_as_promised() -> None:
    kinds = [task.kind for task in TASKS]
    assert {kind: kinds.count(kind) for kind in kinds} == {"find": 6, "edit": 8, "tidy": 4, "undo": 6}
    assert sum(task.common for task in TASKS) == 8
    assert len({task.name for task in TASKS}) == 24


def test_the_mistakes_are_those_that_were_promised() -> None:
    assert [mistake.name for mistake in MISTAKES] == [name.strip() for name in NAMES]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_what_a_task_wants_can_be_told_from_what_there_is(task: Task) -> None:
    staged_or_asked = task.staged is not None or task.answer
    assert staged_or_asked or task.after(FILES) != FILES
    assert len(task.after(FILES)) == len(FILES)


def test_the_links_that_are_renamed_are_twelve() -> None:
    (task,) = [task for task in TASKS if task.name == "a rename"]
    after = task.after(FILES)
    assert sum(after.get(path) != content for path, content in FILES.items()) == 12 + 1


def test_a_vault_is_put_back_file_by_file(tmp_path: Path) -> None:
    few = {"A.md": b"a", "F/B.md": b"b"}
    put(tmp_path, few)
    (tmp_path / "A.md").write_bytes(b"x")
    (tmp_path / "F/B.md").unlink()
    (tmp_path / "C.md").write_bytes(b"c")
    put(tmp_path, few)
    assert snapshot(tmp_path) == few


@pytest.mark.parametrize("name", ["a log line", "undo beside a person"])
def test_a_trial_is_judged_by_the_files(tmp_path: Path, name: str) -> None:
    (task,) = [task for task in TASKS if task.name == name]
    result = tried(Ground(tmp_path, FILES), Ours, task, CAREFUL)
    assert result.done, result.reason
    assert result.bytes < 1_000


def test_what_misses_a_bar_is_told() -> None:
    done = Result("a task", "find", True, True, said=("x" * 6_000,))
    hurt = Result("a mistake", "mistake", False, False, harmed=("A.md",))
    missed = [bar.what for bar in bars([Run("ours", "careful", [done], [hurt])]) if not bar.is_met]
    assert missed == ["bytes for the eight common tasks", "mistakes mended", "harm, careful"]
