"""One text for another in many notes: shown first, and replaced where the number of places is the expected one.

Found exactly as it is typed, but for line ends: those are each note's own, in what is found and in what is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Conflict, InvalidArguments
from obsidian_mcp.operations.many_notes import carried_out
from obsidian_mcp.operations.searching import not_looked_at, understood
from obsidian_mcp.operations.text_editing import require_frontmatter
from obsidian_mcp.vault.changes import ChangeSet, Write
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.line_ends import typed
from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.query.tree import Query
from obsidian_mcp.vault.text_edits import exactly, replaced

MOST_NAMED = 20  # notes, where the number of places is another


@dataclass(frozen=True, slots=True)
class NoteReplaced:
    path: str
    count: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ReplacePlan:
    changes: ChangeSet
    notes: list[NoteReplaced]
    note: str | None = None

    @property
    def places(self) -> int:
        return sum(each.count for each in self.notes)


def replace_in_notes(
    query: str,
    old: str,
    new: str,
    expected: int | None,
    vault: Vault,
    contents: Contents,
    call: CallContext,
    *,
    dry_run: bool,
) -> ReplacePlan:
    """Without an expected number of places it is only shown where they are."""
    wanted, doing = understood(query), "replacing a text in notes"
    if typed(old) == typed(new):
        raise InvalidArguments("old_text and new_text are the same.")

    def plan() -> ReplacePlan:
        return _planned(wanted, old, new, expected, doing, vault, contents, call)

    return carried_out(doing, plan, vault, dry_run=dry_run or expected is None)


def _planned(
    query: Query,
    old: str,
    new: str,
    expected: int | None,
    doing: str,
    vault: Vault,
    contents: Contents,
    call: CallContext,
) -> ReplacePlan:
    matches = contents.matching(query, vault.settings().is_excluded(), call)
    unread = list(matches.unread)
    paths = sorted(hit.path for hit in matches.hits if is_path(hit.path))
    call.progress(f"looking into {len(paths)} notes")
    notes, writes, spans_in = list[NoteReplaced](), list[Write](), search_for(old)
    for path, data in contents.read_all(paths, call):
        try:
            spans, text = spans_in(data)
        except UnicodeDecodeError:
            unread.append((path, "it is not UTF-8 text"))
            continue
        if spans:
            after = replaced(text, spans, new)
            require_frontmatter(VaultPath(path), text, after)
            notes.append(NoteReplaced(path, len(spans), text, after))
            writes.append(Write(path, data, after.encode()))
    told = not_looked_at(unread) if notes else f"None of the {len(paths)} notes that the query finds has old_text."
    found = ReplacePlan(ChangeSet(doing, tuple(writes)), notes, told)
    _require_expected(found, expected, len(paths))
    return found


def search_for(old: str) -> Callable[[bytes], tuple[list[tuple[int, int]], str]]:
    """Where the text stands in a note, those places that don't overlap; and the note's text. Its bytes come first:
    most notes need not be decoded.
    """
    longest = max(typed(old).split("\n"), key=len).encode()

    def spans_in(data: bytes) -> tuple[list[tuple[int, int]], str]:
        if longest not in data:
            return [], ""
        text = data.decode("utf-8")
        return exactly(text, old, 0, len(text), every=True), text

    return spans_in


def _require_expected(found: ReplacePlan, expected: int | None, looked_at: int) -> None:
    if expected is None or found.places == expected:
        return
    where = f"{found.places} places in {len(found.notes)} of {looked_at} notes" if found.places else "no place"
    raise Conflict(
        f"old_text stands in {where}, and not in {expected}.",
        "Look at them first, without expected; then give their number.",
        places=found.places,
        notes=[each.path for each in found.notes[:MOST_NAMED]],
    )
