from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.promises.ground import Ground, MemoryGround
from tests.support.client import Server
from tests.support.web import Web, WebSession
from tests.support.world import World

LIVE_VAULT = os.environ.get("OBSIDIAN_MCP_LIVE_VAULT", "")
SCRATCH = "obsidian-mcp-scratch/"
GROUNDS = ["live"] if LIVE_VAULT else ["memory", "near", "far", "embedded", "http"]


@pytest.fixture(scope="session")
def far_server(shared_world: World) -> Iterator[Server]:
    """A server that cannot reach the vault's folder: everything goes through the command."""
    with Server(shared_world.far_environment(), "--vault", "Vault", "--timeout", "20", "--toolsets", "all") as server:
        yield server.initialize()


@pytest.fixture(scope="session")
def http_server(shared_world: World) -> Iterator[WebSession]:
    """The same, over Streamable HTTP."""
    options = ("--vault", str(shared_world.vault), "--backend", "embedded", "--timeout", "20", "--toolsets", "all")
    with Web(shared_world.environment(), *options) as web:
        yield WebSession(web)


@pytest.fixture(scope="session")
def live_server() -> Iterator[Server]:
    with Server(dict(os.environ), "--vault", LIVE_VAULT, "--toolsets", "all") as server:
        yield server.initialize()


@pytest.fixture(params=GROUNDS)
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """memory: a dictionary. near: the stand-in, its files in reach. far: out of reach. embedded: no app. http: the
    same over HTTP. live: a running Obsidian."""
    with _ground(request) as ground:
        yield ground


@pytest.fixture(params=[name for name in GROUNDS if name not in ("far", "memory")])
def near(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """For promises that rest on the vault's folder being in reach."""
    with _ground(request) as ground:
        yield ground


@pytest.fixture(params=[name for name in GROUNDS if name != "far"])
def readable(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """For promises that rest on the notes themselves being in reach."""
    with _ground(request) as ground:
        yield ground


@pytest.fixture(params=[name for name in GROUNDS if name == "far"])
def app_alone(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """For what the app tells where the notes are out of reach."""
    with _ground(request) as ground:
        yield ground


@pytest.fixture(params=[name for name in GROUNDS if name not in ("embedded", "http", "memory")])
def with_app(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """For promises that rest on the app."""
    with _ground(request) as ground:
        yield ground


@pytest.fixture(params=[name for name in GROUNDS if name in ("embedded", "http", "memory")])
def without_app(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """For promises that rest on our own index."""
    with _ground(request) as ground:
        yield ground


@contextlib.contextmanager
def _ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    if request.param == "live":
        folder = Path(os.environ.get("OBSIDIAN_MCP_LIVE_FOLDER") or _folder_of(LIVE_VAULT))
        ground = Ground(request.getfixturevalue("live_server"), folder, SCRATCH)
        ground.clear()
        yield ground
        ground.clear()
        return
    if request.param == "memory":
        yield MemoryGround()
        return
    world: World = request.getfixturevalue("world")
    if request.param == "far":
        world.mood(None, far=True)
    servers = {"near": "shared_server", "far": "far_server", "embedded": "embedded_server", "http": "http_server"}
    server = request.getfixturevalue(servers[request.param])
    yield Ground(server, world.vault)


def _folder_of(vault: str) -> str:
    """Where the live vault is, by the list that Obsidian keeps."""
    from obsidian_mcp import registry

    environ = dict(os.environ)
    found = registry.find(vault, registry.registered(environ, sys.platform), environ)
    if len(found) != 1:
        pytest.exit(f"no single vault {vault!r} is registered; name its folder in OBSIDIAN_MCP_LIVE_FOLDER", 2)
    return found[0].path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick no process is started: what is left is the vault in memory."""
    if config.getoption("--quick"):
        items[:] = [item for item in items if "promises" not in item.path.parts or _is_in_memory(item)]


def _is_in_memory(item: pytest.Item) -> bool:
    parameters = getattr(item, "callspec", None)
    return parameters is not None and "memory" in parameters.params.values()
