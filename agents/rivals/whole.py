"""What an agent does where a server has no tool of its own for it: reads the note, and writes what differs.

`WholeNotes` is for servers that write whole notes alone, `Patching` for those that replace a text in one. A model
would do the same; it costs what the notes are long.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from agents.calls import Call, Plan, Stopped, Unable, one
from agents.mending import LIKE, likeness
from agents.ours import paths_in
from agents.seen import Seen
from agents.server import Properties, Server
from agents.session import Process
from bench.rivals import Rival, filled

HEADING = re.compile(r"^(#+)[ \t]+(.+?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
ALIKE = str.maketrans("“”‘’–—", "\"\"''--")


class WholeNotes(Server):
    rival: Rival
    env: ClassVar[Mapping[str, str]] = {}

    def start(self, vault: Path, environment: Mapping[str, str], *options: str) -> Process:
        if options:
            raise Unable("it has no such option")
        own = filled({**self.rival.env, **self.env}, vault=str(vault), home=environment["HOME"])
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        words = self.rival.command(vault)
        return subprocess.Popen(words, env={**environment, **own}, stdin=pipe, stdout=pipe, stderr=quiet)

    # What each server has

    def text(self, path: str) -> Plan[str]:
        raise Unable

    def write(self, path: str, text: str) -> Plan[Seen]:
        raise Unable

    def found(self, words: str) -> Plan[list[str]]:
        """The notes that have these words."""
        raise Unable

    def relocate(self, path: str, to: str) -> Plan[Seen]:
        raise Unable

    # What follows from that

    def read(self, path: str) -> Plan[Seen]:
        return Seen((yield from self.text(path)))

    def edit(self, path: str, change: Callable[[str], str]) -> Plan[Seen]:
        text = yield from self.text(path)
        return (yield from self.write(path, change(text)))

    def section(self, path: str, heading: str) -> Plan[Seen]:
        text = yield from self.text(path)
        begin, end = bounds(text, heading, self.memory.get("request", ""))
        return Seen(text[begin:end])

    def due_tasks(self, path: str, before: str) -> Plan[Seen]:
        text = yield from self.text(path)
        return Seen("\n".join(line for line in text.splitlines() if "- [ ]" in line and _day(line) < before))

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        return self.edit(path, lambda note: with_line(note, section, text, self.memory.get("request", "")))

    def replace(self, path: str, old: str, new: str, section: str = "", before: str = "") -> Plan[Seen]:
        request = self.memory.get("request", "")
        return self.edit(path, lambda note: replaced(note, before + old, before + new, request))

    def replace_section(self, path: str, heading: str, old: str, new: str) -> Plan[Seen]:
        return self.replace(path, old, new)

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        return self.edit(path, lambda note: re.sub(rf"(?m)^{name}:.*$", f"{name}: {value}", note, count=1))

    def tick(self, path: str, task: str) -> Plan[Seen]:
        return self.replace(path, f"- [ ] {task}\n", f"- [x] {task}\n")

    def overwrite(self, path: str, text: str) -> Plan[Seen]:
        return self.write(path, text)

    def rename(self, path: str, name: str) -> Plan[Seen]:
        return self.relocate(path, str(PurePosixPath(path).with_name(f"{name}.md")))

    def move(self, paths: Sequence[str], folder: str, whole: str = "") -> Plan[Seen]:
        last = Seen("")
        for path in paths:
            inner = path if whole else PurePosixPath(path).name
            last = yield from self.relocate(path, f"{folder}/{inner}")
        return last

    def rename_tag(self, old: str, new: str) -> Plan[Seen]:
        return self.everywhere(old, f"#{old}", f"#{new}")

    def replace_everywhere(self, old: str, new: str, places: int) -> Plan[Seen]:
        return self.everywhere(old, old, new)

    def everywhere(self, words: str, old: str, new: str) -> Plan[Seen]:
        last = Seen("")
        for path in (yield from self.found(words)):
            last = yield from self.edit(path, lambda note: note.replace(old, new))
        return last


class Patching(WholeNotes):
    """With a tool that replaces a text which stands once."""

    def patch(self, path: str, old: str, new: str) -> Call:
        raise Unable

    def replace(self, path: str, old: str, new: str, section: str = "", before: str = "") -> Plan[Seen]:
        """If it isn't there, the agent reads the note and gives the text as it stands there."""
        call = self.patch(path, before + old, before + new)
        if "alone" in self.memory:
            return (yield from one(call))
        tried = yield from one(Call(call.tool, call.arguments, changes=True, may_fail=True))
        if not tried.is_error:
            return tried
        text = yield from self.text(path)
        as_it_stands = like(text, before + old)
        if not as_it_stands:
            raise Stopped(tried.text)
        typed = (before + new).replace("\n", "\r\n") if "\r\n" in as_it_stands else before + new
        return (yield from one(self.patch(path, as_it_stands, typed)))

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        part = (yield from self.section(path, section)).text if section else (yield from self.text(path))
        last = part.rstrip().splitlines()[-1]
        return (yield from one(self.patch(path, last, f"{last}\n{text}")))

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        text = yield from self.text(path)
        line = re.search(rf"(?m)^{name}:.*$", text)
        if line is None:
            raise Stopped(f"the text that was read has no {name}")
        return (yield from one(self.patch(path, line[0], f"{name}: {value}")))

    def tick(self, path: str, task: str) -> Plan[Seen]:
        return self.replace(path, f"- [ ] {task}", f"- [x] {task}")

    def everywhere(self, words: str, old: str, new: str) -> Plan[Seen]:
        last = Seen("")
        for path in (yield from self.found(words)):
            text = yield from self.text(path)
            for line in [line for line in text.splitlines() if old in line]:
                last = yield from one(self.patch(path, line, line.replace(old, new)))
        return last


Heading = tuple[int, int, str]  # where it is, its level, its text


def bounds(text: str, heading: str, request: str = "") -> tuple[int, int]:
    """Of a section with its heading. Raises Stopped if there is none."""
    plain = FENCE.sub(lambda fence: " " * len(fence[0]), text)
    marks = [(found.start(), len(found[1]), found[2]) for found in HEADING.finditer(plain)]
    number = pick(marks, heading, request)
    start, level, _ = marks[number]
    ends = [at for at, other, _ in marks[number + 1 :] if other <= level]
    return start, ends[0] if ends else len(text)


def pick(marks: Sequence[Heading], heading: str, request: str) -> int:
    """The heading that a model would take: the one of that name under what the request speaks of, else the nearest."""
    words = set(re.findall(r"\w+", request.lower()))
    found = [number for number, (_, _, title) in enumerate(marks) if title == heading]
    found = found or [number for number, (_, _, title) in enumerate(marks) if likeness(title, heading) >= LIKE]
    if not found:
        raise Stopped(f"there is no heading {heading}")
    return max(found, key=lambda number: _parent(marks, number).lower() in words)


def _parent(marks: Sequence[Heading], number: int) -> str:
    level = marks[number][1]
    return next((title for _, other, title in reversed(marks[:number]) if other < level), "")


def with_line(note: str, section: str, line: str, request: str = "") -> str:
    begin, end = bounds(note, section, request) if section else (0, len(note))
    part = note[begin:end].rstrip()
    return f"{note[:begin]}{part}\n{line}{note[begin + len(part) : end] or chr(10)}{note[end:]}"


def replaced(note: str, old: str, new: str, request: str = "") -> str:
    """As an agent does that has the note before it: it sees which of several is meant, and what the text is now."""
    begin, end = 0, len(note)
    if note.count(old) > 1:
        named = [found[2] for found in HEADING.finditer(note) if found[2].lower() in request.lower()]
        begin, end = bounds(note, named[0]) if named else (0, 0)
    as_it_stands = like(note[begin:end], old) or nearest(note, old)
    if not as_it_stands:
        raise Stopped("the text is not there, or not once")
    typed = new.replace("\n", "\r\n") if "\r\n" in as_it_stands else new
    return note[:begin] + note[begin:end].replace(as_it_stands, typed) + note[end:]


def nearest(note: str, wanted: str) -> str | None:
    lines = [line for line in note.splitlines() if likeness(line, wanted) >= 0.9]
    return lines[0] if len(lines) == 1 else None


def like(note: str, wanted: str) -> str | None:
    """The one place that differs in quotes, dashes and line ends alone, as it stands there."""
    pattern = "".join("\r?\n" if each == "\n" else re.escape(each) for each in wanted.translate(ALIKE))
    found = [match.span() for match in re.finditer(pattern, note.translate(ALIKE))]
    return note[slice(*found[0])] if len(found) == 1 else None


def front(text: str) -> Properties:
    head = text.partition("---\n")[2].partition("\n---")[0]
    return dict(re.findall(r"(?m)^(\w+): (.+)$", head))


def chosen_by_reading(
    server: WholeNotes, paths: Sequence[str], wanted: Callable[[Properties], bool]
) -> Plan[list[str]]:
    kept = []
    for path in paths:
        text = yield from server.text(path)
        if wanted(front(text)):
            kept.append(path)
    return kept


def _day(line: str) -> str:
    found = re.search(r"\d{4}-\d\d-\d\d", line)
    return found[0] if found else "9"


def known(seen: Seen) -> list[str]:
    """The notes that a list names, not those that its passages link to."""
    found = [path for path in _named(seen.data) if path.endswith(".md")]
    return list(dict.fromkeys(found)) or paths_in(seen)


def _named(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value[key] for key in ("p", "path", "source_path") if isinstance(value.get(key), str))
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _named(inner)
