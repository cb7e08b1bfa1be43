"""How quick edits are: of a small note beside an append, of a very long one beside reading and writing it, of a tag in
many notes beside the least that it can cost. Part of `make bench`, and by itself: `python -m bench.editing`.
"""

from __future__ import annotations

import itertools
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.peer import Peer, embedded
from bench.report import Report
from bench.scale import floor, took, took_writing

SMALL, LONG = 5_000, 10 << 20  # bytes
NOTES, TAGGED = 10_000, 1_000
ROUNDS, LONG_ROUNDS, MANY_ROUNDS = 60, 9, 5


def build(root: Path) -> None:
    line = "Some words of ordinary prose, as there are in every note that people write.\n"
    root.mkdir(parents=True)
    for name in ("Appended", "Edited"):
        (root / f"{name}.md").write_text("# Head\n\nthe place\n\n" + line * (SMALL // len(line)), encoding="utf-8")
    half = line * (LONG // len(line) // 2)
    (root / "Long.md").write_text(f"{half}the place\n{half}", encoding="utf-8")


def build_many(root: Path) -> None:
    filler = "Some words that make up a line of ordinary prose in a note.\n" * 32
    for number in range(NOTES):
        folder = root / f"Folder {number // 200}"
        folder.mkdir(parents=True, exist_ok=True)
        tag = "#topic/old" if number % (NOTES // TAGGED) == 0 else "#other"
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\n{tag}\n\n{filler}", encoding="utf-8")


def call(peer: Peer, tool: str, **arguments: Any) -> Any:
    reply = peer.call(f"obsidian_{tool}", **arguments)
    assert not reply["result"]["isError"], reply
    return reply["result"]["structuredContent"]["data"]


def edits(peer: Peer, name: str) -> Callable[[], object]:
    """There and back, in turns."""
    pair = itertools.cycle([("the place", "The place"), ("The place", "the place")])

    def edit() -> object:
        old, new = next(pair)
        return call(peer, "edit_note", name=name, old_text=old, new_text=new)

    return edit


def rewrite(file: Path) -> None:
    """Read a file, and write it so that it is on disk."""
    data = file.read_bytes()
    fd = os.open(file.with_suffix(".copy"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


def in_turns(rounds: int, *acts: Callable[[], object]) -> list[float]:
    times = [[took_writing(act) for act in acts] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times, strict=True)]


def measure(report: Report, folder: Path) -> None:
    root = folder / "vault"
    build(root)
    peer = embedded(root, folder / "home")
    for name in ("Appended", "Edited", "Long"):
        call(peer, "read_note", name=name, max_lines=1)
    small = edits(peer, "Edited")
    append, edit = in_turns(ROUNDS, lambda: call(peer, "append_note", name="Appended", content="x"), small)
    report.bar("edit of a 5 KB note over an append", edit / append, "×", 1.3)
    bare, long = in_turns(LONG_ROUNDS, lambda: rewrite(root / "Long.md"), edits(peer, "Long"))
    report.bar("edit of a 10 MB note over reading and writing it", long / bare, "×", 3)
    peer.end()
    many = folder / "many"
    build_many(many)
    peer = embedded(many, folder / "home", "--toolsets", "all")
    names = itertools.cycle([("topic/old", "topic/new"), ("topic/new", "topic/old")])

    def rename() -> None:
        old, new = next(names)
        call(peer, "rename_term", kind="tag", old=old, new=new)

    took(rename)
    least, renamed = in_turns(MANY_ROUNDS, lambda: floor(many, b"#topic/"), rename)
    report.bar(f"a tag renamed in {TAGGED:,} of {NOTES:,} notes over the floor", renamed / least, "×", 1.5)
    peer.end()


def main() -> None:
    report = Report("", {}, quick=True)
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-editing-") as folder:
        measure(report, Path(folder))
    print(report.bars_table())


if __name__ == "__main__":
    main()
