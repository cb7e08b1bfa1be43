"""The tools of an IDE, as Claude Code knows them. Not the nine: those are for the model, these for its program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from obsidian_mcp.call import Call
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.ide import shapes
from obsidian_mcp.ide.desk import Desk
from obsidian_mcp.ide.watching import Watcher
from obsidian_mcp.tools.tool import slim


class Arguments(BaseModel):
    """Taken as they are; what an IDE of another kind would need is left aside."""

    model_config = ConfigDict(strict=True, extra="ignore")


class Nothing(Arguments):
    pass


class File(Arguments):
    filePath: str  # its name on the wire


class FileToOpen(File):
    makeFrontmost: bool = True


class Diagnosed(Arguments):
    uri: str | None = None


class Tab(Arguments):
    tab_name: str


@dataclass(frozen=True, slots=True)
class Room:
    """What a tool may use: the desk, its watcher, and the call that it is part of."""

    desk: Desk
    watcher: Watcher
    call: Call


@dataclass(frozen=True, slots=True)
class IdeTool:
    name: str
    description: str
    arguments: type[Arguments]
    function: Callable[[Any, Room], str]

    def run(self, arguments: dict[str, Any], room: Room) -> str:
        try:
            params = self.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
            raise InvalidArguments(f"{self.name}: {'; '.join(problems)}.") from None
        return self.function(params, room)

    def listing(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": {}, **slim(self.arguments.model_json_schema())}
        schema.pop("description", None)
        return {"name": self.name, "description": self.description, "inputSchema": schema}


def _open(params: FileToOpen, room: Room) -> str:
    path = room.desk.existing(params.filePath)
    room.desk.show(path, room.call)
    file = room.desk.file(path)
    if params.makeFrontmost:
        return f"Opened file: {file}"
    lines = len(room.desk.read(path).splitlines())
    return shapes.encoded(
        {"success": True, "filePath": file, "languageId": shapes.language(path.filename), "lineCount": lines}
    )


def _current(params: Nothing, room: Room) -> str:
    found = room.watcher.ask(room.call)
    if found is None:
        return shapes.encoded({"success": False, "message": "No active editor found"})
    return shapes.encoded(shapes.selected(found, room.desk.file(found.path), room.desk.uri(found.path)))


def _latest(params: Nothing, room: Room) -> str:
    found = room.watcher.latest
    if found is None:
        return shapes.encoded({"success": False, "message": "No selection available"})
    return shapes.encoded(shapes.selected(found, room.desk.file(found.path), room.desk.uri(found.path)))


def _editors(params: Nothing, room: Room) -> str:
    workspace = room.desk.workspace()
    latest = room.watcher.latest
    active = latest.path if latest else workspace.active
    paths = dict.fromkeys((*((active,) if active else ()), *workspace.opened))
    return shapes.encoded(shapes.tabs([(room.desk.uri(path), path.filename, path == active) for path in paths]))


def _folders(params: Nothing, room: Room) -> str:
    from pathlib import Path

    root = room.desk.root
    folder = {"name": room.desk.name, "uri": Path(root).as_uri(), "path": root}
    return shapes.encoded({"success": True, "folders": [folder], "rootPath": root})


def _diagnostics(params: Diagnosed, room: Room) -> str:
    return "[]"


def _dirty(params: File, room: Room) -> str:
    path = room.desk.existing(params.filePath)
    if not _is_open(path, room):
        return _not_open(params)
    # Obsidian writes a note by itself within two seconds and does not say when.
    return shapes.encoded({"success": True, "filePath": room.desk.file(path), "isDirty": False, "isUntitled": False})


def _save(params: File, room: Room) -> str:
    path = room.desk.existing(params.filePath)
    if not _is_open(path, room):
        return _not_open(params)
    message = "Obsidian saves by itself, within two seconds of an edit"
    return shapes.encoded({"success": True, "filePath": room.desk.file(path), "saved": True, "message": message})


def _is_open(path: Any, room: Room) -> bool:
    latest = room.watcher.latest
    return (latest is not None and latest.path == path) or path in room.desk.workspace().opened


def _not_open(params: File) -> str:
    return shapes.encoded({"success": False, "message": f"Document not open: {params.filePath}"})


def _close_tab(params: Tab, room: Room) -> str:
    return "TAB_CLOSED"  # of the tabs that Claude Code opens, diffs, there are none here


def _close_diffs(params: Nothing, room: Room) -> str:
    return "CLOSED_0_DIFF_TABS"


TOOLS = {
    tool.name: tool
    for tool in (
        IdeTool("openFile", "Open a note in Obsidian.", FileToOpen, _open),
        IdeTool("getCurrentSelection", "The selection in the active note.", Nothing, _current),
        IdeTool("getLatestSelection", "The selection as it was last seen.", Nothing, _latest),
        IdeTool("getOpenEditors", "The notes that are open.", Nothing, _editors),
        IdeTool("getWorkspaceFolders", "The vault's folder.", Nothing, _folders),
        IdeTool("getDiagnostics", "Problems in files; notes have none.", Diagnosed, _diagnostics),
        IdeTool("checkDocumentDirty", "Whether an open note has unsaved changes.", File, _dirty),
        IdeTool("saveDocument", "Save an open note.", File, _save),
        IdeTool("close_tab", "Close a tab by its name.", Tab, _close_tab),
        IdeTool("closeAllDiffTabs", "Close all tabs with differences.", Nothing, _close_diffs),
    )
}
