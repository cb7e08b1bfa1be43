"""What has to change in hosts' configuration files. Nothing is written here: `writing` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from obsidian_mcp.hosts import jsonc, options, writing
from obsidian_mcp.hosts.known import Host, is_ours
from obsidian_mcp.hosts.tree import Broken
from obsidian_mcp.hosts.writing import Change as Change
from obsidian_mcp.hosts.writing import HostProblem as HostProblem
from obsidian_mcp.hosts.writing import carry_out as carry_out

T = TypeVar("T")
SHOWN = ("type", "source", "command", "args")  # what of an entry is surely ours, and not a person's secret


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
        servers = _servers(host, writing.read(file) or b"")
    except HostProblem as problem:
        return Found(host, file, True, {}, str(problem))
    folder = os.path.dirname(file)
    everybodys = (environ.get("HOME"), environ.get("USERPROFILE"))
    installed = os.path.exists(file) or (folder not in everybodys and os.path.isdir(folder))
    return Found(host, file, installed, {name: entry for name, entry in servers.items() if _starts_us(entry)})


@dataclass(frozen=True, slots=True)
class _State:
    """A host's file as it is."""

    host: Host
    file: str
    before: bytes | None
    servers: Mapping[str, Any]

    @property
    def text(self) -> str:
        return (self.before or b"").decode("utf-8")

    @property
    def ours(self) -> dict[str, Any]:
        return {name: entry for name, entry in self.servers.items() if _starts_us(entry)}

    def with_entries(self, text: str, entries: Mapping[str, Any]) -> bytes:
        def act() -> str:
            made = text
            for name, entry in entries.items():
                made = jsonc.with_entry(made, self.host.section, name, entry, self.host.comments)
            return made

        return _understood(self.host, self.file, lambda: act().encode("utf-8"))

    def is_from(self, original: bytes | None) -> bool:
        """Whether the file is that one with our entries put in, and nothing else was changed since."""
        try:
            return original is not None and self.with_entries(original.decode("utf-8"), self.ours) == self.before
        except (HostProblem, UnicodeDecodeError):
            return False


def installing(
    host: Host,
    environ: Mapping[str, str],
    name: str,
    command: Sequence[str],
    words: Sequence[str] | None,
    replace: bool = False,
) -> Change:
    """What has to change for the host to start this server.

    An entry of ours keeps its options and gains those that are given, a further vault too; `replace` begins anew.
    """
    it = _state(host, environ)
    there = it.servers.get(name)
    if name in it.servers and not _starts_us(there):
        raise HostProblem(
            f"{host.title} has another server called {name!r} in {it.file}. "
            "It was left alone: choose another name with --name, or remove it there."
        )
    entry = host.entry(command, options.without_false(words or []))
    if there is not None and not replace:
        kept = options.added(there, words or [], environ)
        entry["args"] = [*command[1:], *kept] if kept is not None else entry["args"]
    after = it.with_entries(it.text, {name: entry})
    own = _own_words(host, [*it.ours.items(), (name, entry)])
    return Change(it.file, it.before, after, own, None if after == it.before else _to_be_kept(it))


def _to_be_kept(it: _State) -> bytes | None:
    """One backup is enough, as long as it is the file without us."""
    if it.before is None or it.is_from(writing.traces(it.file).original):
        return None
    return it.before


def removing(host: Host, environ: Mapping[str, str], name: str) -> Change:
    """What has to change for the host to forget it. With our last entry goes all that installing has made."""
    it = _state(host, environ)
    if name not in it.servers:
        if it.ours:
            there = ", ".join(it.ours)
            raise HostProblem(f"There is no server {name!r} in {it.file}. Ours there: {there}; name one with --name.")
        return Change(it.file, it.before, it.before, last=True)
    if not _starts_us(it.servers[name]):
        raise HostProblem(
            f"The server {name!r} of {host.title} is not this program, so it was left alone. See {it.file}."
        )
    own = _own_words(host, it.ours.items())
    if len(it.ours) > 1:
        return Change(it.file, it.before, _without(it, name).encode("utf-8"), own)
    return Change(it.file, it.before, _as_it_was(it, name), own, last=True)


def _as_it_was(it: _State, name: str) -> bytes | None:
    """The file before us, byte for byte, where nothing else was changed since; else what is left without the entry."""
    left = writing.traces(it.file)
    if it.is_from(left.original):
        return left.backup
    text = _without(it, name)
    if left.original is not None and it.host.section not in _members(it.host, left.original):
        text = jsonc.without_empty(text, it.host.section, it.host.comments)
    is_nothing = "".join(text.split()).strip("\ufeff") in ("", "{}")
    return None if is_nothing and left.made is not None else text.encode("utf-8")


def _without(it: _State, name: str) -> str:
    return _understood(it.host, it.file, lambda: jsonc.without_entry(it.text, it.host.section, name, it.host.comments))


def _members(host: Host, data: bytes) -> Mapping[str, Any]:
    try:
        return jsonc.members(data.decode("utf-8"), host.comments)
    except (Broken, UnicodeDecodeError):
        return {}


def _own_words(host: Host, entries: Iterable[tuple[str, Any]]) -> frozenset[str]:
    """The texts that an entry of ours may show; not its environment, where a person may keep a key."""
    found = {host.section, *SHOWN}
    for name, entry in entries:
        found.add(name)
        for value in (entry.get(key) for key in SHOWN) if isinstance(entry, dict) else ():
            found.update(each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))
    return frozenset(found)


def _starts_us(entry: object) -> bool:
    """A command of our name may be a link to another program."""
    if not isinstance(entry, dict) or not is_ours(entry):
        return False
    return "\0" in entry["command"] or "node_modules" not in os.path.realpath(_bytes(entry["command"])).decode(
        "utf-8", "replace"
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _state(host: Host, environ: Mapping[str, str]) -> _State:
    file = host.file(environ)
    if file is None:
        raise HostProblem(
            f"The environment does not say where {host.title} keeps its configuration: HOME, or on Windows APPDATA, "
            "is not set."
        )
    before = writing.read(file)
    return _State(host, file, before, _servers(host, before or b"", file))


def _servers(host: Host, data: bytes, file: str = "") -> dict[str, Any]:
    return _understood(host, file, lambda: jsonc.section(data.decode("utf-8"), host.section, host.comments))


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
        f"The configuration of {host.title}{where} is broken ({why}). It was left as it is. Fix it, then try again."
    )
