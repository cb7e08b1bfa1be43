"""What must be kept outside the vault: the lock between servers, and what is under way: a change set, or one write.

One folder per vault, below the user's state folder, named by a hash of the
vault's real path. Starting a server makes none of it; the first write does.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obsidian_mcp import logs, long_paths
from obsidian_mcp.call import CallContext, cancelled
from obsidian_mcp.errors import FileFailed, TimedOut
from obsidian_mcp.patience import Patience
from obsidian_mcp.slot import Slot, flush, unusable

if TYPE_CHECKING:
    from filelock import FileLock

BETWEEN_TRIES = 0.02  # seconds
FOLDER_PATIENCE = 10.0  # seconds that the folder's lock is waited for since it was last had
FOLDER_AGAIN = 1.0  # seconds that each call waits for it after that


def state_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where this user's programs keep their state; the temporary folder if nowhere else."""
    return _own_folder(environ, platform) or _last_resort()


def _own_folder(environ: Mapping[str, str], platform: str = sys.platform) -> Path | None:
    home = environ.get("HOME", "")
    if platform == "win32" and environ.get("LOCALAPPDATA"):
        return Path(environ["LOCALAPPDATA"], "obsidian-mcp")
    if platform == "darwin" and home:
        return Path(home, "Library", "Application Support", "obsidian-mcp")
    if os.path.isabs(environ.get("XDG_STATE_HOME", "")):
        return Path(environ["XDG_STATE_HOME"], "obsidian-mcp")
    return Path(home, ".local", "state", "obsidian-mcp") if home else None


def _last_resort() -> Path:
    """One per user: the temporary folder is shared."""
    return Path(tempfile.gettempdir(), f"obsidian-mcp-{_user()}")


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


class Taken(Exception):
    """Another server has the lock."""


class FolderLock:
    """A lock on a folder itself, which makes no file. Where the system has none, every server gets it.

    Another user who may read the folder can hold it too, for ever. A server of ours has it for the length of one
    change, so it is given up after the patience: see specs/embedded-vault.md for what that leaves unprotected.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fd: int | None = None
        self._in_vain = 0  # tries of waiting calls since it was last had
        self._told = False

    def acquire(self, timeout: float) -> None:
        """At once or not at all. Raises Taken if another server has it."""
        if sys.platform == "win32":
            return
        import fcntl

        try:
            self._fd = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise Taken from None
        except OSError:  # a file system whose folders can't be locked, or a folder that can't be used for anything
            self.release()
        self._in_vain, self._told = 0, False

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def gives_up(self, tries: int) -> bool:
        """After each try in vain, with their number in this call. Logged once, until it is had again."""
        self._in_vain += 1
        if self._in_vain * BETWEEN_TRIES < FOLDER_PATIENCE or tries * BETWEEN_TRIES < FOLDER_AGAIN:
            return False
        if not self._told:
            why = f"another program has held its lock for {FOLDER_PATIENCE:g} s or more"
            logs.log("warning", "writing without the lock on the vault's folder", folder=self._folder, why=why)
            self._told = True
        return True


class State:
    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self._root = long_paths.real(root)
        known = os.path.normcase(self._root)  # on Windows one folder may be written in several ways
        name = hashlib.sha256(known.encode("utf-8", "surrogateescape")).hexdigest()[:24]
        self._folder = state_folder(environ) / name
        self._is_shared = _own_folder(environ) is None
        self._journal = self._folder / "transaction.json"
        self.history_file = str(self._folder / "history.sqlite")  # of the vault's changes
        self.slot = Slot(self._folder / "write.record")
        self._folder_lock = FolderLock(self._root)

    @contextlib.contextmanager
    def locked(self, call: CallContext, doing: str) -> Iterator[None]:
        """Alone among all servers on this vault. The system frees the locks of one that dies."""
        with contextlib.ExitStack() as held:
            for lock in self._locks():
                if self._waited_for(lock, call, doing):
                    held.callback(lock.release)
            yield

    def _waited_for(self, lock: FileLock | FolderLock, call: CallContext, doing: str) -> bool:
        """Whether it was had. Only the folder's is ever done without: the file's is held by then."""
        for tries in itertools.count(1):
            if self._took(lock):
                return True
            if call.cancelled:
                raise cancelled()
            if isinstance(lock, FolderLock) and lock.gives_up(tries):
                return False
            if call.remaining <= 0:
                raise TimedOut(
                    f"Another server was writing to this vault for {call.limit:g} s, so {doing} was not begun.",
                    "Try again.",
                )
            time.sleep(BETWEEN_TRIES)
        raise AssertionError("tries have no end")

    @contextlib.contextmanager
    def locked_if_free(self) -> Iterator[bool]:
        """Alone as above, but without waiting; whether it was free."""
        with contextlib.ExitStack() as held:
            for lock in self._locks():
                try:
                    if not self._took(lock):
                        break
                except FileFailed:
                    break
                held.callback(lock.release)
            else:
                yield True
                return
            yield False

    def _locks(self) -> tuple[FileLock, FolderLock]:
        """A file's, which every system has; and the vault's own, for servers that keep their state elsewhere."""
        from filelock import FileLock  # not before the first write: it is slow to load

        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._is_shared and os.stat(self._folder.parent).st_uid != _user():
                raise PermissionError(errno.EACCES, "it belongs to another user")
        except OSError as error:
            raise self._unusable(error) from None
        return FileLock(str(self._folder / "lock"), thread_local=False), self._folder_lock

    def _took(self, lock: FileLock | FolderLock) -> bool:
        from filelock import Timeout

        try:
            lock.acquire(timeout=0)
        except (Taken, Timeout):
            return False
        except OSError as error:
            raise self._unusable(error) from None
        return True

    def _unusable(self, error: OSError) -> FileFailed:
        return unusable(self._folder, error)

    @property
    def index_file(self) -> str | None:
        """Where an index of the notes may be kept; nowhere if the folder is another user's."""
        if self._is_shared:
            try:
                if os.stat(self._folder.parent).st_uid != _user():
                    return None
            except OSError:
                pass  # it will be made, or not
        return str(self._folder / "index.sqlite")

    @property
    def folder(self) -> str:
        return str(self._folder)

    @property
    def usable(self) -> bool:
        """Whether it can be written, or made; nothing is tried."""
        there = self._folder
        while not os.path.lexists(there) and there != there.parent:
            there = there.parent
        return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)

    @property
    def has_journal(self) -> bool:
        try:
            os.stat(self._journal)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._unusable(error) from None
        return True

    def write_journal(self, entry: Mapping[str, Any]) -> None:
        """Whole or not at all, and on disk before the change begins."""
        temporary = self._journal.with_suffix(".new")
        try:
            with open(temporary, "w", encoding="ascii") as file:
                file.write(json.dumps(entry))
                file.flush()
                flush(file.fileno(), new=True)
            Patience().run(lambda: os.replace(temporary, self._journal))
        except OSError as error:
            raise self._unusable(error) from None

    def read_journal(self) -> dict[str, Any] | None:
        try:
            entry = json.loads(self._journal.read_text(encoding="ascii"))
        except (ValueError, RecursionError):
            return None
        except OSError as error:
            raise self._unusable(error) from None
        return entry if isinstance(entry, dict) else None

    def clear_journal(self) -> None:
        try:
            Patience().run(lambda: self._journal.unlink(missing_ok=True))
        except OSError as error:
            raise self._unusable(error) from None
