"""mcpvault, by its best tool for each thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.calls import Call, Plan, ask, change, one
from agents.rivals.whole import Patching, known, pick
from agents.seen import Seen
from agents.server import Properties
from bench.quality import KNOWN


class McpVault(Patching):
    name = "mcpvault"
    rival = KNOWN["mcpvault"]

    def text(self, path: str) -> Plan[str]:
        found = yield from ask("read_note", path=path)
        return str(found.value("content") or "")

    def write(self, path: str, text: str) -> Plan[Seen]:
        return change("write_note", path=path, content=text)

    def patch(self, path: str, old: str, new: str) -> Call:
        return Call("patch_note", {"path": path, "oldString": old, "newString": new}, changes=True)

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        return ask("search_notes", query=query, limit=limit)

    def found(self, words: str) -> Plan[list[str]]:
        return self._paths(words)

    def _paths(self, words: str) -> Plan[list[str]]:
        found = yield from self.search(words, 20)
        return known(found)

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        listed = yield from ask("list_directory", path=folder)
        paths = [f"{folder}/{name}" for name in known(listed)]
        read = yield from ask("read_multiple_notes", paths=paths, includeContent=False)
        notes: list[dict[str, Any]] = read.value("ok") or []
        fields = ("frontmatter", "fm")
        return [note["path"] for note in notes if wanted(next((note[key] for key in fields if key in note), {}))]

    def backlinks(self, path: str) -> Plan[Seen]:
        return self.search("Kyoto Trip", 20)

    def lines(self, path: str, first: int, count: int) -> Plan[Seen]:
        return ask("read_note_lines", path=path, startLine=first, endLine=first + count - 1)

    def section(self, path: str, heading: str) -> Plan[Seen]:
        outline = yield from ask("get_note_outline", path=path)
        listed: list[dict[str, Any]] = outline.data or []
        marks = [(each["line"], each["level"], each["text"]) for each in listed]
        number = pick(marks, heading, self.memory.get("request", ""))
        start, level, _ = marks[number]
        end = next((line - 1 for line, other, _ in marks[number + 1 :] if other <= level), start + 200)
        found = yield from ask("read_note_lines", path=path, startLine=start, endLine=end)
        return Seen(str(found.value("content") or found.text))

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        if section:
            return (yield from super().append(path, text, section))
        return (yield from change("write_note", path=path, content=text, mode="append"))

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        return change("update_frontmatter", path=path, frontmatter={name: value})

    def relocate(self, path: str, to: str) -> Plan[Seen]:
        return change("move_note", oldPath=path, newPath=to)

    def rename(self, path: str, name: str) -> Plan[Seen]:
        """It leaves the links alone, so the agent mends them note by note."""
        old = path.rpartition("/")[2].removesuffix(".md")
        last = yield from super().rename(path, name)
        for note in (yield from self._paths(old)):
            text = yield from self.text(note)
            for line in [
                line for line in text.splitlines() if f"{old}]]" in line or "[[" + old in line or "%20" in line
            ]:
                new = line.replace(old, name).replace(old.replace(" ", "%20"), name.replace(" ", "%20"))
                if new != line:
                    last = yield from one(self.patch(note, line, new))
        return last

    def delete(self, path: str) -> Plan[Seen]:
        return change("delete_note", path=path, confirmPath=path, trashMode="local")

    def undelete(self, path: str) -> Plan[Seen]:
        trashed = f".trash/{path}"
        return change("move_file", oldPath=trashed, newPath=path, confirmOldPath=trashed, confirmNewPath=path)
