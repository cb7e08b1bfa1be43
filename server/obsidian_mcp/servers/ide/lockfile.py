"""How a door is found: Claude Code's lock file, and a record of our own beside the vault's other state.

The record is what makes the rest safe. Its lock is the system's, so it is free
as soon as the process is gone, however it went; and it holds the token, by
which a lock file is known to be ours before it is removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from obsidian_mcp.servers.ide import messages
from obsidian_mcp.state import State, state_folder


class Unannounced(Exception):
    """The door can't be made known; one line says why."""


@dataclass(frozen=True, slots=True)
class Door:
    """One that is, or was, open."""

    port: int
    token: str
    folder: str
    file: str  # Claude Code's


def claude_folder(environ: Mapping[str, str]) -> Path:
    """Where Claude Code looks for IDEs."""
    named = environ.get("CLAUDE_CONFIG_DIR")
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not named and not home:
        raise Unannounced("no home folder is known in which Claude Code would look; set HOME or CLAUDE_CONFIG_DIR")
    return Path(os.path.abspath(named or os.path.join(home or "", ".claude")), "ide")


def is_taken(environ: Mapping[str, str], port: int) -> bool:
    """Whether a lock file of that name is there: another program's, which may be alive or not."""
    return os.path.lexists(claude_folder(environ) / f"{port}.lock")


@contextlib.contextmanager
def announced(environ: Mapping[str, str], folder: str, port: int, token: str) -> Iterator[Door]:
    """Known from here to the end. The door's socket must be bound already, and not yet answer."""
    place = claude_folder(environ)
    door = Door(port, token, folder, str(place / f"{port}.lock"))
    record = Path(State(folder, environ).folder, f"ide-{port}.json")
    alive = FileLock(str(record.with_suffix(".alive")), thread_local=False)
    try:
        try:
            record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            alive.acquire(timeout=0)
            _write(record, {"port": port, "token": token, "folder": folder, "file": door.file})
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make_private(place)
            _write(Path(door.file), messages.lock(os.getpid(), folder, token, port, sys.platform == "win32"))
        except (OSError, Timeout) as error:
            why = error.strerror if isinstance(error, OSError) else "another door has that port"
            raise Unannounced(f"the lock file {door.file} cannot be made: {why}") from None
        yield door
    finally:
        _forget(record, alive, door)


def sweep(environ: Mapping[str, str], folder: str) -> None:
    """Clear away what doors of ours to this vault have left that were killed."""
    for record in Path(State(folder, environ).folder).glob("ide-*.json"):
        alive = FileLock(str(record.with_suffix(".alive")), thread_local=False)
        try:
            alive.acquire(timeout=0)
        except (OSError, Timeout):
            continue  # it lives
        door = _read(record)
        if door is None:
            _remove(record)
            alive.release()
        else:
            _forget(record, alive, door)


def doors(environ: Mapping[str, str]) -> list[Door]:
    """Those of ours that are open, to whichever vault."""
    found = []
    for record in sorted(state_folder(environ).glob("*/ide-*.json")):
        alive = FileLock(str(record.with_suffix(".alive")), thread_local=False)
        try:
            alive.acquire(timeout=0)
            alive.release()
        except (OSError, Timeout):
            door = _read(record)
            if door is not None:
                found.append(door)
    return found


def _forget(record: Path, alive: FileLock, door: Door) -> None:
    lock = Path(door.file)
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(lock.read_bytes())
        if isinstance(found, dict) and found.get("authToken") == door.token:
            os.unlink(lock)
    _remove(record)
    if alive.is_locked:
        alive.release()
        _remove(Path(alive.lock_file))


def _read(record: Path) -> Door | None:
    try:
        found = json.loads(record.read_bytes())
        return Door(int(found["port"]), str(found["token"]), str(found["folder"]), str(found["file"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def _write(file: Path, value: dict[str, Any]) -> None:
    """Whole or not at all, and for this user alone from its first moment."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}.new")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(fd, "wb") as out:
            out.write(json.dumps(value).encode())
        os.replace(temporary, file)
    except BaseException:
        _remove(temporary)
        raise


def _make_private(folder: Path) -> None:
    """The tokens in it are keys."""
    mode = stat.S_IMODE(folder.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        folder.chmod(0o700)


def _remove(file: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(file)
