"""Wires the parts, and nothing else."""

from __future__ import annotations

import gc
import os
from _thread import allocate_lock

from obsidian_mcp import __version__
from obsidian_mcp.features.instructions import instructions
from obsidian_mcp.servers.notes import NotesServer
from obsidian_mcp.settings import UsageError
from obsidian_mcp.tools import catalogue
from obsidian_mcp.vaults import Vaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, TypeVar

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.connection import Connection, Send
    from obsidian_mcp.doors.http.gate import Gate
    from obsidian_mcp.doors.http.page import PageParts
    from obsidian_mcp.features.changes import Changes
    from obsidian_mcp.features.offered import Features
    from obsidian_mcp.features.tools import Tools
    from obsidian_mcp.health import Health
    from obsidian_mcp.loading import Loading
    from obsidian_mcp.servers.offered import Offered
    from obsidian_mcp.settings import Http, Settings
    from obsidian_mcp.tools.tool import Context

    T = TypeVar("T")


def misnamed_in(settings: Settings) -> list[str]:
    """Settings that mean nothing, a sentence each."""
    from obsidian_mcp import misnamed

    limits = misnamed.limits(settings.timeouts, catalogue.load().names) if settings.timeouts else []
    return [*misnamed.variables(settings.environ), *limits]


class CannotServe(Exception):
    """The door can't be opened; one line says why."""


class App:
    """One run of the program: settings, vaults, tools, and the server over them.

    With `vault_later` it may begin without a vault, and each call says what is missing.
    """

    def __init__(self, settings: Settings, vault_later: bool = False) -> None:
        self.settings = settings
        self.vaults = Vaults(settings, vault_later)
        labels = self.vaults.labels
        self.catalogue = catalogue.load(settings.read_only, labels, settings.toolsets, settings.tools, settings.history)
        if settings.permanent_delete == "never":
            trash = "Move a note or file to the trash."
            self.catalogue.hide("obsidian_delete_note", "permanent", "with --permanent-delete never", trash)
        self._health: Health | None = None
        self._healths: dict[str, Health] = {}
        self._tools: Tools | None = None
        self.server = NotesServer(settings, self.catalogue, lambda: self.tools, self._instructions, self._offered)
        self._made: Features | None = None
        self._session = os.urandom(8).hex()
        self._made_loading: Loading | None = None
        self._lock = allocate_lock()

    @property
    def tools(self) -> Tools:
        """Made when the first is called. Two threads may each make them: they hold nothing of their own."""
        if self._tools is None:
            from obsidian_mcp.features.tools import Tools

            labels = self.vaults.labels or ("",)
            self._tools = Tools(self.settings, self.catalogue, labels, self._context, self.wake_for, self._watch)
        return self._tools

    def _instructions(self) -> str:
        return instructions(self.catalogue, self.vaults.names, self.vaults.with_app)

    def _offered(self) -> Offered:
        from obsidian_mcp.servers.offered import Offered

        return Offered(self.tools, self.settings.timeout, self.wake, self._features)

    def _features(self) -> Features:
        """After `wake`."""
        assert self._made is not None
        return self._made

    def _make_features(self) -> Features:
        import obsidian_mcp.servers.confirming  # noqa: F401  # for its side effect: it is loaded
        from obsidian_mcp.features.completion import Completion
        from obsidian_mcp.features.offered import Features
        from obsidian_mcp.features.prompts import Prompts
        from obsidian_mcp.features.resources import Resources, Served

        def served() -> list[Served]:
            pairs = zip(self.vaults.look_again(), self.vaults.addresses, strict=True)
            return [Served(label, name) for label, name in pairs]

        vaults = self.vaults
        prompts = Prompts(self.catalogue.names, self.settings.prompts, served, vaults.open, vaults.files)
        return Features(Resources(served, vaults.open, vaults.files), Completion(served, vaults.files), prompts)

    def _context(self, label: str, call: CallContext, page: int, tool: str, client: str) -> Context:
        from obsidian_mcp.tools.tool import Context
        from obsidian_mcp.vault.history import By

        opened = self.vaults.open(label, call, By(tool, client, self._session))
        return Context(opened, call, page, label=label)

    def _watch(self, label: str, call: Callable[[], T]) -> T:
        """Where health can be asked for, every call tells of it."""
        if self._health is None:
            return self.loading.during(call)
        return self._health.watch(label, lambda: self._healths[label].watch(label, call))

    @property
    def loading(self) -> Loading:
        """Made when it is first needed, after the first reply."""
        if self._made_loading is not None:
            return self._made_loading
        with self._lock:
            if self._made_loading is None:
                from obsidian_mcp.loading import Loading

                self._made_loading = Loading(self._begin, self._steps())
            return self._made_loading

    def wake(self) -> None:
        """Load all that calls need."""
        self.loading.wake()

    def wake_for(self, tool: str) -> None:
        """Load what a call of that tool needs."""
        self.loading.wake_for(lambda: self._load_tool(tool))

    def _begin(self) -> None:
        from obsidian_mcp import logs

        logs.configure(self.settings.log_level, self.settings.log_format)
        backend, why = self.vaults.described()
        logs.log("info", "serving", version=__version__, vaults=list(self.vaults.labels), backend=backend, why=why)
        for vault, problem in self.vaults.problems():
            logs.log("warning", "this vault cannot be used", vault=vault, why=problem)
        for problem in misnamed_in(self.settings):
            logs.log("warning", "a setting is ignored", why=problem)

    def _steps(self) -> list[Callable[[], object]]:
        from functools import partial

        tools = (partial(self._load_tool, name) for name in self.catalogue.names)
        return [*tools, self._load_parts, self._load_features, self.vaults.load_locks]

    def _load_tool(self, name: str) -> None:
        self.catalogue.tool(name).build()
        if self.catalogue.is_whole_vault(name):
            self.vaults.load_library()

    def _load_parts(self) -> None:
        """What some calls of a tool need, before there is one."""
        import obsidian_mcp.operations.making
        import obsidian_mcp.operations.sectioning
        import obsidian_mcp.operations.text_editing  # noqa: F401  # for the side effect: they are loaded

    def _load_features(self) -> None:
        self._made = self._made or self._make_features()

    def connect(self, send: Send) -> Connection:
        """A conversation with a client in this process."""
        from obsidian_mcp.connection import Connection
        from obsidian_mcp.scheduler import Scheduler

        return Connection(self.server, Scheduler(), send)

    def _state(self, health: Health) -> dict[str, Any]:
        """How things stand, and with what."""
        backend, _ = self.vaults.described()
        return {"status": health.status(), "backend": backend, "vaults": list(self.vaults.labels)}

    def serve_http(self, http: Http, shown: Callable[[str], AbstractContextManager[None]]) -> None:
        """Until a signal ends it; `shown` gets the page's link meanwhile. Raises CannotServe if the address can't be
        used.
        """
        from obsidian_mcp.doors.http import routes

        def door(parts: PageParts) -> Gate:
            health = self._watched()
            return routes.application(self.server, http, lambda: self._state(health), parts, self._history_tools())

        self._serve(http, door, shown)

    def serve_page(self, http: Http, shown: Callable[[str], AbstractContextManager[None]]) -> None:
        """The page alone, in the same way."""
        from obsidian_mcp.doors.http import routes

        def door(parts: PageParts) -> Gate:
            self._watched()
            return routes.page_alone(http, parts, self._history_tools())

        self._serve(http, door, shown)

    def _serve(
        self, http: Http, door: Callable[[PageParts], Gate], shown: Callable[[str], AbstractContextManager[None]]
    ) -> None:
        from obsidian_mcp.doors.http import server
        from obsidian_mcp.doors.http.page import PageParts
        from obsidian_mcp.doors.http.page_guard import PageGuard

        try:
            listening = server.listen(http)
        except server.NoSocket as problem:
            raise CannotServe(str(problem)) from None
        self.wake()
        guard = PageGuard()
        parts = PageParts(self.catalogue, self._page_state, self._changes(), guard)
        longest = max(self.settings.timeout, *self.settings.timeouts.values(), 0.0)
        with shown(server.link(listening, guard.secret)):
            server.serve(door(parts), listening, longest)
        self._end(0)

    def _watched(self) -> Health:
        """From now on calls tell of the health, of all vaults and of each."""
        from functools import partial

        from obsidian_mcp.health import Health

        for label, wanted in zip(self.vaults.labels, self.vaults.wanted, strict=True):
            self._healths[label] = Health(partial(self.vaults.health, (wanted,)))
        self._health = Health(self.vaults.health)
        return self._health

    def _page_state(self) -> dict[str, Any]:
        """Each vault and how it is, for people."""
        backend, why = self.vaults.described()
        problems = dict(self.vaults.problems())
        rows = zip(self.vaults.labels, self.vaults.names, self.vaults.wanted, strict=True)
        vaults = [
            {"label": label, "name": name, "status": self._healths[label].status(), "problem": problems.get(wanted, "")}
            for label, name, wanted in rows
        ]
        settings = self.settings
        return {
            "backend": backend,
            "why": why,
            "vaults": vaults,
            "history": settings.history,
            "read_only": settings.read_only,
        }

    def _history_tools(self) -> Tools:
        """The history's own, whichever an assistant is offered."""
        from obsidian_mcp.features.tools import Tools

        labels = self.vaults.labels
        offered = catalogue.load(self.settings.read_only, labels, ("history",), (), self.settings.history)
        return Tools(self.settings, offered, labels, self._context, lambda name: self.wake(), self._watch)

    def _changes(self) -> Changes:
        from obsidian_mcp.features.changes import Changes
        from obsidian_mcp.vault.history import NOBODY

        return Changes(self.vaults.labels, lambda label, call: self.vaults.open(label, call, NOBODY))

    def serve_ide(self, port: int, command: Sequence[str], opened: Callable[[str, int], None]) -> None:
        """A door for each vault, until a signal or the command ends it. Raises CannotServe."""
        from obsidian_mcp import logs
        from obsidian_mcp.doors.ide import server
        from obsidian_mcp.servers.ide.workspace import IdeWorkspace

        folders = self.vaults.folders()
        if port and len(folders) > 1:
            raise UsageError("each of several vaults has a door of its own; leave --port out")
        self.wake()
        pairs = zip(folders, self.vaults.wanted, strict=True)
        workspaces = [IdeWorkspace(folder, wanted, self.vaults.backend) for folder, wanted in pairs]
        try:
            code = server.serve(
                workspaces, self.settings.environ, port, command, lambda door: opened(door.folder, door.port)
            )
        except server.NoDoor as problem:
            logs.close()  # what it has to say comes before why it ends
            raise CannotServe(str(problem)) from None
        self._end(code)

    def serve_stdio(self) -> None:
        from obsidian_mcp.doors.stdio import server

        server.serve(self.server, self._nudge, self._end)

    def _nudge(self) -> None:
        gc.enable()  # see `__main__`
        self.loading.nudge()

    def _end(self, code: int) -> None:
        """At once: threads that still import or wait must not hold up the end."""
        if self._made_loading is not None and self._made_loading.has_begun:
            from obsidian_mcp import logs, vaults

            vaults.end()
            logs.close()
        os._exit(code)


def serve_bridge(remote: Http, settings: Settings) -> None:
    """Another server's tools over stdio, until the input ends."""
    from obsidian_mcp import logs, misnamed
    from obsidian_mcp.doors.stdio import server
    from obsidian_mcp.servers.relay.client import Remote
    from obsidian_mcp.servers.relay.server import RelayServer

    logs.configure(settings.log_level, settings.log_format)
    for problem in misnamed.variables(settings.environ):
        logs.log("warning", "a setting is ignored", why=problem)
    relay = RelayServer(Remote(remote.host, remote.port, remote.token))

    def end(code: int) -> None:
        logs.close()
        os._exit(code)

    server.serve(relay, lambda: None, end, relay.begin)
