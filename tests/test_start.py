"""What is loaded before the first reply. Steadier than a clock on a busy machine."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.client import PATIENCE, TOOLS, Server
from tests.support.world import World

HEAVY = {
    "pydantic",
    "pydantic_core",
    "structlog",
    "typer",
    "rich",
    "asyncio",
    "logging",
    "typing",
    "dataclasses",
    "pathlib",
    "subprocess",
    "inspect",
    "ssl",
    "socket",
}
# All that may be loaded before the first reply, beyond what the interpreter has loaded anyway.
LIGHT = set("__future__ _json gc select".split())
OWN = set(
    "__main__ app backends backends.obsidian backends.obsidian.discover connection doors doors.stdio "
    "doors.stdio.server doors.stdio.streams errors features features.instructions protocol protocol.framing "
    "protocol.jsonrpc protocol.methods protocol.quickjson protocol.results protocol.revisions questions running "
    "servers servers.notes settings tools tools.catalogue tools.toolsets vaults".split()
)
LISTING = (
    "import os, sys\n"
    "bare = set(sys.modules)\n"
    "from obsidian_mcp import app\n"
    "app.App._nudge = lambda self: None\n"
    "def end(self, code):\n"
    "    os.write(2, '\\n'.join(sorted(set(sys.modules) - bare)).encode())\n"
    "    os._exit(code)\n"
    "app.App._end = end\n"
    "from obsidian_mcp.__main__ import main\n"
    "main()\n"
)


def test_nothing_heavy_is_loaded_before_the_first_replies(own_world: World) -> None:
    command = (sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{LISTING}")
    with Server(own_world.environment(), "--vault", "Vault", command=command) as server:
        server.initialize()
        server.request("ping")
        assert len(server.request("tools/list")["result"]["tools"]) == len(TOOLS)
        assert server.finish() == 0
    loaded = set(server.log.decode().split())
    assert "obsidian_mcp.doors.stdio.server" in loaded
    assert {name for name in loaded if not name.startswith("obsidian_mcp")} <= LIGHT
    assert {name for name in loaded if name.startswith("obsidian_mcp.")} <= {f"obsidian_mcp.{name}" for name in OWN}


def test_taking_a_call_loads_nothing_that_the_warm_up_loads() -> None:
    """Two threads that import the same heavy modules at once can see them half made."""
    program = (
        "import sys\n"
        "from obsidian_mcp.features.tools import touched\n"
        "touched({'name': 'x'}, ['name'])\n"
        "from obsidian_mcp.protocol.jsonrpc import Request\n"
        "from obsidian_mcp.protocol.methods import Peer\n"
        "from obsidian_mcp.servers.offered import Offered\n"
        "offered = Offered(None, 1.0, lambda: None, lambda: None)\n"
        "uri = {'uri': 'obsidian://vault/V/%C3%A9.md'}\n"
        "offered.read_resource(Request('resources/read', uri, 1, False), Peer(False, '2025-11-25'))\n"
        "import json; print(json.dumps(sorted(sys.modules)))\n"
    )
    program = f"import sys; sys.path[:] = {sys.path!r}\n{program}"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, timeout=PATIENCE, check=True)
    assert not HEAVY & set(json.loads(done.stdout))


def test_a_call_may_come_while_everything_is_still_being_loaded(own_world: World) -> None:
    own_world.put("Note.md", "x")
    for _ in range(5):
        with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
            server.initialize().begin("tools/list")
            numbers = [server.begin_call("read_note", name="Note") for _ in range(3)]
            assert [server.end_call(number)["content"] for number in numbers] == ["x"] * 3


@pytest.mark.parametrize(
    "line", [b'{"jsonrpc": "2.0",', b"{", b'"', b"[1,]", b'{"a":1e999}', b"NaN", b'"\x01"', b"nul", b"\xff"]
)
def test_the_very_first_line_may_be_no_json(own_world: World, line: bytes) -> None:
    """The accelerator has no errors of its own: those are in the package, which is not loaded yet."""
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        server.write(line + b"\n")
        server.initialize()
        assert server.said[0]["error"]["code"] == -32700


def test_starting_alone_touches_nothing(own_world: World) -> None:
    before = sorted(own_world.folder.rglob("*"))
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        server.initialize().request("tools/list")
        assert server.finish() == 0
    assert sorted(own_world.folder.rglob("*")) == before


def test_a_doors_library_is_loaded_only_where_the_door_is_opened() -> None:
    names = "('websockets', 'starlette', 'uvicorn')"
    code = f"import sys, obsidian_mcp.cli; print([name for name in {names} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_first_call_waits_for_nothing_that_it_does_not_need(own_world: World) -> None:
    """Locks are for writes, and pydantic's plugins for nobody: both load much."""
    program = (
        "import os, sys\n"
        "from obsidian_mcp import settings\n"
        "from obsidian_mcp.app import App\n"
        "from obsidian_mcp.call import CallContext\n"
        f"given, _ = settings.split(['--backend', 'embedded', '--vault', {str(own_world.vault)!r}])\n"
        "app = App(settings.load(given, dict(os.environ)))\n"
        "app.wake_for('obsidian_read_note')\n"
        "app.tools.run('obsidian_read_note', {'name': 'Note'}, CallContext())\n"
        "import json; print(json.dumps(sorted(sys.modules)))\n"
    )
    own_world.put("Note.md", "x")
    program = f"import sys; sys.path[:] = {sys.path!r}\n{program}"
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, env=own_world.environment(), capture_output=True, timeout=PATIENCE, check=True)
    loaded = set(json.loads(done.stdout))
    assert not {"filelock", "logging", "structlog", "importlib.metadata", "email", "socket"} & loaded
    assert not {"obsidian_mcp.tools.find", "obsidian_mcp.vault.query.parser", "obsidian_mcp.features.prompts"} & loaded
