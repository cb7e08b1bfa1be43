"""obsidian-mcp of npm: whole notes, with etags, moves with their links, tags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.calls import Call, Plan, ask, change, one
from agents.rivals.whole import WholeNotes, chosen_by_reading, known, replaced
from agents.seen import Seen
from agents.server import Properties
from bench.quality import KNOWN

V: dict[str, Any] = {"vault": "notes"}


class ObsidianMcp(WholeNotes):
    name = "obsidian-mcp (npm)"
    rival = KNOWN["obsidian-mcp (npm)"]
    has_etags = True

    def text(self, path: str) -> Plan[str]:
        parts, more = [], dict[str, Any]()
        while True:
            page = yield from ask("obsidian_read_note", **V, path=path, max_chars=25_000, **more)
            parts.append(str(page.value("content") or ""))
            self.memory["etag of " + path] = str(page.value("etag"))
            cursor = page.value("next_cursor", "cursor")
            if not cursor:
                return "".join(parts)
            more = {"cursor": cursor}

    def write(self, path: str, text: str) -> Plan[Seen]:
        guards = {"if_match": self.memory.get("etag of " + path)}
        return change("obsidian_edit_note", guards, **V, path=path, operation="replace", content=text)

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        if section:
            return (yield from super().append(path, text, section))
        return (yield from change("obsidian_edit_note", **V, path=path, operation="append", content=f"{text}\n"))

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        """It looks for the text as it is, so the agent gives the most telling word."""
        word = query if query.count(" ") < 2 or ":" in query else query.split()[0]
        return ask("obsidian_search_vault", **V, query=word, limit=limit)

    def found(self, words: str) -> Plan[list[str]]:
        found = yield from ask("obsidian_search_vault", **V, query=words, limit=50)
        return known(found)

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        found = yield from ask("obsidian_search_vault", **V, query="status: active", scope=folder)
        return (yield from chosen_by_reading(self, known(found), wanted))

    def backlinks(self, path: str) -> Plan[Seen]:
        plain = yield from self.found("[[Kyoto Trip")
        by_path = yield from self.found("Travel/Kyoto")
        return Seen("\n".join([*plain, *by_path]))

    def relocate(self, path: str, to: str) -> Plan[Seen]:
        return change("obsidian_move_note", **V, source=path, destination=to)

    def rename_tag(self, old: str, new: str) -> Plan[Seen]:
        return change("obsidian_rename_tag", **V, old_tag=old, new_tag=new, include_children=True)

    def delete(self, path: str) -> Plan[Seen]:
        return change("obsidian_delete_note", **V, path=path)

    def etag(self, path: str) -> Plan[str]:
        self.memory["text"] = yield from self.text(path)
        return self.memory["etag of " + path]

    def replace_if(self, path: str, old: str, new: str, etag: str) -> Plan[Seen]:
        """What it knows goes back with the etag of then; if that is refused, it reads again."""
        content = replaced(self.memory["text"], old, new)
        given = {**V, "path": path, "operation": "replace", "content": content, "if_match": etag}
        tried = yield from one(Call("obsidian_edit_note", given, changes=True, may_fail=True))
        return (yield from self.replace(path, old, new)) if tried.is_error else tried
