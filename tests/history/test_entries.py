"""A change as it is kept: exact, readable or refused, and short to name."""

from __future__ import annotations

import contextlib
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.history import entries
from obsidian_mcp.history.entries import decode, encode, moved, short_id
from obsidian_mcp.vault.changes import Change, ChangeSet, NotAsBefore, Rename, Restore, Trash, Write, applied
from obsidian_mcp.vault.history import Difference, KeptChanges, Unreadable, touched

ANY_TEXT = st.text(st.characters(), max_size=12)  # lone surrogates and NUL too
NEVER = 1 << 40  # bytes: no text is long


@st.composite
def two_texts(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Which have their beginnings and ends in common."""
    head, tail = draw(st.binary(max_size=40)), draw(st.binary(max_size=40))
    return head + draw(st.binary(max_size=8)) + tail, head + draw(st.binary(max_size=8)) + tail


MAYBE = st.none() | st.binary(max_size=40)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(
        lambda path, both, whole: Write(path, both[0], both[1], whole and both[0] != both[1]),
        ANY_TEXT,
        two_texts(),
        st.booleans(),
    ),
    st.builds(Write, ANY_TEXT, MAYBE, MAYBE),
    st.builds(Rename, ANY_TEXT, ANY_TEXT),
    st.builds(Trash, ANY_TEXT, st.booleans(), MAYBE, ANY_TEXT),
    st.builds(Restore, ANY_TEXT, st.binary(max_size=40), ANY_TEXT),
)
SETS = st.builds(ChangeSet, ANY_TEXT, st.lists(CHANGES, max_size=6).map(tuple))


def nothing(path: str) -> bytes | None:
    raise AssertionError(f"{path} was read")


# What is kept.


@given(SETS)
@example(ChangeSet("a pair of surrogates", (Rename("\ud83d\ude00.md", "\udcff.md"),)))
@example(ChangeSet("not UTF-8", (Write("A.md", b"\xff\n\x00", b"\xff\n\x01"),)))
def test_a_change_set_comes_back_exactly(changes: ChangeSet) -> None:
    assert decode(encode(changes, NEVER)) == KeptChanges(changes.doing, changes.changes)
    assert decode(encode(changes, NEVER)).rebuilt(nothing) == changes


def test_of_a_witness_only_the_digest_is_kept() -> None:
    held = b"some text " * 1000
    data = encode(ChangeSet("moving", (Rename("A.md", "B.md"), Write("B.md", held, held, whole=True))))
    witness = decode(data).changes[1]
    assert isinstance(witness, Difference)
    assert (witness.is_witness, len(data) < 300) == (True, True)


@given(two_texts(), st.booleans())
def test_each_text_of_a_difference_is_made_from_the_other(both: tuple[bytes, bytes], whole: bool) -> None:
    write = Write("A.md", both[0], both[1], whole)
    (kept,) = decode(encode(ChangeSet("editing", (write,)), 1)).changes
    for text in both:
        assert (kept.write(text) if isinstance(kept, Difference) else kept) == write


NAMES = st.sampled_from(["A.md", "B.md", "C.md"])


@st.composite
def fitting(draw: st.DrawFn) -> tuple[dict[str, bytes], ChangeSet]:
    """A vault, and changes that can be made to it."""
    vault = now = {name: draw(st.binary(min_size=30, max_size=40)) for name in draw(st.sets(NAMES, min_size=1))}
    done: list[Change] = []
    for _ in range(draw(st.integers(1, 6))):
        path, target = draw(NAMES), draw(NAMES)
        change: Change
        if path not in now:
            change = Restore(path, b"restored" * 4) if draw(st.booleans()) else Write(path, None, b"made" * 8)
        elif draw(st.booleans()):
            at = draw(st.integers(0, 20))
            change = Write(path, now[path], now[path][:at] + b"!" + now[path][at + 1 :])
        elif target not in now:
            change = Rename(path, target)
        else:
            change = Trash(path, True, now[path])
        done.append(change)
        now = applied(now, ChangeSet("", (change,)))
    return vault, ChangeSet("changing", tuple(done))


@given(fitting())
def test_long_texts_are_rebuilt_from_the_vault_as_the_changes_left_it(case: tuple[dict[str, bytes], ChangeSet]) -> None:
    vault, changes = case
    after = applied(vault, changes)
    rebuilt = decode(encode(changes, 1)).rebuilt(after.get)
    assert rebuilt == changes
    assert applied(after, rebuilt.inverse()) == vault


# How it is kept.

LINES = b"".join(b"line %d of many\n" % number for number in range(20_000))
EDITED = LINES.replace(b"line 9999 ", b"row 9999 ")
SHORT = LINES[:1000]

KEPT = {
    "a short text whole": (SHORT, SHORT + b"x", Write),
    "a long text by what differs": (LINES, EDITED, Difference),
    "a long text of which little stays whole": (LINES, LINES[:100_000], Write),
    "a long text that is new whole": (None, LINES, Write),
    "a long text that was removed whole": (LINES, None, Write),
    "a long text added to a short one whole": (SHORT, SHORT + LINES, Write),
}


@pytest.mark.parametrize(("before", "after", "kind"), KEPT.values(), ids=KEPT)
def test_it_keeps(before: bytes | None, after: bytes | None, kind: type) -> None:
    (kept,) = decode(encode(ChangeSet("editing", (Write("A.md", before, after),)))).changes
    assert type(kept) is kind


def test_a_small_edit_of_a_long_text_takes_few_bytes() -> None:
    assert len(encode(ChangeSet("editing", (Write("A.md", LINES, EDITED),)))) < 400


def test_of_a_short_edit_no_text_is_kept_twice() -> None:
    noise = bytes(byte * byte * byte % 251 for byte in range(20_000))
    alone = len(zlib.compress(noise))
    assert len(encode(ChangeSet("editing", (Write("A.md", noise, noise + b"x"),)))) < alone + 1000


def test_a_deleted_long_text_is_kept_whole() -> None:
    trash = Trash("A.md", True, LINES)
    assert decode(encode(ChangeSet("deleting", (trash,)))).changes == (trash,)


@pytest.mark.parametrize("now", [LINES + b"a person's line\n", b"", None], ids=["edited", "emptied", "gone"])
def test_a_long_text_that_is_not_as_it_was_left_is_not_rebuilt(now: bytes | None) -> None:
    kept = decode(encode(ChangeSet("editing", (Write("A.md", LINES, EDITED),))))
    with pytest.raises(NotAsBefore):
        kept.rebuilt(lambda path: now)


def test_the_vault_is_read_for_long_texts_only() -> None:
    changes = ChangeSet("editing", (Write("A.md", LINES, EDITED), Write("B.md", SHORT, b"")))
    assert decode(encode(changes)).rebuilt(lambda path: EDITED if path == "A.md" else nothing(path)) == changes


def test_a_long_text_is_looked_for_where_the_change_moved_it() -> None:
    changes = ChangeSet("moving", (Write("A.md", LINES, EDITED), Rename("A.md", "B.md"), Rename("B.md", "C.md")))
    assert decode(encode(changes)).rebuilt({"C.md": EDITED}.get) == changes


# What can't be read.

WHOLE = encode(ChangeSet("editing", (Write("A.md", b"one", b"two"), Trash("B.md", False, b"three"))))


def packed(line: str, texts: bytes = b"") -> bytes:
    return entries.VERSION + zlib.compress(line.encode() + b"\n" + texts)


UNREADABLE = {
    "nothing": b"",
    "of another version": b"\x02" + WHOLE[1:],
    "cut": WHOLE[:-1],
    "not compressed": entries.VERSION + b'["", []]\n',
    "not JSON": packed("["),
    "not a pair": packed("[]"),
    "a mapping": packed('{"doing": 1, "rows": 2}'),
    "deeply nested": packed("[" * 100_000),
    "with a purpose that is not text": packed("[1, []]"),
    "with an unknown change": packed('["", [["copy", "A.md", "B.md"]]]'),
    "with a path that is not text": packed('["", [["rename", 1, "B.md"]]]'),
    "with a text that is missing": packed('["", [["restore", "A.md", 5, ""]]]', b"four"),
    "with a text too many": packed('["", [["restore", "A.md", 3, ""]]]', b"four"),
    "with a length below zero": packed('["", [["restore", "A.md", -1, ""]]]'),
    "with a difference outside its text": packed('["", [["write", "A.md", false, 3, 2, 2, 1]]]', b"four"),
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_it_is_unreadable_if_it_is(data: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(data)


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_byte_that_has_changed_makes_it_unreadable_or_nothing_else(at: int, by: int) -> None:
    garbled = bytearray(WHOLE)
    garbled[at] ^= by
    with contextlib.suppress(Unreadable):
        assert decode(bytes(garbled)) == decode(WHOLE)


# What a listing needs.


def test_ids_are_short_all_different_and_never_numbers_or_words() -> None:
    ids = [short_id(number) for number in range(400_000)]
    assert len(set(ids)) == len(ids)
    assert {len(id) for id in ids[:370_000]} == {4}
    assert {len(id) for id in ids} == {4, 5}
    assert not any(id[0].isdigit() or set(id) & set("aeiouyl01") or id != id.lower() for id in ids)


def test_ids_of_neighbours_are_told_apart_easily() -> None:
    pairs = [(short_id(number), short_id(number + 1)) for number in range(1000)]
    assert all(sum(a != b for a, b in zip(one, other, strict=True)) >= 2 for one, other in pairs)


def test_every_path_is_named_once_in_its_order() -> None:
    changes = (Write("B.md", b"", b"x"), Rename("B.md", "A.md"), Write("A.md", b"x", b"y"), Trash("C.md", to=".trash"))
    assert touched(ChangeSet("", changes)) == ("B.md", "A.md", "C.md")


MOVES: dict[str, tuple[tuple[Change, ...], list[tuple[str, str]]]] = {
    "a rename": ((Rename("A", "B"),), [("A", "B")]),
    "a rename in two steps": ((Rename("A", "B"), Rename("B", "C")), [("A", "C")]),
    "there and back": ((Rename("A", "B"), Rename("B", "A")), []),
    "two that change places": (
        (Rename("A", "x"), Rename("B", "A"), Rename("x", "B")),
        [("B", "A"), ("A", "B")],
    ),
    "moved and deleted": ((Rename("A", "B"), Trash("B")), []),
    "moved and removed": ((Rename("A", "B"), Write("B", b"", None)), []),
    "written": ((Write("A", b"", b"x"),), []),
}


@pytest.mark.parametrize(("changes", "moves"), MOVES.values(), ids=MOVES)
def test_where_files_are_afterwards(changes: tuple[Change, ...], moves: list[tuple[str, str]]) -> None:
    assert moved(ChangeSet("", changes)) == moves
