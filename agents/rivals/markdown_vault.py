"""markdown-vault-mcp: sections, exact and normalised edits, etags, moves with their links. Without git and models."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agents.calls import Call, Plan, ask, change, one
from agents.rivals.whole import Patching, known
from agents.seen import Seen
from agents.server import Properties
from bench.quality import OTHERS


class MarkdownVault(Patching):
    name = "markdown-vault-mcp"
    rival = next(other.rival for other in OTHERS if other.name == "markdown-vault-mcp")
    env: ClassVar[Mapping[str, str]] = {
        "MARKDOWN_VAULT_MCP_SOURCE_DIR": "{vault}",
        "MARKDOWN_VAULT_MCP_READ_ONLY": "false",
    }
    has_etags = True

    def ready(self, tell: Callable[..., str]) -> None:
        while "queryable" not in tell("get_index_status"):
            time.sleep(0.1)

    def text(self, path: str) -> Plan[str]:
        found = yield from ask("read", path=path)
        return str(found.value("content") or "")

    def write(self, path: str, text: str) -> Plan[Seen]:
        found = yield from ask("read", path=path)
        return (yield from change("write", path=path, content=text, if_match=found.value("etag")))

    def patch(self, path: str, old: str, new: str) -> Call:
        return Call("edit", {"path": path, "old_text": old, "new_text": new}, changes=True)

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        return ask("search", query=query, limit=limit)

    def found(self, words: str) -> Plan[list[str]]:
        found = yield from self.search(words, 30)
        return known(found)

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        found = yield from ask("list_documents", folder=folder, filters={"status": "active"})
        notes: Any = found.value("documents", "result", "notes") or []
        return [
            note["path"] for note in notes if wanted({k: str(v) for k, v in (note.get("frontmatter") or {}).items()})
        ]

    def backlinks(self, path: str) -> Plan[Seen]:
        return ask("get_backlinks", path=path)

    def section(self, path: str, heading: str) -> Plan[Seen]:
        found = yield from ask("read", path=path, section=heading)
        return Seen(str(found.value("content") or found.text))

    def broken_links(self) -> Plan[Seen]:
        return ask("get_broken_links")

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        if section:
            return (yield from super().append(path, text, section))
        return (yield from change("append", path=path, content=text))

    def relocate(self, path: str, to: str) -> Plan[Seen]:
        return change("rename", old_path=path, new_path=to, update_links=True)

    def move(self, paths: Sequence[str], folder: str, whole: str = "") -> Plan[Seen]:
        if whole:
            return (yield from change("move_folder", old_dir=whole, new_dir=f"{folder}/{whole}"))
        return (yield from super().move(paths, folder))

    def delete(self, path: str) -> Plan[Seen]:
        return change("delete", path=path)

    def etag(self, path: str) -> Plan[str]:
        found = yield from ask("read", path=path)
        return str(found.value("etag"))

    def replace_if(self, path: str, old: str, new: str, etag: str) -> Plan[Seen]:
        """Where it is refused, the message says to read the note again."""
        given: dict[str, Any] = {"path": path, "old_text": old, "new_text": new}
        tried = yield from one(Call("edit", {**given, "if_match": etag}, changes=True, may_fail=True))
        if not tried.is_error:
            return tried
        return (yield from change("edit", **given, if_match=(yield from self.etag(path))))
