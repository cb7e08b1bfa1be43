"""What a write leaves as it was, and what is left of a write that was stopped."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.backends.files import atomic, in_place, read, record
from obsidian_mcp.backends.files.held import HeldPath
from obsidian_mcp.backends.files.journal import Journal, Text, digest
from obsidian_mcp.backends.files.record import Record
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CHANGED, Conflict, FileFailed, PermissionDenied
from obsidian_mcp.slot import MOST_KEPT
from obsidian_mcp.vault.changes import Write
from obsidian_mcp.vault.path import VaultPath
from tests.backends.files.test_commit import Place

OLD = b"---\na: 1\n---\n" + b"a line of the old text\n" * 60  # more than one block
WRITES: dict[str, bytes] = {
    "append": OLD + b"more\n",
    "prepend": b"new\n" + OLD,
    "overwrite with less": b"new",
    "overwrite with nothing": b"",
    "overwrite with more": b"new" * 2000,
    "a change in the middle": OLD.replace(b"old", b"OLD"),
}
writes = pytest.mark.parametrize("after", WRITES.values(), ids=WRITES)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.put("A.md", OLD)
    with place.state.locked(CallContext(), "testing"):  # which makes its folder
        return place


# What stays


def attributes(place: Place, path: str, *, replaced: bool = False) -> tuple[object, ...]:
    """All that a file is beside its bytes and times; without what a replacement can't have."""
    file = place.folder / path
    found = file.stat()
    tags = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    always = (found.st_uid, found.st_gid, found.st_mode, tags)
    born = None if replaced else read.times(place.root, VaultPath(path))[0]
    return always if replaced else (*always, found.st_ino, found.st_nlink, born)


def dressed(place: Place, path: str) -> None:
    """With an owner, a mode, an attribute and a hard link that no new file would have."""
    file = place.folder / path
    os.link(file, place.folder.parent / f"second name of {path}")
    try:
        os.setxattr(file, "user.com.apple.metadata:_kMDItemUserTags", b"red")
    except OSError as error:
        pytest.skip(f"this file system has no extended attributes: {error}")
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    file.chmod(0o640)


@writes
def test_a_write_leaves_all_but_the_bytes_as_it_was(place: Place, after: bytes) -> None:
    dressed(place, "A.md")
    before = attributes(place, "A.md")
    place.commit(Write("A.md", OLD, after))
    assert attributes(place, "A.md") == before
    assert (place.folder.parent / "second name of A.md").read_bytes() == after


def test_a_rewritten_link_leaves_all_but_the_bytes_as_it_was(place: Place) -> None:
    paths = [f"Linking {number}.md" for number in range(6)]
    for path in paths:
        place.put(path, b"[[A]]")
        dressed(place, path)
    dressed(place, "A.md")
    own, before = attributes(place, "A.md"), [attributes(place, path) for path in paths]
    place.move("A.md", "Deep/Longer.md")
    assert {place.files()[path] for path in paths} == {b"[[Longer]]"}
    assert [attributes(place, path) for path in paths] == before
    assert attributes(place, "Deep/Longer.md") == own


def test_a_change_taken_back_leaves_it_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(at: HeldPath) -> None:
        raise OSError(errno.EIO, "Input/output error")

    place.put("Linking.md", b"[[A]]")
    before = attributes(place, "Linking.md")
    monkeypatch.setattr(in_place, "settle", failing)
    with pytest.raises(FileFailed):
        place.move("A.md", "B.md")
    assert (place.files(), attributes(place, "Linking.md")) == ({"A.md": OLD, "Linking.md": b"[[A]]"}, before)


@pytest.mark.parametrize("text", [OLD, b""])
def test_a_write_of_what_is_there_already_is_a_write(place: Place, text: bytes) -> None:
    """The app is asked whether it has noticed, and sees that by the time."""
    place.put("A.md", text)
    os.utime(place.folder / "A.md", (1, 1))
    place.commit(Write("A.md", text, text))
    assert (place.folder / "A.md").stat().st_mtime > 1


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.ENOSPC])
def test_room_is_taken_where_the_system_has_no_call_for_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(number, os.strerror(number))

    place.put("Linking.md", b"[[A]]" + b"x" * 4091)
    before = place.files()
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    if number == errno.EOPNOTSUPP:
        place.move("A.md", "Longer.md")
        assert place.files()["Linking.md"].startswith(b"[[Longer]]")
    else:
        with pytest.raises(FileFailed):
            place.move("A.md", "Longer.md")
        assert place.files() == before
    assert not [name for name in os.listdir(place.folder) if name.endswith(".tmp")]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount that can only write whole files."""

    def opened(self: HeldPath, flags: int, mode: int = 0o666) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        return real(self, flags, mode)

    real = HeldPath.open
    monkeypatch.setattr(HeldPath, "open", opened)


@pytest.mark.usefixtures("refused")
@writes
def test_where_a_file_cannot_be_written_in_place_its_replacement_has_its_owner_mode_and_attributes(
    place: Place, after: bytes
) -> None:
    dressed(place, "A.md")
    before = attributes(place, "A.md", replaced=True)
    place.commit(Write("A.md", OLD, after))
    assert (place.files(), attributes(place, "A.md", replaced=True)) == ({"A.md": after}, before)
    assert not place.state.slot.is_set


@pytest.mark.usefixtures("refused")
def test_there_links_are_rewritten_too(place: Place) -> None:
    place.put("Linking.md", b"[[A]]")
    place.move("A.md", "B.md")
    assert place.files() == {"B.md": OLD, "Linking.md": b"[[B]]"}


@pytest.mark.usefixtures("refused")
def test_there_a_change_that_was_interrupted_is_finished_too(place: Place) -> None:
    _journalled(place, b"was", b"new", Text("B.md", "B.md", digest(b"was"), "new", "was"))
    assert place.files()["B.md"] == b"was"  # not begun: no text is in place
    _journalled(place, b"was", b"new", Text("B.md", "B.md", digest(b"was"), "new", "was"), began=True)
    assert place.files()["B.md"] == b"new"


def test_what_another_program_adds_at_the_same_moment_is_not_overwritten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(fd: int, data: bytes) -> bool:
        monkeypatch.undo()  # only while the note is compared, not when it is read back
        found = atomic.holds(fd, data)
        with (place.folder / "A.md").open("ab") as file:
            file.write(b"another's\n")
        return found

    monkeypatch.setattr(atomic, "holds", late)
    with pytest.raises(Conflict) as caught:
        record.replace(place.root, place.state, VaultPath("A.md"), OLD, OLD + b"ours\n")
    assert (caught.value.vault, place.files()["A.md"]) == (CHANGED, OLD + b"another's\nours\n")


# What a write that was stopped leaves


def states(before: bytes, after: bytes) -> list[bytes]:
    """All that a kill can leave of a write, byte by byte, as its order is documented."""
    found, kept = [], before
    for at in range(len(before), len(after)):
        kept = kept[:at] + after[at : at + 1]
        found.append(kept)
    for at in range(min(len(before), len(after))):
        kept = kept[:at] + after[at : at + 1] + kept[at + 1 :]
        found.append(kept)
    return [before, *found, after]


TEXTS = st.binary(max_size=1500) | st.integers(0, 1200).map(lambda size: b"x" * size)


@settings(max_examples=30, deadline=None)
@given(TEXTS, TEXTS)
def test_whatever_a_kill_leaves_is_known_as_ours(before: bytes, after: bytes) -> None:
    assert all(in_place.is_mixture(found, before, after) for found in states(before, after))


@given(TEXTS, TEXTS, st.data())
def test_whatever_a_loss_of_power_leaves_is_known_as_ours(before: bytes, after: bytes, data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([len(before), len(after)]))
    old, new = before + after[len(before) :], after + before[len(after) :]
    blocks = range(0, size, in_place.BLOCK)
    sources = data.draw(
        st.lists(st.sampled_from([old, new, bytes(len(new))]), min_size=len(blocks), max_size=len(blocks))
    )
    parts = [source[at : at + in_place.BLOCK] for at, source in zip(blocks, sources, strict=True)]
    assert in_place.is_mixture(b"".join(parts)[:size], before, after)


FOREIGN: dict[str, Callable[[bytes, bytes], bytes]] = {
    "a word of its own": lambda before, after: before + b"typed",
    "a word in the middle": lambda before, after: before[:100] + b"typed" + before[100:],
    "a letter in each of two blocks": lambda before, after: before.replace(b"text", b"TEXT"),
    "less than either": lambda before, after: before[:2],
    "more than both": lambda before, after: before + after,
}


@pytest.mark.parametrize("change", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("after", [WRITES["prepend"], WRITES["overwrite with more"]])
def test_what_another_program_wrote_is_not(change: Callable[[bytes, bytes], bytes], after: bytes) -> None:
    assert not in_place.is_mixture(change(OLD, after), OLD, after)


@given(TEXTS, TEXTS)
def test_nothing_before_the_difference_has_to_be_written(before: bytes, after: bytes) -> None:
    start = in_place.difference(before, after)
    assert before[:start] == after[:start]
    assert start == len(before) or not after.startswith(before)


@given(st.binary(min_size=1, max_size=40), st.integers(0, 200_000), st.integers(0, 200_000))
@settings(max_examples=30, deadline=None)
def test_of_a_long_text_only_what_differs_is_written(middle: bytes, head: int, tail: int) -> None:
    before, after = (b"x" * head + part + b"y" * tail for part in (middle, bytes(byte ^ 1 for byte in middle)))
    start = in_place.difference(before, after)
    assert head - in_place.BLOCK < start <= head
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(before)
        in_place._overwrite(file.fileno(), before, after)
        file.seek(0)
        assert atomic.holds(file.fileno(), after)
        file.seek(0)
        assert not atomic.holds(file.fileno(), before)
        file.seek(0)
        assert atomic.rest(file.fileno()) == after


@given(TEXTS, TEXTS)
def test_a_record_comes_back_as_it_was_kept(before: bytes, after: bytes) -> None:
    kept = Record.of("A.md", before, after)
    assert Record.parse(kept.stored() + bytes(9)) == kept
    end = kept.start + len(kept.before)
    assert kept.before == before[kept.start : end]
    assert kept.foot is None or (before[: kept.start], before[end:]) == (after[: kept.start], after[end:])
    assert kept.foot is None or end % in_place.BLOCK == 0 or end == len(before)  # a block is written as a whole


def test_a_change_of_the_same_length_is_recorded_by_its_blocks(place: Place) -> None:
    before = b"".join(b"line %d of a long note\n" % number for number in range(9_000))
    after = before.replace(b"line 4500 of", b"LINE 4500 of")
    kept = Record.of("A.md", before, after)
    assert len(kept.before) == len(kept.after) <= 2 * in_place.BLOCK
    at = before.index(b"line 4500 of")
    found = before[:at] + b"LI" + before[at + 2 :]
    interrupted(place, found, after, before)
    recover(place)
    assert place.files()["A.md"] == after
    for foreign in (found[:-5] + b"typed", b"typed" + found[5:], found + b"typed", found[:-5]):
        interrupted(place, foreign, after, before)
        recover(place)
        assert place.files()["A.md"] == foreign


def test_a_record_of_the_first_version_is_followed(place: Place) -> None:
    after = OLD.replace(b"old", b"OLD", 1)
    start = in_place.difference(OLD, after)
    texts = OLD[start:] + after[start:]
    sizes = [len(OLD) - start, len(after) - start]
    said = {"version": 1, "path": "A.md", "start": start, "head": digest(OLD[:start]), "sizes": sizes}
    place.state.slot.write(json.dumps({**said, "texts": digest(texts)}).encode() + b"\n" + texts, flushed=False)
    place.put("A.md", OLD.replace(b"old", b"Old", 1))
    recover(place)
    assert place.files()["A.md"] == after


def interrupted(place: Place, found: bytes, after: bytes, before: bytes = OLD) -> None:
    """A write that was killed when the note held this."""
    place.state.slot.write(Record.of("A.md", before, after).stored(), flushed=False)
    place.put("A.md", found)


def recover(place: Place) -> None:
    with place.state.locked(CallContext(), "testing"):
        record.recover(place.root, place.state)


@writes
def test_a_write_stopped_anywhere_is_finished_and_one_not_begun_is_forgotten(place: Place, after: bytes) -> None:
    for found in states(OLD, after)[::97]:
        interrupted(place, found, after)
        born = attributes(place, "A.md")
        recover(place)
        assert place.files()["A.md"] == (OLD if found == OLD else after)
        assert (place.state.slot.is_set, attributes(place, "A.md")) == (False, born)


@pytest.mark.parametrize("after", [WRITES["append"], WRITES["prepend"]])
def test_what_another_program_wrote_since_is_left_and_the_old_text_is_kept(place: Place, after: bytes) -> None:
    interrupted(place, b"another's text", after)
    recover(place)
    assert (place.files()["A.md"], place.state.slot.is_set) == (b"another's text", False)
    kept = Path(place.state.folder, "write.kept")
    assert kept.exists() == (not after.startswith(OLD))  # an addition takes nothing away
    assert not kept.exists() or Record.parse(kept.read_bytes()).before == OLD


INSTEAD: dict[str, Callable[[Path], None]] = {
    "nothing": lambda file: None,
    "a link": lambda file: file.symlink_to(file.with_name("B.md")),
    "a folder": lambda file: file.mkdir(),
}


@pytest.mark.parametrize("put", INSTEAD.values(), ids=INSTEAD)
def test_a_write_to_a_note_that_is_gone_is_forgotten(place: Place, put: Callable[[Path], None]) -> None:
    place.put("B.md", OLD[:40])
    interrupted(place, OLD, b"new")
    (place.folder / "A.md").unlink()
    put(place.folder / "A.md")
    recover(place)
    assert (place.files()["B.md"], place.state.slot.is_set) == (OLD[:40], False)


RECORDS: dict[str, Callable[[bytes], bytes]] = {
    "half of one": lambda stored: stored[: len(stored) // 2],
    "not JSON": lambda stored: b"{\n",
    "a list": lambda stored: b"[]\n",
    "without a path": lambda stored: stored.replace(b'"path"', b'"lost"'),
    "a path that leads out": lambda stored: stored.replace(b"A.md", b"../A.md"),
}


@pytest.mark.parametrize("spoil", RECORDS.values(), ids=RECORDS)
def test_a_record_that_means_nothing_stops_nothing(place: Place, spoil: Callable[[bytes], bytes]) -> None:
    place.state.slot.write(spoil(Record.of("A.md", OLD, b"new").stored()), flushed=False)
    place.put("A.md", b"new" + OLD[3:])
    place.commit(Write("A.md", b"new" + OLD[3:], b"x"))
    assert (place.files(), place.state.slot.is_set) == ({"A.md": b"x"}, False)


def test_a_record_of_another_version_is_kept_and_stops_moves_alone(place: Place) -> None:
    stored = Record.of("A.md", OLD, b"new").stored().replace(b'"version": 2', b'"version": 3')
    place.state.slot.write(stored, flushed=False)
    place.commit(Write("A.md", OLD, b"x"))
    with pytest.raises(FileFailed, match="another version"):
        place.move("A.md", "B.md")
    assert (place.files(), place.state.slot.is_set) == ({"A.md": b"x"}, True)


def test_a_record_is_kept_while_the_vault_is_empty(place: Place) -> None:
    interrupted(place, b"new" + OLD[3:], b"new")
    away = place.folder.parent / "unmounted.md"
    (place.folder / "A.md").rename(away)
    recover(place)
    assert place.state.slot.is_set
    away.rename(place.folder / "A.md")
    recover(place)
    assert place.files() == {"A.md": b"new"}


def test_a_note_that_cannot_be_finished_waits_alone(place: Place) -> None:
    place.put("B.md", b"b")
    torn = b"new" + OLD[3:]
    interrupted(place, torn, b"new")
    (place.folder / "A.md").chmod(0o444)
    place.commit(Write("B.md", b"b", b"bb"))
    (place.folder / "A.md").chmod(0o644)
    with pytest.raises(FileFailed, match="An earlier write to A"):
        record.replace(place.root, place.state, VaultPath("A.md"), torn, b"x")
    place.commit(Write("B.md", b"bb", b"bbb"))
    assert place.files() == {"A.md": b"new", "B.md": b"bbb"}


def test_a_note_that_is_not_what_it_was_or_may_not_be_written_keeps_no_record(place: Place) -> None:
    with pytest.raises(Conflict):
        record.replace(place.root, place.state, VaultPath("A.md"), b"other", b"new")
    (place.folder / "A.md").chmod(0o444)
    with pytest.raises(PermissionDenied):
        record.replace(place.root, place.state, VaultPath("A.md"), OLD, b"new")
    assert (place.files(), place.state.slot.is_set) == ({"A.md": OLD}, False)


def test_nothing_of_a_note_stays_outside_the_vault(place: Place) -> None:
    long = b"secret " * MOST_KEPT
    place.commit(Write("A.md", OLD, long))
    place.commit(Write("A.md", long, b"secret"))
    place.commit(Write("A.md", b"secret", b"secrets"))
    kept = Path(place.state.folder, "write.record")
    assert kept.stat().st_size <= MOST_KEPT
    assert not kept.read_bytes().strip(b"\0")
    assert kept.stat().st_mode & 0o077 == 0


# A change set


def _journalled(place: Place, found: bytes, after: bytes, text: Text, *, began: bool = False) -> None:
    place.put("B.md", found)
    place.put("C.md", after if began else b"was")
    other = Text("C.md", "C.md", digest(b"was"), "new", "was")
    with place.state.locked(CallContext(), "testing"):
        place.state.write_journal(Journal("x", (), (text, other)).stored())
        place.recovery.recover()
    assert not place.state.has_journal


def test_a_text_that_was_written_in_part_is_finished_with_the_rest(place: Place) -> None:
    _journalled(place, b"nas", b"new", Text("B.md", "B.md", digest(b"was"), "new", "was"))
    assert place.files() == {"A.md": OLD, "B.md": b"new", "C.md": b"new"}


def test_a_journal_without_old_texts_is_followed(place: Place) -> None:
    """As a server of an earlier version leaves it."""
    _journalled(place, b"was", b"new", Text("B.md", "B.md", digest(b"was"), "new"), began=True)
    assert place.files() == {"A.md": OLD, "B.md": b"new", "C.md": b"new"}
    _journalled(place, b"nas", b"new", Text("B.md", "B.md", digest(b"was"), "new"), began=True)
    assert place.files()["B.md"] == b"nas"  # which could be anything


def test_a_move_waits_for_a_note_that_was_written_in_part(place: Place) -> None:
    interrupted(place, b"new" + OLD[3:], b"new")
    (place.folder / "A.md").chmod(0o444)
    with pytest.raises(FileFailed, match="read-only"):
        place.move("A.md", "B.md")
    (place.folder / "A.md").chmod(0o644)
    place.move("A.md", "B.md")
    assert place.files() == {"B.md": b"new"}


@pytest.mark.parametrize("lasting", [False, True])
def test_a_disk_that_fills_up_in_the_middle_gives_the_old_text_back_or_keeps_both(
    place: Place, monkeypatch: pytest.MonkeyPatch, lasting: bool
) -> None:
    def written(fd: int, data: Any) -> int:
        if os.fstat(fd).st_ino != inode:
            return real(fd, data)
        failed.append(real(fd, bytes(data[:700])) if not failed else 0)
        if len(failed) == 1 or lasting:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, data)

    real, inode, failed = os.write, (place.folder / "A.md").stat().st_ino, list[int]()
    after = OLD.upper()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", written)
        with pytest.raises(FileFailed) as caught:
            place.commit(Write("A.md", OLD, after))
    assert isinstance(caught.value, in_place.Torn) == lasting
    assert (place.files()["A.md"] == OLD, place.state.slot.is_set) == (not lasting, lasting)
    recover(place)
    assert (place.files()["A.md"], place.state.slot.is_set) == (after if lasting else OLD, False)
