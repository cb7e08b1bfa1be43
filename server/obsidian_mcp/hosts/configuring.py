"""Reading and changing hosts' configuration files: the one place that touches them."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from obsidian_mcp.hosts import jsonc
from obsidian_mcp.hosts.known import Host, is_ours

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
        """The lines that go and come, without what stands around them: it may be private."""
        old, new = ((data or b"").decode("utf-8").splitlines() for data in (self.before, self.after))
        lines = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
        return [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …" for line in lines if line[0] in "+-"]


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
    return Found(host, file, installed, {name: entry for name, entry in servers.items() if is_ours(entry)})


def installing(host: Host, environ: Mapping[str, str], name: str, command: Sequence[str], options: list[str]) -> Change:
    """What has to change for the host to start this server. Nothing is written."""
    file, before, text, there = _state(host, environ, name)
    if there is not None and not is_ours(there):
        raise HostProblem(
            f"{host.title} has another server called {name!r} in {file}. "
            "It was left alone: choose another name with --name, or remove it there."
        )
    entry = _merged(there, host.entry(command, options))
    after = _understood(host, file, lambda: jsonc.with_entry(text, host.section, name, entry, host.comments))
    return Change(file, before, after.encode())


def removing(host: Host, environ: Mapping[str, str], name: str) -> Change:
    """What has to change for the host to forget it."""
    file, before, text, there = _state(host, environ, name)
    if there is None:
        return Change(file, before, before or b"")
    if not is_ours(there):
        raise HostProblem(f"The server {name!r} of {host.title} is not this program, so it was left alone. See {file}.")
    after = _understood(host, file, lambda: jsonc.without_entry(text, host.section, name, host.comments))
    return Change(file, before, after.encode())


def carry_out(change: Change) -> str | None:
    """Write it, and return where the file as it was is kept."""
    file = os.path.realpath(change.file)  # a link into somebody's dotfiles stays one
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        mode = stat.S_IMODE(os.stat(file).st_mode) if change.before is not None else 0o600
        backup = None
        if change.before is not None:
            backup = _new_name(f"{file}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
            _write(backup, change.before, mode)
        fresh = _new_name(f"{file}.obsidian-mcp-new")
        _write(fresh, change.after, mode)
        if _read(file) != change.before:
            os.unlink(fresh)
            raise HostProblem(f"{change.file} was changed by someone else meanwhile. Nothing was written. Try again.")
        os.replace(fresh, file)
    except OSError as error:
        raise HostProblem(f"{change.file} could not be written: {error.strerror}. It is as it was.") from None
    return backup


def _state(host: Host, environ: Mapping[str, str], name: str) -> tuple[str, bytes | None, str, Any]:
    file = host.file(environ)
    if file is None:
        raise HostProblem(f"The environment does not say where {host.title} keeps its configuration.")
    before = _read(file)
    there = _servers(host, before or b"", file).get(name)
    return file, before, (before or b"").decode("utf-8"), there


def _merged(there: Any, entry: dict[str, Any]) -> dict[str, Any]:
    """What the user has added to our entry stays, such as `env`."""
    return {**there, **entry} if isinstance(there, dict) else entry


def _servers(host: Host, data: bytes, file: str = "") -> dict[str, Any]:
    def servers() -> dict[str, Any]:
        text = data.decode("utf-8")
        whole = jsonc.parse(text, host.comments).value if text.strip("\ufeff \t\r\n") else {}
        if not isinstance(whole, dict):
            raise jsonc.Broken("it is not an object")
        found = whole.get(host.section, {})
        if not isinstance(found, dict):
            raise jsonc.Broken(f'"{host.section}" is not an object')
        return found

    return _understood(host, file, servers)


def _understood(host: Host, file: str, act: Callable[[], T]) -> T:
    where = f" {file}" if file else ""
    try:
        return act()
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    except jsonc.Broken as broken:
        why = str(broken)
    raise HostProblem(
        f"The configuration of {host.title}{where} is broken ({why}). It was left as it is. Mend it, then try again."
    )


def _read(file: str) -> bytes | None:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HostProblem(f"{file} could not be read: {error.strerror}.") from None


def _new_name(wanted: str) -> str:
    number, name = 1, wanted
    while os.path.lexists(name):
        number += 1
        name = f"{wanted}{number}"
    return name


def _write(file: str, data: bytes, mode: int) -> None:
    """A new file, never readable by more people than the one it stands for."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode & 0o777)
    try:
        with contextlib.closing(os.fdopen(fd, "wb")) as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError:
        os.unlink(file)
        raise
    os.chmod(file, mode)
