"""The tools of an IDE, as Claude Code knows them. Not the nine: those are for the model, these for its program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.servers.ide import messages
from obsidian_mcp.servers.ide.watcher import Watcher
from obsidian_mcp.servers.ide.workspace import IdeWorkspace
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
class IdeContext:
    """What a tool may use: the desk, its watcher, and the call that it is part of."""

    desk: IdeWorkspace
    watcher: Watcher
    call: CallContext


@dataclass(frozen=True, slots=True)
class IdeTool:
    name: str
    description: str
    arguments: type[Arguments]
    function: Callable[[Any, IdeContext], str]

    def run(self, arguments: dict[str, Any], room: IdeContext) -> str:
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


def _open(params: FileToOpen, room: IdeContext) -> str:
    path = room.desk.existing(params.filePath)
    room.desk.show(path, room.call)
    file = room.desk.file(path)
    if params.makeFrontmost:
        return f"Opened file: {file}"
    lines = len(room.desk.read(path).splitlines())
    return messages.encoded(
        {"success": True, "filePath": file, "languageId": messages.language(path.filename), "lineCount": lines}
    )


def _current(params: Nothing, room: IdeContext) -> str:
    found = room.watcher.ask(room.call)
    if found is None:
        return messages.encoded({"success": False, "message": "No active editor found"})
    return messages.encoded(messages.selected(found, room.desk.file(found.path), room.desk.uri(found.path)))


def _latest(params: Nothing, room: IdeContext) -> str:
    found = room.watcher.latest
    if found is None:
        return messages.encoded({"success": False, "message": "No selection available"})
    return messages.encoded(messages.selected(found, room.desk.file(found.path), room.desk.uri(found.path)))


def _editors(params: Nothing, room: IdeContext) -> str:
    workspace = room.desk.workspace()
    latest = room.watcher.latest
    active = latest.path if latest else workspace.active
    paths = dict.fromkeys((*((active,) if active else ()), *workspace.opened))
    return messages.encoded(messages.tabs([(room.desk.uri(path), path.filename, path == active) for path in paths]))


def _folders(params: Nothing, room: IdeContext) -> str:
    from pathlib import Path

    root = room.desk.root
    folder = {"name": room.desk.name, "uri": Path(root).as_uri(), "path": root}
    return messages.encoded({"success": True, "folders": [folder], "rootPath": root})


def _diagnostics(params: Diagnosed, room: IdeContext) -> str:
    return "[]"


def _dirty(params: File, room: IdeContext) -> str:
    path = room.desk.existing(params.filePath)
    if not _is_open(path, room):
        return _not_open(params)
    # Obsidian writes a note by itself within two seconds and does not say when.
    return messages.encoded({"success": True, "filePath": room.desk.file(path), "isDirty": False, "isUntitled": False})


def _save(params: File, room: IdeContext) -> str:
    path = room.desk.existing(params.filePath)
    if not _is_open(path, room):
        return _not_open(params)
    message = "Obsidian saves by itself, within two seconds of an edit"
    return messages.encoded({"success": True, "filePath": room.desk.file(path), "saved": True, "message": message})


def _is_open(path: Any, room: IdeContext) -> bool:
    latest = room.watcher.latest
    return (latest is not None and latest.path == path) or path in room.desk.workspace().opened


def _not_open(params: File) -> str:
    return messages.encoded({"success": False, "message": f"Document not open: {params.filePath}"})


def _close_tab(params: Tab, room: IdeContext) -> str:
    return "TAB_CLOSED"  # of the tabs that Claude Code opens, diffs, there are none here


def _close_diffs(params: Nothing, room: IdeContext) -> str:
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
