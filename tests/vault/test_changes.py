from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.changes import (
    Change,
    ChangeSet,
    NotAsBefore,
    NoWayBack,
    Rename,
    Restore,
    Trash,
    Write,
    applied,
)

NAMES = ["A.md", "B.md", "Deep/C.md", "D.md"]
PATHS = st.sampled_from(NAMES)
TEXTS = st.binary(max_size=4)


@st.composite
def vaults_and_changes(draw: st.DrawFn) -> tuple[dict[str, bytes], ChangeSet]:
    """A vault, and changes that fit it one after another."""
    files = draw(st.dictionaries(PATHS, TEXTS))
    now, changes = dict(files), list[Change]()
    for _ in range(draw(st.integers(0, 6))):
        path, text = draw(PATHS), draw(TEXTS)
        there = now.get(path)
        free = draw(st.sampled_from(sorted(set(NAMES) - set(now)))) if len(now) < len(NAMES) else None
        options: list[Change] = [Write(path, there, text)]
        if there is not None:
            options += [Write(path, there, None), Trash(path, before=there)]
            options += [Rename(path, free)] if free else []
        else:
            options.append(Restore(path, text, ".trash/x.md"))
        change = draw(st.sampled_from(options))
        now = applied(now, ChangeSet("", (change,)))
        changes.append(change)
    return files, ChangeSet("doing something", tuple(changes))


@given(vaults_and_changes())
def test_changes_and_their_inverse_restore_every_byte(made: tuple[dict[str, bytes], ChangeSet]) -> None:
    files, changes = made
    assert applied(applied(files, changes), changes.inverse()) == files


@given(vaults_and_changes())
def test_the_inverse_of_the_inverse_does_it_again(made: tuple[dict[str, bytes], ChangeSet]) -> None:
    files, changes = made
    assert applied(files, changes.inverse().inverse()) == applied(files, changes)


UNFIT: dict[str, Change] = {
    "another text": Write("A.md", b"x", b"y"),
    "a file that is there already": Write("A.md", None, b"y"),
    "a name that is taken": Rename("A.md", "B.md"),
    "a file that is not there": Rename("C.md", "D.md"),
    "a text that was changed since": Trash("A.md", before=b"x"),
    "a file that has come back": Restore("A.md", b"a"),
}


@pytest.mark.parametrize("change", UNFIT.values(), ids=UNFIT)
def test_a_change_that_does_not_fit_is_refused(change: Change) -> None:
    with pytest.raises(NotAsBefore):
        applied({"A.md": b"a", "B.md": b"b"}, ChangeSet("", (change,)))


def test_what_was_not_kept_cannot_be_taken_back() -> None:
    with pytest.raises(NoWayBack):
        ChangeSet("", (Trash("Film.mp4"),)).inverse()


def test_one_write_needs_no_journal_and_a_rename_does() -> None:
    assert not ChangeSet("", (Write("A.md", b"", b"x"),)).is_transaction
    assert ChangeSet("", (Rename("A.md", "B.md"),)).is_transaction
    assert ChangeSet("", (Write("A.md", b"", b"x"), Write("B.md", b"", b"x"))).is_transaction
