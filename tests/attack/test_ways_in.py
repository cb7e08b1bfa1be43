"""Every argument of every tool, on every door, with what leads elsewhere: nothing outside is read, written or made.

And every address of a resource, every argument of a prompt, and what is typed to complete one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from obsidian_mcp.features.builtin_prompts import BUILTIN
from obsidian_mcp.tools import catalogue
from tests.support.client import Server
from tests.support.web import Web
from tests.support.world import World

SECRET = "SECRET-OUTSIDE"
A_BUG = "by a bug of obsidian-mcp"
NAMES = (
    "../outside/secret.md", "..", "../", "..\\outside\\secret.md",
    "a/../../outside/secret.md", "Deep/../../outside/secret",
    "./../outside/secret.md", "/{outside}/secret.md", "{outside}/secret.md", "file://{outside}/secret.md",
    "%2e%2e/outside/secret.md", "..%2foutside%2fsecret.md",
    "%252e%252e/outside/secret.md", "..\u2215outside\u2215secret.md",
    "\uff0e\uff0e/outside/secret.md", "..\u2044outside", "\u2025/outside/secret.md", "..\x00/outside/secret.md",
    "secret.md\x00.md", "~/secret.md", "$HOME/secret.md", "C:\\Windows\\x",
    "\\\\host\\share\\x", "con:", "....//outside/secret.md",
    "link/secret.md", "link", "filelink.md", "Deep/link/secret.md", ".obsidian/app.json",
    ".trash/x.md", ".git/config",
    "path=/etc/passwd", "path={outside}/secret.md", "file=secret", "vault=Other",
    "permanent", "overwrite", "-rf", "--help",
    "\n", "x\npath={outside}/secret.md", "x\r\ny", "", " ", "\u200b", "x" * 5000, "a/" * 500, "\ud800",
)  # fmt: skip
# As people and notes write a name. The doors hand them on like any other; they are tried where most is tried.
LINKS = (
    "[[../outside/secret]]", "![[../outside/secret.md|x]]", "[[{outside}/secret.md]]", "[[link/secret]]",
    "[[filelink]]", "[[.obsidian/app.json]]", "[[a/../../outside/secret#x]]", "../outside/secret#x",
    "x#../../outside/secret.md", "link/", "../outside/", "[[../outside/]]", "[[\x00]]", "[[]]", "[[#]]", "[[|]]", "#",
    "filelink#x",
    "obsidian://open?file=../outside/secret.md", "obsidian://open?file=%2e%2e%2foutside%2fsecret.md",
    "obsidian://open?file=%252e%252e%252foutside%252fsecret", "obsidian://open?file=..%5coutside%5csecret.md",
    "obsidian://open?path={outside}/secret.md", "obsidian://open?path={vault}/../outside/secret.md",
    "obsidian://open?path={vault}%2f..%2foutside%2fsecret.md", "obsidian://open?path={vault}/link/secret.md",
    "obsidian://open?path={vault}", "obsidian://open?path={vault}/.obsidian/app.json", "obsidian:///etc/passwd",
    "obsidian://{outside}/secret.md", "obsidian://vault/Vault/../outside/secret.md", "obsidian://vault/../secret",
    "obsidian://vault/outside/secret", "obsidian://open?vault=../outside&file=secret", "obsidian://open?file=%00",
    "obsidian://open?file=%ff%fe", "obsidian://open?file=%", "obsidian://", "obsidian://open", "obsidian://open?path=",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    "{outside}/secret.md", "../outside", "permanent", "overwrite=true",
    "path={outside}/secret.md", "", "\n", "\x00", "\ud800",
    -1, 0, 2**63, -(2**63), 10**400, 1.5, True, None, [], {}, ["x"], {"path": "x"},
    "Error: File \"x\" not found.", "=> x",
)  # fmt: skip
CALLED = catalogue.load().listing()


@pytest.fixture
def prepared(own_world: World) -> World:
    (own_world.outside / "secret.md").write_text(SECRET)
    own_world.put("Note.md", "note\n")
    own_world.put("Reply.md", 'Error: File "Reply.md" not found.\n')
    (own_world.vault / "Deep").mkdir()
    for link in ("link", "Deep/link"):
        (own_world.vault / link).symlink_to(own_world.outside)
    (own_world.vault / "filelink.md").symlink_to(own_world.outside / "secret.md")
    return own_world


def outside(world: World) -> dict[str, Any]:
    """All there is beside the vault, but what the server keeps in its own place."""
    found: dict[str, Any] = {}
    for root, folders, files in os.walk(world.folder):
        kept = (world.vault, world.config, world.folder / "home" / ".local")
        folders[:] = [name for name in folders if Path(root, name) not in kept]
        found[root] = (sorted(folders), {name: Path(root, name).read_bytes() for name in files})
    return found


Say = Callable[[str, dict[str, Any]], str]


@contextmanager
def stdio(world: World, *options: str) -> Iterator[Say]:
    with Server(world.environment(), *options) as server:
        server.initialize()
        yield lambda tool, arguments: json.dumps(server.request("tools/call", {"name": tool, "arguments": arguments}))


@contextmanager
def bridge(world: World, *options: str) -> Iterator[Say]:
    with Web(world.environment(), *options) as web:

        def say(tool: str, arguments: dict[str, Any]) -> str:
            body = json.dumps({"arguments": arguments})
            return web.ask("POST", f"/bridge/v1/tools/{tool}/call", body.encode()).body.decode()

        yield say


@contextmanager
def envelope(world: World, *options: str) -> Iterator[Say]:
    with Web(world.environment(), *options) as web:

        def say(tool: str, arguments: dict[str, Any]) -> str:
            body = {"method": "call_tool", "name": tool, "args": {**arguments, "_confirm": True}}
            return web.ask("POST", "/mcp", json.dumps(body).encode()).body.decode()

        yield say


@contextmanager
def streamable(world: World, *options: str) -> Iterator[Say]:
    with Web(world.environment(), *options) as web:

        def say(tool: str, arguments: dict[str, Any]) -> str:
            params = {"name": tool, "arguments": arguments}
            return web.rpc({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).body.decode()

        yield say


DOORS = {"stdio": stdio, "bridge": bridge, "envelope": envelope, "streamable": streamable}


def attempts(world: World, names: tuple[str, ...] = NAMES) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each argument in turn, the others as they should be."""
    good = {
        "name": "Note.md",
        "content": "text",
        "to": "Deep",
        "new_name": "Other",
        "query": "note",
        "kind": "backlinks",
        "old_text": "note",
        "new_text": "text",
        "task": "x",
        "names": ["Note.md"],
        "old": "a",
        "new": "b",
    }
    for tool in CALLED:
        wanted = tool["inputSchema"]["properties"]
        base = {key: good[key] for key in tool["inputSchema"].get("required", [])}
        if tool["name"] == "obsidian_rename_term":
            base = {**base, "kind": "heading", "name": "Note.md"}
        for argument in wanted:
            for value in _values(argument, names, world):
                yield tool["name"], {**base, argument: value}


PATHS = ("name", "to", "new_name", "folder", "within", "template")


def _values(argument: str, names: tuple[str, ...], world: World) -> Iterator[Any]:
    for value in names if argument in (*PATHS, "names", "links") else VALUES:
        text = _filled(value, world) if isinstance(value, str) else value
        if argument == "names":
            yield [text]
        elif argument == "links":
            yield [{"path": text, "link": "[[x]]", "target": text}]
        else:
            yield text


def _filled(text: str, world: World) -> str:
    return text.replace("{outside}", str(world.outside)).replace("{vault}", str(world.vault))


def put_back(world: World) -> None:
    """The note that was moved or deleted; and no five hundred folders in each other, in which every call would look."""
    if not (world.vault / "Note.md").exists():
        world.put("Note.md", "note\n")
    shutil.rmtree(world.vault / "a", ignore_errors=True)


@pytest.mark.parametrize("door", DOORS)
def test_no_argument_of_any_tool_reaches_outside_the_vault(prepared: World, door: str) -> None:
    (prepared.folder / "home").mkdir(exist_ok=True)
    before = outside(prepared)
    with DOORS[door](prepared, "--backend", "embedded", "--vault", str(prepared.vault), "--toolsets", "all") as say:
        assert "note" in say("obsidian_read_note", {"name": "Note.md"})  # so the door is open
        for tool, arguments in attempts(prepared, (*NAMES, *LINKS) if door == "stdio" else NAMES):
            reply = say(tool, arguments)
            assert SECRET not in reply, (tool, arguments)
            assert A_BUG not in reply, (tool, arguments)
            put_back(prepared)
    assert outside(prepared) == before


def test_no_argument_reaches_outside_through_the_command_line_either(prepared: World) -> None:
    (prepared.folder / "home").mkdir(exist_ok=True)
    before = outside(prepared)
    with stdio(prepared, "--vault", "Vault", "--log-level", "error", "--toolsets", "all") as say:
        for tool, arguments in attempts(prepared, (*NAMES, *LINKS)):
            reply = say(tool, arguments)
            assert SECRET not in reply, (tool, arguments)
            assert A_BUG not in reply, (tool, arguments)
            put_back(prepared)
        assert "Error: File" in say("obsidian_read_note", {"name": "Reply.md"})
    assert outside(prepared) == before
    for record in prepared.records():
        words = record["argv"]
        assert words[0].startswith("vault=")
        assert not [word for word in words[2:] if word.startswith("path=") and (".." in word or word[5:6] in ("", "/"))]


PROMPTS = {prompt.name: [argument.name for argument in prompt.arguments] for prompt in BUILTIN}
OWN_PROMPT = "---\ndescription: own\n---\nSay {{what}} of {{note}}, not ![[link/secret]] nor {{link/secret}}.\n"


def questions(world: World) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked beside tools."""
    typed = [_filled(name, world) for name in (*NAMES, *LINKS)]
    encoded = [quote(name, safe="", errors="surrogatepass") for name in typed]
    for name, code in zip(typed, encoded, strict=True):
        for uri in (name, f"obsidian://vault/Vault/{name}", f"obsidian://vault/Vault/{code}", f"obsidian://{name}"):
            yield "resources/read", {"uri": uri}
            yield "completion/complete", _completing({"type": "ref/resource", "uri": uri}, "path", name)
        yield "resources/read", {"uri": f"obsidian://vault/{code}/Note.md"}
        template = {"type": "ref/resource", "uri": "obsidian://vault/Vault/{+path}"}
        yield "completion/complete", _completing(template, "path", name)
        yield "prompts/get", {"name": name}
        for prompt, arguments in {**PROMPTS, "own": ["what", "note"]}.items():
            yield "prompts/get", {"name": prompt, "arguments": dict.fromkeys(arguments, name)}
            for argument in arguments:
                ref = {"type": "ref/prompt", "name": prompt}
                yield "completion/complete", _completing(ref, argument, name)


def _completing(ref: dict[str, str], argument: str, value: str) -> dict[str, Any]:
    return {"ref": ref, "argument": {"name": argument, "value": value}}


@pytest.mark.parametrize("backend", ["embedded", "obsidian"])
def test_no_address_and_no_prompt_reaches_outside_the_vault(prepared: World, backend: str) -> None:
    (prepared.folder / "home").mkdir(exist_ok=True)
    prepared.put("Prompts/Own.md", OWN_PROMPT)
    (prepared.vault / "Prompts" / "Linked.md").symlink_to(prepared.outside / "secret.md")
    before, within = outside(prepared), prepared.tree()
    options = ("--backend", backend, "--vault", "Vault", "--log-level", "error", "--toolsets", "all")
    with Server(prepared.environment(), *options) as server:
        server.initialize()
        good = server.request("resources/read", {"uri": "obsidian://vault/Vault/Note.md"})
        assert good["result"]["contents"][0]["text"] == "note\n"  # so the way is open
        assert "result" in server.request("prompts/get", {"name": "own", "arguments": {"what": "x", "note": "Note"}})
        for method, params in [("resources/list", {}), ("prompts/list", {}), *questions(prepared)]:
            reply = json.dumps(server.request(method, params))
            assert SECRET not in reply, (method, params)
            assert A_BUG not in reply, (method, params)
    assert outside(prepared) == before
    assert prepared.tree() == within


def test_a_vault_that_is_replaced_while_it_is_served_is_followed_or_refused(prepared: World) -> None:
    """Unmounted, another put in its place, a link to elsewhere in its place."""
    aside = prepared.folder / "aside"
    options = ("--backend", "embedded", "--vault", str(prepared.vault), "--log-level", "error")
    with Server(prepared.environment(), *options) as server:
        server.initialize()

        def read(name: str) -> dict[str, Any]:
            return server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": name}})

        assert "result" in read("Note.md")
        prepared.vault.rename(aside)
        assert read("Note.md")["error"]["code"] == -32002
        for tool in ("create_note", "append_note"):
            made = server.request(
                "tools/call", {"name": f"obsidian_{tool}", "arguments": {"name": "N", "content": "x"}}
            )
            assert made["error"]["code"] == -32002
        assert not prepared.vault.exists()
        prepared.vault.mkdir()
        prepared.put("Second.md", "second")
        assert "result" in read("Second")
        assert read("Note.md")["error"]["code"] == -32003
        shutil.rmtree(prepared.vault)
        aside.rename(prepared.vault)
        assert "result" in read("Note.md")
        assert server.request("ping")["result"] == {}
