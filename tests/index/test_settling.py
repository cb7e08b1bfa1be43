"""File systems that keep time in steps: what is made within the step of a look is seen by the next one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.index.mentions import Mentions
from obsidian_mcp.index.names import SECOND, Names, is_settled
from obsidian_mcp.vault.index import Closed, File, Listing, Stamps, Survey, stamp_in

STEPS = {"FAT": 2 * SECOND, "HFS+": SECOND, "exFAT": SECOND // 100, "ext4": 4_000_000}


class Stepping:
    """A folder whose times are those of a file system with such a step, on a clock that the test turns."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.now = 1_000 * SECOND + 1
        self.texts: dict[str, bytes] = {}
        self.times: dict[str, int] = {}
        self.looks = 0
        self._changed = 0

    def put(self, name: str, text: bytes) -> None:
        if name not in self.texts:
            self._changed = self._stepped()
        self.texts[name], self.times[name] = text, self._stepped()

    def _stepped(self) -> int:
        return self.now - self.now % self.step

    def changed(self, folder: str) -> int:
        return self._changed

    def listing(self, folder: str) -> Listing:
        self.looks += 1
        return Listing(self._changed, tuple(self.texts), ())

    def stamp(self, path: str) -> int | None:
        return hash((self.times[path], len(self.texts[path])))

    def read(self, path: str) -> bytes:
        return self.texts[path]

    def survey(self) -> Survey:
        return Survey(self.changed_files((), {}, [])[0], [], [])

    def changed_files(
        self, endings: tuple[str, ...], known: Stamps, closed: list[tuple[str, Closed]]
    ) -> tuple[list[File], int]:
        files = [
            File(path, self.stamp(path) or 0, self.times[path], len(text), self.times[path])
            for path, text in self.texts.items()
        ]
        changed = [file for file in files if stamp_in(known, file.path) != file.stamp]
        return changed, len(files) - len(changed)

    def read_each(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes | str | None]]:
        for path in paths:
            yield path, self.texts.get(path)

    def read_stamped(self, paths: Iterable[str]) -> Iterator[tuple[str, int, int, bytes]]:
        for path in paths:
            yield path, hash((self.times[path], len(self.texts[path]))), self.times[path], self.texts[path]


@pytest.fixture(params=STEPS)
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Stepping:
    disk = Stepping(STEPS[request.param])
    monkeypatch.setattr(time, "time_ns", lambda: disk.now)
    return disk


def test_a_note_made_within_the_step_of_a_look_is_seen(disk: Stepping) -> None:
    names = Names(disk)
    disk.put("A.md", b"a")
    assert names.paths(CallContext()) == ["A.md"]
    disk.now += disk.step // 2
    disk.put("B.md", b"b")
    assert sorted(names.paths(CallContext())) == ["A.md", "B.md"]


def test_a_link_written_within_the_step_of_a_look_is_seen(disk: Stepping) -> None:
    mentions = Mentions(disk, Names(disk))
    disk.put("A.md", b"[[One]]")
    assert [path for path, _ in mentions.mentioning({"one"}, (), CallContext())] == ["A.md"]
    disk.now += disk.step // 2
    disk.put("A.md", b"[[Two]]")
    assert [path for path, _ in mentions.mentioning({"two"}, (), CallContext())] == ["A.md"]


def test_a_folder_that_has_settled_is_not_listed_again(disk: Stepping) -> None:
    names = Names(disk)
    disk.put("A.md", b"a")
    disk.now += 3 * SECOND
    assert [names.paths(CallContext()) for _ in range(3)] == [["A.md"]] * 3
    assert disk.looks == 1


def test_a_time_with_a_fraction_settles_sooner() -> None:
    assert is_settled(5 * SECOND + 1, 5 * SECOND + SECOND // 10)
    assert not is_settled(5 * SECOND, 5 * SECOND + SECOND)
    assert is_settled(5 * SECOND, 8 * SECOND)
