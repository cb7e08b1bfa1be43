"""obsidian-mcp of PyPI: whole notes and sections, moves with their links, properties of many notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agents.calls import Call, Plan, ask, change, one
from agents.rivals.whole import WholeNotes, chosen_by_reading, known
from agents.seen import Seen
from agents.server import Properties
from bench.quality import OTHERS


class PyObsidianMcp(WholeNotes):
    name = "obsidian-mcp (PyPI)"
    rival = next(other.rival for other in OTHERS if other.name == "obsidian-mcp (PyPI)")
    env: ClassVar[Mapping[str, str]] = {"OBSIDIAN_VAULT_PATH": "{vault}"}

    def ready(self, tell: Callable[..., str]) -> None:
        tell("search_by_regex_tool", pattern="cherries")  # this one waits for the index

    def text(self, path: str) -> Plan[str]:
        found = yield from ask("read_note_tool", path=path)
        return str(found.value("content") or "")

    def write(self, path: str, text: str) -> Plan[Seen]:
        return change("update_note_tool", path=path, content=text)

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        if section:
            given: dict[str, Any] = {
                "section_identifier": f"## {section}",
                "content": text,
                "operation": "append_to_section",
            }
            return (yield from change("edit_note_section_tool", path=path, **given))
        return (yield from change("update_note_tool", path=path, content=text, merge_strategy="append"))

    def replace_section(self, path: str, heading: str, old: str, new: str) -> Plan[Seen]:
        given: dict[str, Any] = {
            "section_identifier": f"## {heading}",
            "content": f"## {heading}\n\n{new}\n",
            "operation": "replace",
        }
        return change("edit_note_section_tool", path=path, **given)

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        """It looks for the text as it is, so the agent gives the most telling word."""
        word = query if query.count(" ") < 2 or ":" in query else query.split()[0]
        return ask("search_notes_tool", query=word, max_results=limit)

    def found(self, words: str) -> Plan[list[str]]:
        found = yield from self.search(words, 50)
        return known(found)

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        found = yield from ask("search_by_property_tool", property_name="status", value="active", context_length=0)
        return (yield from chosen_by_reading(self, [path for path in known(found) if path.startswith(folder)], wanted))

    def backlinks(self, path: str) -> Plan[Seen]:
        return ask("get_backlinks_tool", path=path, include_context=False)

    def broken_links(self) -> Plan[Seen]:
        return ask("find_broken_links_tool")

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        criteria = {"files": [path]}
        return change("batch_update_properties_tool", search_criteria=criteria, property_updates={name: value})

    def relocate(self, path: str, to: str) -> Plan[Seen]:
        return change("move_note_tool", source_path=path, destination_path=to)

    def rename(self, path: str, name: str) -> Plan[Seen]:
        folder = path.rpartition("/")[0]
        return change("rename_note_tool", old_path=path, new_path=f"{folder}/{name}.md")

    def move(self, paths: Sequence[str], folder: str, whole: str = "") -> Plan[Seen]:
        """If the folder can't be moved, its notes are, one by one."""
        if whole:
            given = {"source_folder": whole, "destination_folder": f"{folder}/{whole}"}
            tried = yield from one(Call("move_folder_tool", given, changes=True, may_fail=True))
            if not tried.is_error:
                return tried
        return (yield from super().move(paths, folder, whole))

    def delete(self, path: str) -> Plan[Seen]:
        return change("delete_note_tool", path=path)
