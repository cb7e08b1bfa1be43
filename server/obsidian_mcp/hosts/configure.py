"""Reading and changing hosts' configuration files: the one place that touches them."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from obsidian_mcp.hosts import jsonc
from obsidian_mcp.hosts.known import Host, is_ours
from obsidian_mcp.hosts.tree import Broken

LONGEST_LINE = 160
T = TypeVar("T")


class HostProblem(Exception):
    """A host that can't be configured; one line says why and what to do."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a file holds, and what it should. `before` is None where there is no file yet."""

    file: str
    before: bytes | None
    after: bytes

    @property
    def needed(self) -> bool:
        return (self.before or b"") != self.after

    def difference(self) -> list[str]:
        """What goes and what comes, and nothing of what stands around: it may be private."""
        old, new = (self.before or b"").decode("utf-8"), self.after.decode("utf-8")
        start = _shared(old, new)
        end = min(_shared(old[::-1], new[::-1]), len(old) - start, len(new) - start)
        gone, come = old[start : len(old) - end], new[start : len(new) - end]
        return [
            f"{sign} {line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + ' …'}"
            for sign, text in (("-", gone), ("+", come))
            for line in text.splitlines()
            if line.strip()
        ]


def _shared(one: str, other: str) -> int:
    """How many characters they begin with alike: by halves, because files can be large."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class Found:
    """How things stand with one host."""

    host: Host
    file: str | None
    installed: bool  # whether the host seems to be there at all
    entries: Mapping[str, Any]  # ours, by name
    problem: str = ""


def look(host: Host, environ: Mapping[str, str]) -> Found:
    file = host.file(environ)
    if file is None:
        return Found(host, None, False, {}, "the environment does not say where its configuration is")
    try:
        servers = _servers(host, _read(file) or b"")
    except HostProblem as problem:
        return Found(host, file, True, {}, str(problem))
    folder = os.path.dirname(file)
    everybodys = (environ.get("HOME"), environ.get("USERPROFILE"))
    installed = os.path.exists(file) or (folder not in everybodys and os.path.isdir(folder))
    return Found(host, file, installed, {name: entry for name, entry in servers.items() if _starts_us(entry)})


def installing(
    host: Host, environ: Mapping[str, str], name: str, command: Sequence[str], options: list[str] | None
) -> Change:
    """What has to change for the host to start this server. Nothing is written.

    Without options an entry of ours keeps those it has.
    """
    file, before, text, servers = _state(host, environ)
    there = servers.get(name)
    if name in servers and not _starts_us(there):
        raise HostProblem(
            f"{host.title} has another server called {name!r} in {file}. "
            "It was left alone: choose another name with --name, or remove it there."
        )
    entry = host.entry(command, options or [])
    if options is None and there is not None:
        words = there.get("args")
        old = [*words] if isinstance(words, list) else []
        entry["args"] = [*command[1:], *(old[2:] if old[:2] == ["-m", "obsidian_mcp"] else old)]
    return Change(
        file, before, _changed(host, file, lambda: jsonc.with_entry(text, host.section, name, entry, host.comments))
    )


def removing(host: Host, environ: Mapping[str, str], name: str) -> Change:
    """What has to change for the host to forget it."""
    file, before, text, servers = _state(host, environ)
    if name not in servers:
        ours = ", ".join(other for other, entry in servers.items() if _starts_us(entry))
        if ours:
            raise HostProblem(f"There is no server {name!r} in {file}. Ours there: {ours}; name one with --name.")
        return Change(file, before, before or b"")
    if not _starts_us(servers[name]):
        raise HostProblem(f"The server {name!r} of {host.title} is not this program, so it was left alone. See {file}.")
    return Change(
        file, before, _changed(host, file, lambda: jsonc.without_entry(text, host.section, name, host.comments))
    )


def carry_out(change: Change) -> str | None:
    """Write it, and return where the file as it was is kept."""
    file = os.path.realpath(change.file)  # a link into a dotfiles repository stays one
    made: list[str] = []
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        found = os.stat(file) if change.before is not None else None
        if found is not None and not (os.access(file, os.W_OK) and found.st_mode & 0o222):
            raise HostProblem(f"{change.file} is read-only, so it was left as it is. Make it writable first.")
        backup = None
        if change.before is not None:
            backup = _new_name(f"{file}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
            made.append(backup)
            _write(backup, change.before, found)
        fresh = _new_name(f"{file}.obsidian-mcp-new")
        made.append(fresh)
        _write(fresh, change.after, found)
        if _read(file) != change.before:
            raise HostProblem(f"{change.file} was changed by someone else meanwhile. Nothing was written. Try again.")
        os.replace(fresh, file)
    except OSError as error:
        _discard(made)
        raise HostProblem(f"{change.file} could not be written: {error.strerror}. It is as it was.") from None
    except HostProblem:
        _discard(made)
        raise
    return backup


def _discard(made: Sequence[str]) -> None:
    for name in made:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def _starts_us(entry: object) -> bool:
    """A command of our name may be a link to another program."""
    if not isinstance(entry, dict) or not is_ours(entry):
        return False
    return "\0" in entry["command"] or "node_modules" not in os.path.realpath(_bytes(entry["command"])).decode(
        "utf-8", "replace"
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _state(host: Host, environ: Mapping[str, str]) -> tuple[str, bytes | None, str, dict[str, Any]]:
    file = host.file(environ)
    if file is None:
        raise HostProblem(
            f"The environment does not say where {host.title} keeps its configuration: HOME, or on Windows APPDATA, "
            "is not set."
        )
    before = _read(file)
    servers = _servers(host, before or b"", file)
    return file, before, (before or b"").decode("utf-8"), servers


def _servers(host: Host, data: bytes, file: str = "") -> dict[str, Any]:
    return _understood(host, file, lambda: jsonc.section(data.decode("utf-8"), host.section, host.comments))


def _changed(host: Host, file: str, act: Callable[[], str]) -> bytes:
    return _understood(host, file, lambda: act().encode("utf-8"))


def _understood(host: Host, file: str, act: Callable[[], T]) -> T:
    where = f" {file}" if file else ""
    try:
        return act()
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except UnicodeEncodeError:
        raise HostProblem("A path that is not UTF-8 can't be written into a configuration. Rename it.") from None
    except Broken as broken:
        why = str(broken)
    raise HostProblem(
        f"The configuration of {host.title}{where} is broken ({why}). It was left as it is. Mend it, then try again."
    )


def _read(file: str) -> bytes | None:
    try:
        fd = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HostProblem(f"{file} could not be read: {error.strerror}.") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise HostProblem(f"{file} could not be read: it is not a regular file.")
    with os.fdopen(fd, "rb") as opened:
        return opened.read()


def _new_name(wanted: str) -> str:
    number, name = 1, wanted
    while os.path.lexists(name):
        number += 1
        name = f"{wanted}{number}"
    return name


def _write(file: str, data: bytes, like: os.stat_result | None) -> None:
    """A new file, never readable by more people than the one it stands for."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fd, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(fd)
    if like is None:
        return
    mode, made = stat.S_IMODE(like.st_mode), os.stat(file)
    if (made.st_uid, made.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.chown(file, like.st_uid, like.st_gid)
        except PermissionError:
            mode &= 0o700  # another group must not read what this one may
    os.chmod(file, mode)
