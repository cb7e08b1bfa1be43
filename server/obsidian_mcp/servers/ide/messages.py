"""What an IDE says to Claude Code, and how it is found: shapes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from obsidian_mcp import __version__
from obsidian_mcp.errors import InvalidParams
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.vault.active import Active, Place

IDE_NAME = "Obsidian"
AUTHORIZATION = "x-claude-code-ide-authorization"
COMMAND = "x-obsidian-mcp-command"  # a header of our own command's connections
MENTION = "obsidian-mcp/mention"  # how our own command reaches a door
INTRODUCING = ("initialized", "notifications/initialized", "ide_connected")  # from then on a client may be told things


def lock(pid: int, folder: str, token: str, port: int, windows: bool) -> dict[str, Any]:
    """The file by which Claude Code finds a door."""
    return {
        "pid": pid,
        "workspaceFolders": [folder],
        "ideName": IDE_NAME,
        "transport": "ws",
        "runningInWindows": windows,
        "authToken": token,
        "port": port,
    }


def variables(port: int) -> dict[str, str]:
    """What a program must find in its environment to take this door without asking."""
    return {"CLAUDE_CODE_SSE_PORT": str(port), "ENABLE_IDE_INTEGRATION": "true"}


def initialize(revision: str, capabilities: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "serverInfo": {"name": "obsidian-mcp", "version": __version__},
    }


def text(said: str, failed: bool = False) -> dict[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": said}]}
    return {**result, "isError": True} if failed else result


def encoded(value: Any) -> str:
    """JSON as text, which is how these tools answer."""
    return jsonrpc.encode(value).decode()


def place(found: Place) -> dict[str, int]:
    return {"line": found.line, "character": found.character}


def span(found: Active) -> dict[str, Any]:
    return {"start": place(found.start), "end": place(found.end)}


def selection_changed(found: Active, file: str, uri: str) -> jsonrpc.Notification:
    selection = {**span(found), "isEmpty": not found.text}
    params = {"text": found.text, "filePath": file, "fileUrl": uri, "selection": selection}
    return jsonrpc.Notification("selection_changed", params)


def selected(found: Active, file: str, uri: str) -> dict[str, Any]:
    """For `getCurrentSelection` and its like."""
    selection = {**span(found), "isEmpty": not found.text}
    return {"success": True, "text": found.text, "filePath": file, "fileUrl": uri, "selection": selection}


def workspace_selection(found: Active | None, file: str) -> dict[str, Any]:
    if found is None:
        return {"selection": "", "cursor": None, "filePath": None, "range": None}
    cursor = {"line": found.head.line, "ch": found.head.character}
    return {"selection": found.text, "cursor": cursor, "filePath": file, "range": span(found)}


def at_mentioned(file: str, lines: tuple[int, int] | None) -> jsonrpc.Notification:
    """Lines from 0, the last one included."""
    params: dict[str, Any] = {"filePath": file}
    if lines is not None:
        params |= {"lineStart": lines[0], "lineEnd": lines[1]}
    return jsonrpc.Notification("at_mentioned", params)


def mention(file: str, lines: tuple[int, int] | None) -> bytes:
    """The request that `obsidian-mcp mention` sends."""
    params = {"filePath": file, "lines": list(lines) if lines else None}
    return jsonrpc.encode({"jsonrpc": "2.0", "id": 1, "method": MENTION, "params": params})


def greeting() -> bytes:
    params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "obsidian-mcp"}}
    return jsonrpc.encode({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})


def mentioned(params: dict[str, Any]) -> tuple[str, tuple[int, int] | None]:
    """What such a request says."""
    file, lines = params.get("filePath"), params.get("lines")
    if not isinstance(file, str):
        raise InvalidParams("filePath must be a string.")
    if lines is None:
        return file, None
    if not (isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines)):
        raise InvalidParams("lines must be two whole numbers, or null.")
    first, last = lines
    if not 0 <= first <= last:
        raise InvalidParams("lines must not run backwards, nor begin before the note.")
    return file, (first, last)


def tabs(found: Sequence[tuple[str, str, bool]]) -> dict[str, Any]:
    """Open notes: URI, name, and whether it is the active one."""
    return {
        "tabs": [
            {"uri": uri, "isActive": active, "label": label, "languageId": language(label), "isDirty": False}
            for uri, label, active in found
        ]
    }


def language(name: str) -> str:
    return "markdown" if name.lower().endswith(".md") else "plaintext"
