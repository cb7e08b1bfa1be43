"""Making the index, or bringing a large part of it up to date: in the background, in batches that are kept at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from obsidian_mcp import logs
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Failure
from obsidian_mcp.index.entries import INDEXED, entry_of
from obsidian_mcp.index.reading import Reading
from obsidian_mcp.index.store import Busy, Entry, Store, Unusable
from obsidian_mcp.vault.index import Disk, File

BATCH, BATCH_BYTES = 1000, 8 << 20
PATIENCE = 3600.0  # seconds
LONG_BUSY = 10.0  # seconds that another server's change is waited for, where nobody waits for an answer


class Builder:
    """One run over the files that the index does not have as they are."""

    def __init__(self, disk: Disk, file: str) -> None:
        self._disk = disk
        self._file = file
        self._may_go_on = threading.Event()
        self._may_go_on.set()
        self._held = 0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._done = self._all = 0
        self.unread: dict[str, tuple[int, str]] = {}  # files that can't be read: in which state, and why

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        with contextlib.suppress(RuntimeError, MemoryError):  # no further thread: then the notes are read each time
            self._thread.start()

    @contextlib.contextmanager
    def held_up(self) -> Iterator[None]:
        """While a call reads all notes itself, it gets the interpreter."""
        with self._lock:
            self._held += 1
            self._may_go_on.clear()
        try:
            yield
        finally:
            with self._lock:
                self._held -= 1
                if not self._held:
                    self._may_go_on.set()

    def told(self) -> str:
        return f"; the index has {self._done} of {self._all}" if self._all else ""

    def _run(self) -> None:
        try:
            self.build(CallContext(PATIENCE), lambda done, all: None)
        except (Failure, OSError) as problem:
            logs.log("warning", "the index could not be made", why=type(problem).__name__)
        except RuntimeError:  # the program is ending, and no thread begins any more
            if threading.main_thread().is_alive():
                raise

    def build(self, call: CallContext, report: Callable[[int, int], None]) -> bool:
        """Whether it is complete. Raises what the call raises."""
        store, began = Store(self._file, LONG_BUSY), time.perf_counter()
        try:
            if store.is_wasteful():
                store.clear()
            looked = time.time_ns()
            known = {path: (id, stamp) for path, id, stamp, _ in store.notes()}
            files, _ = self._disk.changed_files(INDEXED, {}, [])
            gone = known.keys() - {file.path for file in files}
            if gone:
                store.save([], [known[path][0] for path in gone])
            changed = [file for file in files if known.get(file.path, (0, None))[1] != file.stamp]
            self._all = len(changed)
            report(0, self._all)
            for count in self._saved(store, self._batches(changed, looked, call)):
                self._done += count
                report(self._done, self._all)
            took = round((time.perf_counter() - began) * 1000)
            logs.log("info", "index made", notes=self._done, bytes=store.size, ms=took)
            return True
        except (Busy, Unusable) as problem:
            logs.log("info", "no index", why=type(problem).__name__)
            return False
        finally:
            store.close()

    def _saved(self, store: Store, batches: Iterator[list[Entry]]) -> Iterator[int]:
        """Each batch is saved while the next is read: SQLite works without the GIL."""
        from concurrent.futures import Future, ThreadPoolExecutor

        with ThreadPoolExecutor(1) as saver:
            saving: Future[int] | None = None
            count = 0
            for batch in batches:
                if saving is not None:
                    saving.result()
                    yield count
                saving, count = saver.submit(store.save, batch, []), len(batch)
            if saving is not None:
                saving.result()
                yield count

    def _batches(self, files: list[File], looked: int, call: CallContext) -> Iterator[list[Entry]]:
        batch: list[Entry] = []
        size = 0
        reading = Reading(self._disk)
        for file, data in reading.read(files, call):
            self._may_go_on.wait()
            batch.append(entry_of(file, data, looked))
            size += len(data)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch
        stamps = {file.path: file.stamp for file in files}
        self.unread = {path: (stamps[path], why) for path, why in reading.unread}
