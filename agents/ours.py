"""This server, by its own tools."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from agents.calls import Call, Plan, ask, change, one
from agents.seen import Seen
from agents.server import Properties, Server
from agents.session import Process
from tests.support.process import start

SMALL = 600  # characters of an answer that is meant to name one fact


class Ours(Server):
    name = "ours"
    undoes = True
    has_etags = True
    sets = "default,tasks,tidy"

    def start(self, vault: Path, environment: Mapping[str, str], *options: str) -> Process:
        """Forked from a process that has imported everything: there are hundreds of trials."""
        return start(environment, [*self.words(vault), *options], stderr=subprocess.DEVNULL)

    def words(self, vault: Path) -> list[str]:
        return ["--backend", "embedded", "--vault", str(vault), "--toolsets", self.sets, "--log-level", "error"]

    def prepare(self, vault: Path) -> list[str]:
        return [sys.executable, "-m", "obsidian_mcp", "index", "--vault", str(vault)]

    def called(self, path: str) -> str:
        return PurePosixPath(path).name.removesuffix(".md")

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        return ask("obsidian_search_notes", query=query, limit=limit, max_chars=SMALL)

    def read(self, path: str) -> Plan[Seen]:
        return ask("obsidian_read_note", name=path)

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        found = yield from ask("obsidian_search_notes", query=f"path:{folder} {query}", sort="name", max_chars=SMALL)
        return [note["path"] for note in found.data["data"]["notes"]]

    def backlinks(self, path: str) -> Plan[Seen]:
        return ask("obsidian_list_links", kind="backlinks", name=path)

    def section(self, path: str, heading: str) -> Plan[Seen]:
        return ask("obsidian_read_note", name=path, section=heading)

    def lines(self, path: str, first: int, count: int) -> Plan[Seen]:
        return ask("obsidian_read_note", name=path, start_line=first, max_lines=count)

    def broken_links(self) -> Plan[Seen]:
        return ask("obsidian_list_links", kind="broken")

    def due_tasks(self, path: str, before: str) -> Plan[Seen]:
        return ask("obsidian_list_tasks", within=path, due_before=before)

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        tool, where = "obsidian_append_note", {"section": section} if section else {}
        look = yield from one(Call("obsidian_file_info", {"name": path}, is_extra=True))
        parts = [Call(tool, {"name": path, "content": line, **where}, changes=True) for line in text.split("\n")]
        guards = {"if_match": look.value("etag")} if look.value("etag") else {}
        whole = Call(tool, {"name": path, "content": text, **where}, True, guards, apart=parts[1:] and parts)
        return (yield from one(whole))

    def replace(self, path: str, old: str, new: str, section: str = "", before: str = "") -> Plan[Seen]:
        return change("obsidian_edit_note", {"section": section or None}, name=path, old_text=old, new_text=new)

    def replace_section(self, path: str, heading: str, old: str, new: str) -> Plan[Seen]:
        return change("obsidian_edit_note", name=path, section=heading, new_text=new)

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        return change("obsidian_set_properties", name=path, set={name: value})

    def tick(self, path: str, task: str) -> Plan[Seen]:
        return change("obsidian_set_task", name=path, task=task)

    def overwrite(self, path: str, text: str) -> Plan[Seen]:
        return change("obsidian_create_note", name=path, content=text, overwrite=True)

    def rename(self, path: str, name: str) -> Plan[Seen]:
        return change("obsidian_rename_note", name=path, new_name=name)

    def move(self, paths: Sequence[str], folder: str, whole: str = "") -> Plan[Seen]:
        return change("obsidian_move_notes", names=[f"{whole}/"] if whole else list(paths), to=folder)

    def rename_tag(self, old: str, new: str) -> Plan[Seen]:
        return change("obsidian_rename_term", kind="tag", old=old, new=new)

    def replace_everywhere(self, old: str, new: str, places: int) -> Plan[Seen]:
        return change("obsidian_replace_in_notes", query=f'"{old}"', old_text=old, new_text=new, expected=places)

    def delete(self, path: str) -> Plan[Seen]:
        return change("obsidian_delete_note", name=path)

    def undo(self) -> Plan[Seen]:
        return self._undo()

    def undo_of(self, path: str) -> Plan[Seen]:
        found = yield from ask("obsidian_list_changes", name=path, limit=1)
        return (yield from self._undo(id=found.value("id")))

    def undo_merging(self, path: str) -> Plan[Seen]:
        return self._undo(merge=True)

    def undo_all(self) -> Plan[Seen]:
        return self._undo(since="today")

    def _undo(self, **arguments: object) -> Plan[Seen]:
        """By the id that a dry run tells, where the agent looks first: done twice it is then refused."""
        look = yield from one(Call("obsidian_list_changes", {"limit": 1}, is_extra=True))
        known = look.value("id") if not arguments.keys() & {"since"} else None
        guards = {"id": known} if known and "id" not in arguments else {}
        return (yield from one(Call("obsidian_undo_change", arguments, True, guards)))

    def etag(self, path: str) -> Plan[str]:
        found = yield from ask("obsidian_read_note", name=path)
        return str(found.value("etag"))

    def replace_if(self, path: str, old: str, new: str, etag: str) -> Plan[Seen]:
        return change("obsidian_edit_note", name=path, old_text=old, new_text=new, if_match=etag)


def paths_in(seen: Seen) -> list[str]:
    """The notes that an answer names, each once."""
    found = [path for text in seen.strings() for path in re.findall(r"[^\s\"'\[\](|:,][^\"'\[\](|:,\n]*?\.md\b", text)]
    return list(dict.fromkeys(found))
