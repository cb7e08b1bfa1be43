"""How the embedded vault grows: 1,000, 10,000 and 100,000 notes. Part of `make bench`."""

from __future__ import annotations

import functools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.peer import Peer, embedded
from bench.report import Report

LINKING = 500
ROUNDS = 9  # a disk is not equally quick each time
FOLDER_SIZE = 200


def build(root: Path, notes: int) -> None:
    """About 2 KB a note, some links each, `LINKING` of them to the note that is renamed."""
    filler = "Some words that make up a line of ordinary prose in a note.\n" * 32
    for number in range(notes):
        folder = root / f"Folder {number // FOLDER_SIZE}"
        if number % FOLDER_SIZE == 0:
            folder.mkdir(parents=True)
        links = f"[[Note {(number * 7) % notes}]] and [text](Note%20{(number * 13) % notes}.md)\n"
        if number % (notes // LINKING) == 0:
            links += "See [[Target zq]].\n"
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n{links}{filler}", encoding="utf-8")
    (root / "Target zq.md").write_text("target\n", encoding="utf-8")


def took_writing(act: Callable[[], object]) -> float:
    """From a disk that has nothing left to do: what the one before has written is not this one's to wait for."""
    os.sync()
    return took(act)


def took(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def walk(root: Path) -> list[str]:
    found, todo = [], [str(root)]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                else:
                    found.append(entry.path)
    return found


def floor(root: Path, name: bytes) -> None:
    """The least a rename can cost: look through every note for the name, in any case, and write each that has it."""
    for path in walk(root):
        fd = os.open(path, os.O_RDONLY)
        data = os.read(fd, 1 << 16)
        os.close(fd)
        if name in data.lower():
            temporary = f"{path}.tmp"
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            os.write(fd, data)
            os.fsync(fd)
            os.close(fd)
            os.replace(temporary, path)


def measure(report: Report, notes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-scale-") as folder:
        root = Path(folder, "vault")
        build(root, notes)
        walk(root)  # once before, so that everybody finds warm caches
        peer = embedded(root, Path(folder, "home"))
        path = "Folder 0/Note 7.md"
        by_path = statistics.median(took(lambda: peer.call("obsidian_read_note", name=path)) for _ in range(50))
        ping = statistics.median(took(lambda: peer.ask("ping")) for _ in range(50))
        plain = statistics.median(took((root / path).read_bytes) for _ in range(50))
        peer.call("obsidian_read_note", name="Note 11")
        later = statistics.median(took(lambda: peer.call("obsidian_read_note", name="Note 12")) for _ in range(30))
        scans, reads, firsts, seconds, floors = [], [], [], [], []
        for _ in range(ROUNDS):  # in turns, each by a server that has read nothing yet
            fresh = embedded(root, Path(folder, "home"))
            scans.append(took(lambda: walk(root)))
            reads.append(took(functools.partial(fresh.call, "obsidian_read_note", name="Target zq")))
            floors.append(took_writing(lambda: floor(root, b"target zq")))
            firsts.append(took_writing(functools.partial(renamed, fresh, "Target zq", "Other zq")))
            seconds.append(took_writing(functools.partial(renamed, fresh, "Other zq", "Target zq")))
            fresh.end()
        scan, first, rename, again, least = map(statistics.median, (scans, reads, firsts, seconds, floors))
        renamed(peer, "Target zq", "Other zq")
        memory = peer.resident_mb()
        peer.end()
    at = f"at {notes:,} notes"
    report.bar(f"read by path over a plain read and a ping, {at}", (by_path - plain - ping) * 1000, "ms", 1)
    if notes > 1_000:
        report.bar(f"first read by name over scandir, {at}", first / scan, "×", 3)
    report.bar(f"later reads by name, {at}", later * 1000, "ms", 5 if notes <= 10_000 else 50)
    if notes > 1_000:
        limit = 1.5 if notes <= 10_000 else 2
        report.bar(f"rename with {LINKING} links over the floor, {at}", rename / least, "×", limit)
        report.bar(f"the same again, {at}", again / least, "×", limit)
    report.bar(f"memory, {at}", memory, "MB", 150)


def renamed(peer: Peer, old: str, new: str) -> None:
    done = peer.call("obsidian_rename_note", name=old, new_name=new)["result"]["structuredContent"]["data"]
    assert done["links_updated"] == LINKING, done
