"""A strict client of the IDE door, from specs/ide-door.md alone."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from tests.contracts.shapes import TEXT_CONTENT, count, fits, schema, text
from tests.support.ide import DoorProcess, Talk, lock_folder, mention, talking
from tests.support.world import World

LOCK = {
    "pid": count,
    "workspaceFolders": [lambda folder: Path(folder).is_absolute()],
    "ideName": "Obsidian",
    "transport": "ws",
    "runningInWindows": bool,
    "authToken": lambda token: uuid.UUID(token).version == 4,
    "port": count,
}
INITIALIZED = {
    "protocolVersion": "2024-11-05",
    "capabilities": {"tools": dict, "prompts": dict, "resources": dict},
    "serverInfo": {"name": "obsidian-mcp", "version": text},
}
PLACE = {"line": count, "character": count}
RANGE = {"start": PLACE, "end": PLACE}
SELECTION = {"text": str, "filePath": str, "fileUrl": str, "selection": {**RANGE, "isEmpty": bool}}
ASKED = {"selection": str, "cursor": {"line": count, "ch": count}, "filePath": text, "range": RANGE}
MENTION = {"filePath": text, "lineStart?": count, "lineEnd?": count}


def asked(talk: Talk, method: str, params: Any = None, shape: Any = dict) -> Any:
    reply = talk.ask(method, params)
    fits(reply, {"jsonrpc": "2.0", "id": int, "result": shape})
    return reply["result"]


def refused(talk: Talk, method: str, params: Any = None) -> int:
    error = {"code": int, "message": text, "data": lambda data: text(data["errorCode"])}
    code: int = fits(talk.ask(method, params), {"jsonrpc": "2.0", "id": int, "error": error})["error"]["code"]
    return code


def test_the_examples_of_the_ide_door(door: DoorProcess, world: World) -> None:
    (file,) = lock_folder(world).glob("*.lock")
    lock = fits(json.loads(file.read_text()), LOCK)
    assert (file.name, lock["pid"]) == (f"{lock['port']}.lock", door.process.pid)
    assert lock["workspaceFolders"] == [str(world.vault)]
    world.editor(path="Note.md", text="ne\ntw", **{"from": [0, 1], "to": [1, 2]})
    with talking(lock["port"], lock["authToken"]) as talk:
        hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "strict", "version": "1"}}
        asked(talk, "initialize", hello, INITIALIZED)
        asked(talk, "initialized", {}, {})
        asked(talk, "resources/list", {}, {"resources": []})
        asked(talk, "tools/list", {}, {"tools": [{"name": text, "description": text, "inputSchema": schema}]})
        asked(talk, "tools/call", {"name": "getWorkspaceFolders", "arguments": {}}, {"content": [TEXT_CONTENT]})
        assert asked(talk, "files/read", {"path": "/Note.md"}, {"content": str})["content"] == "one\ntwo\nthree\n"
        assert asked(talk, "workspace/selection", {}, ASKED)["cursor"] == {"line": 1, "ch": 2}
        while (told := fits(talk.notice("selection_changed"), SELECTION))["text"] != "ne\ntw":
            pass
        assert (told["filePath"], told["fileUrl"]) == (str(world.vault / "Note.md"), (world.vault / "Note.md").as_uri())
        assert told["selection"]["end"] == {"line": 1, "character": 2}
        assert mention(world, "Note", "--lines", "2:3").returncode == 0
        pointed = fits(talk.notice("at_mentioned"), MENTION)
        assert pointed == {"filePath": str(world.vault / "Note.md"), "lineStart": 1, "lineEnd": 2}


def test_the_errors_of_the_ide_door(door: DoorProcess, token: str) -> None:
    with talking(door.port, token) as talk:
        talk.introduce()
        assert refused(talk, "no/such") == -32601
        assert refused(talk, "files/read", {"path": "../x"}) == -32602
        assert refused(talk, "files/read", {"path": "Gone.md"}) == -32003
        for said, code in (("{", -32700), ('{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600)):
            talk.say(said)
            while "error" not in (heard := talk.hear()):
                pass
            assert heard["error"]["code"] == code
