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
    """What a tool may use: the vault's workspace, its watcher, and the call that it is part of."""

    workspace: IdeWorkspace
    watcher: Watcher
    call: CallContext


@dataclass(frozen=True, slots=True)
class IdeTool:
    name: str
    description: str
    arguments: type[Arguments]
    function: Callable[[Any, IdeContext], str]

    def run(self, arguments: dict[str, Any], it: IdeContext) -> str:
        try:
            params = self.arguments.model_validate(arguments)
        except ValidationError as error:
            problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_input=False))
            raise InvalidArguments(f"{self.name}: {'; '.join(problems)}.") from None
        return self.function(params, it)

    def listing(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": {}, **slim(self.arguments.model_json_schema())}
        schema.pop("description", None)
        return {"name": self.name, "description": self.description, "inputSchema": schema}


def _open(params: FileToOpen, it: IdeContext) -> str:
    path = it.workspace.existing(params.filePath)
    it.workspace.show(path, it.call)
    file = it.workspace.file(path)
    if params.makeFrontmost:
        return f"Opened file: {file}"
    lines = len(it.workspace.read(path).splitlines())
    return messages.encoded(
        {"success": True, "filePath": file, "languageId": messages.language(path.filename), "lineCount": lines}
    )


def _current(params: Nothing, it: IdeContext) -> str:
    found = it.watcher.ask(it.call)
    if found is None:
        return messages.encoded({"success": False, "message": "No active editor found"})
    return messages.encoded(messages.selected(found, it.workspace.file(found.path), it.workspace.uri(found.path)))


def _latest(params: Nothing, it: IdeContext) -> str:
    found = it.watcher.latest
    if found is None:
        return messages.encoded({"success": False, "message": "No selection available"})
    return messages.encoded(messages.selected(found, it.workspace.file(found.path), it.workspace.uri(found.path)))


def _editors(params: Nothing, it: IdeContext) -> str:
    opened = it.workspace.opened()
    latest = it.watcher.latest
    active = latest.path if latest else opened.active
    paths = dict.fromkeys((*((active,) if active else ()), *opened.opened))
    return messages.encoded(messages.tabs([(it.workspace.uri(path), path.filename, path == active) for path in paths]))


def _folders(params: Nothing, it: IdeContext) -> str:
    from pathlib import Path

    root = it.workspace.root
    folder = {"name": it.workspace.name, "uri": Path(root).as_uri(), "path": root}
    return messages.encoded({"success": True, "folders": [folder], "rootPath": root})


def _diagnostics(params: Diagnosed, it: IdeContext) -> str:
    return "[]"


def _dirty(params: File, it: IdeContext) -> str:
    path = it.workspace.existing(params.filePath)
    if not _is_open(path, it):
        return _not_open(params)
    # Obsidian writes a note by itself within two seconds and does not say when.
    return messages.encoded(
        {"success": True, "filePath": it.workspace.file(path), "isDirty": False, "isUntitled": False}
    )


def _save(params: File, it: IdeContext) -> str:
    path = it.workspace.existing(params.filePath)
    if not _is_open(path, it):
        return _not_open(params)
    message = "Obsidian saves by itself, within two seconds of an edit"
    return messages.encoded({"success": True, "filePath": it.workspace.file(path), "saved": True, "message": message})


def _is_open(path: Any, it: IdeContext) -> bool:
    latest = it.watcher.latest
    return (latest is not None and latest.path == path) or path in it.workspace.opened().opened


def _not_open(params: File) -> str:
    return messages.encoded({"success": False, "message": f"Document not open: {params.filePath}"})


def _close_tab(params: Tab, it: IdeContext) -> str:
    return "TAB_CLOSED"  # of the tabs that Claude Code opens, diffs, there are none here


def _close_diffs(params: Nothing, it: IdeContext) -> str:
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
