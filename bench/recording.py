"""What the history costs: a change with its entry beside one without, and ten thousand entries listed beside a bare
scan of as many notes. Part of `make bench`, and by itself: `python -m bench.recording`.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.editing import build, call, edits, in_turns
from bench.peer import Peer, embedded
from bench.report import Report
from bench.scale import took
from obsidian_mcp.history.ledger import Ledger
from obsidian_mcp.vault.changes import ChangeSet, Write
from obsidian_mcp.vault.history import Intent

ROUNDS, ENTRIES = 60, 10_000


def creations(peer: Peer) -> Callable[[], object]:
    numbers = itertools.count()
    return lambda: call(peer, "create_note", name=f"New/N{next(numbers)}.md", content="A few words.\n" * 100)


def renames(peer: Peer) -> Callable[[], object]:
    pair = itertools.cycle([("Edited", "Renamed"), ("Renamed", "Edited")])

    def rename() -> object:
        old, new = next(pair)
        return call(peer, "rename_note", name=old, new_name=new)

    return rename


def measure(report: Report, folder: Path) -> None:
    peers = []
    for choice in ("off", "on"):
        root = folder / choice
        build(root)
        for number in range(10):
            (root / f"Link {number}.md").write_text("see [[Edited]]\n" * 20, encoding="utf-8")
        peers.append(embedded(root, folder / f"home {choice}", "--history", choice))
    acts = {
        "an append": lambda peer: lambda: call(peer, "append_note", name="Appended", content="x"),
        "an edit of a 5 KB note": lambda peer: edits(peer, "Edited"),
        "a new note": creations,
        "a rename with 10 linking notes": renames,
    }
    for what, act in acts.items():
        without, with_entry = in_turns(ROUNDS, *(act(peer) for peer in peers))
        report.bar(f"{what} with its entry over one without", with_entry / without, "×", 1.5)
    measure_undo(report, peers[1])
    for peer in peers:
        peer.end()
    measure_listing(report, folder / "listing")


def measure_undo(report: Report, peer: Peer) -> None:
    """An undo is a change like any other."""
    changes: list[str] = []

    def change() -> None:
        done = call(peer, "edit_note", name="Edited", old_text="the place", new_text="The place")
        changes.append(done["change"])

    changed, undone = in_turns(ROUNDS, change, lambda: call(peer, "undo_change", id=changes[-1]))
    report.bar("an edit undone over the edit", undone / changed, "×", 1.5)


def measure_listing(report: Report, folder: Path) -> None:
    """The entries themselves; a page of them is all that goes to a client."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    ledger = Ledger(str(folder / "history.sqlite"))
    for number in range(ENTRIES):
        (notes / f"{number}.md").write_bytes(b"text")
        changes = ChangeSet("", (Write(f"{number % 100}.md", b"a", b"b"),))
        ledger.finish(ledger.begin(Intent(time.time(), "obsidian_edit_note", "bench", "Changed", changes)))
    bare, listed = in_turns(9, lambda: scan(notes), lambda: ledger.entries(limit=ENTRIES))
    assert len(ledger.entries(limit=ENTRIES)) == ENTRIES
    report.bar(f"{ENTRIES:,} entries listed over a bare scan of as many notes", listed / bare, "×", 1)
    took(ledger.close)


def scan(folder: Path) -> int:
    with os.scandir(folder) as found:
        return sum(entry.stat().st_size for entry in found)


def main() -> None:
    report = Report("", {}, quick=True)
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-recording-") as folder:
        measure(report, Path(folder))
    print(report.bars_table())


if __name__ == "__main__":
    main()
