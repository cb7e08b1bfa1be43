"""The law of links on a real vault: every link leads after a move where it led before.

    python -m tests.attack.law FOLDER [RENAMES [SEED]]

On a copy of the folder, a real server renames and moves files at random. Links are read by markdown-it-py and
looked up by a resolver that shares no code with the server; both readings, before and after, must lead to the same
file.
"""

from __future__ import annotations

import collections
import json
import os
import posixpath
import random
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support import judge, resolver
from tests.support.client import Server, ToolFailed
from tests.support.world import SERVER

_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_IN_QUOTES = re.compile(r"(?<=\")\[\[([^\[\]\n|#\"\\]+)[^\[\]\n\"]*\]\](?=\")")
NAMES = [
    "plain",
    "Ünïcode é",
    "漢字 のノート",
    "emoji 🎉",
    "tick`s",
    "5 & more",
    "O'Brien",
    "100%",
    "a+b=c, d;e",
]
MOST_TEXT = 300_000  # the judge takes long for more


class Reading:
    """Every link of the vault, by the note it stands in, read again only where a file has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, tuple[int, int, int]] = {}
        self.links: dict[str, list[str]] = {}
        self.paths: dict[str, list[str]] = {}

    def look(self) -> None:
        found: dict[str, list[str]] = collections.defaultdict(list)
        links: dict[str, list[str]] = {}
        for path, entry in _files(self._folder):
            found[_key(path)].append(path)
            if path.lower().endswith((".md", ".canvas")) and entry.st_size <= MOST_TEXT:
                stamp = (entry.st_mtime_ns, entry.st_size, entry.st_ino)
                if path not in self.links or self._stamps.get(path) != stamp:
                    self.links[path] = _links(path, (self._folder / path).read_bytes())
                    self._stamps[path] = stamp
                links[path] = self.links[path]
        self.links, self.paths = links, found

    def lead(self) -> dict[str, list[str | None]]:
        """Where each link of each note leads."""
        return {path: [self._leads_to(target, path) for target in links] for path, links in self.links.items()}

    def _leads_to(self, target: str, source: str) -> str | None:
        names = (posixpath.basename(target), posixpath.basename(target) + ".md")
        candidates = [path for name in names for path in self.paths.get(_key(name), ())]
        if source.lower().endswith(".canvas"):
            return next((path for path in candidates if resolver.same(path, target)), None)
        return resolver.leads_to(target, source, candidates)


def _key(path: str) -> str:
    return resolver.folded(posixpath.basename(path))


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith("."):
                file = Path(parent, name)
                yield file.relative_to(folder).as_posix(), file.stat()


def _links(path: str, data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    if path.lower().endswith(".canvas"):
        try:
            nodes = json.loads(text).get("nodes", [])
        except ValueError:
            return []
        return [node["file"] for node in nodes if isinstance(node.get("file"), str)]
    head = _FRONTMATTER.match(text)
    properties = _IN_QUOTES.findall(head[1]) if head else []
    body = (text[head.end() :] if head else text).removeprefix("\ufeff")
    if "%%" in body or "$" in body:
        body = ""  # comments and formulas hide links, and the judge does not know them
    found, defined = judge.links(body)
    return [*(target.strip() for target in properties), *found, *sorted(defined)]


def _move(server: Server, path: str, folders: list[str], dice: random.Random, number: int) -> str:
    """Some other place or name for a file; where it went."""
    if dice.random() < 0.4:
        data = server.call("move_note", name=path, to=dice.choice(folders) or "/")
    else:
        data = server.call("rename_note", name=path, new_name=f"{dice.choice(NAMES)} {number}")
    return str(data["path"])


def law(folder: Path, renames: int, seed: int) -> int:
    """Print what was checked; how many links broke."""
    dice, began = random.Random(seed), time.monotonic()
    reading = Reading(folder)
    reading.look()
    broken = checked = moved = 0
    refused: collections.Counter[str] = collections.Counter()
    environment = {"HOME": str(folder.parent), "PATH": os.defpath, "PYTHONPATH": str(SERVER)}
    options = ("--vault", str(folder), "--backend", "embedded", "--log-level", "error", "--timeout", "300")
    with Server(environment, *options, forked=False) as server:
        server.initialize()
        for number in range(renames):
            before = reading.lead()
            files = [path for path, _ in _files(folder)]
            notes = [path for path in files if path.lower().endswith(".md")]
            path = dice.choice(notes if notes and dice.random() < 0.8 else files)
            folders = sorted({posixpath.dirname(other) for other in files})
            try:
                now = _move(server, path, folders, dice, number)
            except ToolFailed as failure:
                refused[failure.error_code] += 1
                continue
            moved += 1
            reading.look()
            after = reading.lead()
            for note, goals in before.items():
                here = now if note == path else note
                wanted = [now if goal == path else goal for goal in goals]
                checked += len([goal for goal in goals if goal])
                wrong = _wrong(wanted, after.get(here, []))
                if wrong:
                    broken += wrong
                    print(f"broken: {wrong} in {here} after {path} -> {now}", file=sys.stderr)
    told = ", ".join(f"{count} {code}" for code, count in refused.items()) or "none"
    print(
        f"{folder.name}: {len(reading.links):,} notes, {moved:,} moves, {checked:,} links checked, {broken:,} broken; "
        f"refused: {told}; {time.monotonic() - began:.0f} s, seed {seed}"
    )
    return broken


def _wrong(wanted: list[str | None], found: list[str | None]) -> int:
    """Links that led somewhere and don't any more. One that led nowhere may lead to what has come."""
    if len(wanted) != len(found):
        return abs(len(wanted) - len(found)) or 1
    return sum(1 for goal, leads in zip(wanted, found, strict=True) if goal is not None and goal != leads)


def main() -> None:
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    renames = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(sys.argv[1]).resolve()
        copy = Path(temporary, source.name)
        shutil.copytree(source, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", "node_modules"))
        sys.exit(bool(law(copy, renames, seed)))


if __name__ == "__main__":
    main()
