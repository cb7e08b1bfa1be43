"""Wires the parts; the one module that knows them all."""

from __future__ import annotations

import os
import threading

from obsidian_mcp import __version__
from obsidian_mcp.errors import VaultNotFound
from obsidian_mcp.servers.notes import Dispatcher
from obsidian_mcp.settings import UsageError, at_home, looks_like_path
from obsidian_mcp.tools import catalogue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.connection import Connection
    from obsidian_mcp.settings import Http, Settings
    from obsidian_mcp.vault.port import Backend, Vault


class CannotServe(Exception):
    """The door can't be opened; one line says why."""


# A client that lists the tools next should not wait for our imports.
QUIET_BEFORE_WARM_UP = 0.05


class App:
    """One run of the program: settings, vaults, and the dispatcher over them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._wanted = the_vaults(settings)
        self.labels = labels(self._wanted)
        self.catalogue = catalogue.load(settings.read_only, self.labels)
        every = catalogue.load() if settings.timeouts else self.catalogue
        unknown = [tool for tool in settings.timeouts if tool not in every]
        if unknown:
            raise UsageError(f"there is no tool {unknown[0]!r} to set a limit for; there are {', '.join(every.names)}")
        self.dispatcher = Dispatcher(settings, self.catalogue, self._open, self.labels, self.wake)
        self._awake = False
        self._backend: Backend | None = None
        self._lock = threading.Lock()

    def _open(self, label: str, call: CallContext) -> Vault:
        self.wake()
        assert self._backend is not None
        return self._backend.open(self._wanted[self.labels.index(label)], call)

    def wake(self) -> None:
        """Load what calls need, once: whoever comes second waits for the first."""
        with self._lock:
            if self._awake:
                return
            from obsidian_mcp import logs

            logs.configure(self.settings.log_level, self.settings.log_format)
            backend, why = self._choose()
            logs.log("info", "serving", version=__version__, vaults=list(self.labels), backend=backend, why=why)
            import obsidian_mcp.tools.declared  # noqa: F401  # for its side effect: it is loaded now, not in the call

            self._awake = True

    def _choose(self) -> tuple[str, str]:
        """Settle on a backend, for good, and say which and why."""
        embedded, command = choice(self.settings)
        if embedded:
            from obsidian_mcp.backends.files.backend import EmbeddedBackend

            self._backend = EmbeddedBackend(self.settings)
            why = "asked for" if self.settings.backend == "embedded" else "no Obsidian command was found"
            return "embedded", why
        from obsidian_mcp.backends.obsidian.backend import CliBackend

        self._backend = CliBackend(self.settings)
        found = f"the command is {command}"
        return "obsidian", found if command else "asked for, but no command was found; calls will say what to do"

    def connect(self, send: Callable[[bytes], None]) -> Connection:
        """A conversation with a client in this process."""
        from obsidian_mcp.connection import Connection
        from obsidian_mcp.scheduler import Scheduler

        return Connection(self.dispatcher, Scheduler(), send)

    def problem(self) -> str:
        """Why no call would work, as far as a first look tells; empty if nothing is in the way."""
        try:
            for wanted in self._wanted:
                full_vault(wanted, self.settings)
        except UsageError as error:
            return str(error)
        return ""

    def health(self) -> str:
        """Whether the vaults could be used now: ok, degraded or error."""
        self.wake()
        assert self._backend is not None
        return self._backend.health(self._wanted)

    def serve_http(self, http: Http) -> None:
        """Until a signal ends it. Raises CannotServe if the address can't be used."""
        from obsidian_mcp.doors.http import routes, server

        try:
            listening = server.listen(http)
        except server.NoSocket as problem:
            raise CannotServe(str(problem)) from None
        self.wake()
        if why := self.problem():
            from obsidian_mcp import logs

            logs.log("warning", "no call would work now", why=why)
        door = routes.application(self.dispatcher, self.catalogue, http, self.health)
        longest = max(self.settings.timeout, *self.settings.timeouts.values(), 0.0)
        server.serve(door, listening, longest)
        self._end(0)

    def serve_ide(self, port: int, command: Sequence[str], opened: Callable[[str, int], None]) -> None:
        """A door for each vault, until a signal or the command ends it. Raises CannotServe."""
        from obsidian_mcp import logs
        from obsidian_mcp.doors.ide import server as opening
        from obsidian_mcp.servers.ide.workspace import IdeWorkspace

        folders = [_folder(wanted, self.settings) for wanted in self._wanted]
        if port and len(folders) > 1:
            raise UsageError("each of several vaults has a door of its own; leave --port out")
        self.wake()
        assert self._backend is not None
        desks = [
            IdeWorkspace(folder, wanted, self._backend) for folder, wanted in zip(folders, self._wanted, strict=True)
        ]
        try:
            code = opening.serve(
                desks, self.settings.environ, port, command, lambda door: opened(door.folder, door.port)
            )
        except opening.NoDoor as problem:
            logs.close()  # what it has to say comes before why it ends
            raise CannotServe(str(problem)) from None
        self._end(code)

    def serve_stdio(self) -> None:
        from obsidian_mcp.doors.stdio import server as stdio

        warm_up = WarmUp(self)
        stdio.serve(self.dispatcher, warm_up.nudge, self._end)

    def _end(self, code: int) -> None:
        """At once: threads that still import or wait must not hold up the end."""
        if self._awake:
            from obsidian_mcp import logs
            from obsidian_mcp.backends.files import atomic as disk

            disk.discard_unfinished()
            logs.close()
        os._exit(code)


def serve_bridge(remote: Http, level: str, format: str) -> None:
    """Another server's tools over stdio, until the input ends."""
    from obsidian_mcp import logs
    from obsidian_mcp.doors.stdio import server as stdio
    from obsidian_mcp.servers.relay.client import Remote
    from obsidian_mcp.servers.relay.server import Relay

    logs.configure(level, format)
    relay = Relay(Remote(remote.host, remote.port, remote.token))

    def end(code: int) -> None:
        logs.close()
        os._exit(code)

    stdio.serve(relay, lambda: None, end, relay.begin)


class WarmUp:
    """Imports what the first call needs, while the client reads its first replies."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._nudges = 0
        self._go = threading.Event()

    def nudge(self) -> None:
        """Called after every line: the first starts the waiting, the third ends it."""
        self._nudges += 1
        if self._nudges == 1:
            threading.Thread(target=self._run, daemon=True).start()
        elif self._nudges == 3:
            self._go.set()

    def _run(self) -> None:
        self._go.wait(QUIET_BEFORE_WARM_UP)
        self._app.wake()


def the_vaults(settings: Settings) -> tuple[str, ...]:
    """Those that were named, or the one that must be meant."""
    return settings.vaults or (_only_vault(settings),)


def choice(settings: Settings) -> tuple[bool, str | None]:
    """Whether the files themselves are served, and the Obsidian command, if there is one.

    A command that was named is meant to be used, there or not.
    """
    from obsidian_mcp.backends.obsidian import discover

    command = discover.find(settings.obsidian_bin, settings.environ)
    nothing_found = command is None and not settings.obsidian_bin
    return settings.backend == "embedded" or (settings.backend == "auto" and nothing_found), command


def full_vault(wanted: str, settings: Settings) -> str:
    """A vault as it can be named from any folder. Raises if no tool could use it."""
    from obsidian_mcp import registry

    vaults = registry.registered(settings.environ)
    try:
        found = registry.find_one(wanted, vaults, settings.environ)
    except VaultNotFound as several:
        raise UsageError(several.message) from None
    embedded, _ = choice(settings)
    path = os.path.abspath(found.path if found else at_home(wanted, settings.environ))
    if not found and not vaults and not looks_like_path(wanted) and not embedded:
        return wanted  # an app on the other side of some boundary may know it
    if not os.path.isdir(path):
        known = f"; Obsidian knows {registry.described(vaults)}" if vaults else ""
        gone = f"{wanted!r} is registered, but its folder {path} is not there" if found else ""
        raise UsageError(gone or f"there is no vault {wanted!r}: it is no folder{known}")
    if not found and not embedded:
        raise UsageError(
            f"{path} is not a vault that Obsidian knows; open it there as a vault, "
            "or serve the folder without the app: --backend embedded"
        )
    return path if looks_like_path(wanted) or not found else wanted


def _folder(wanted: str, settings: Settings) -> str:
    """A vault's folder on this machine. Raises if it has none."""
    from obsidian_mcp import registry

    named = full_vault(wanted, settings)
    found = registry.find_one(named, registry.registered(settings.environ), settings.environ)
    folder = os.path.abspath(found.path if found else at_home(named, settings.environ))
    if not os.path.isdir(folder):
        raise UsageError(f"the folder of the vault {wanted!r} is not on this machine")
    return folder


def _only_vault(settings: Settings) -> str:
    """The vault that must be meant when none is named."""
    from obsidian_mcp import registry

    vaults = registry.registered(settings.environ)
    opened = [vault for vault in vaults if vault.open]
    for candidates in (vaults, opened):
        if len(candidates) == 1:
            return candidates[0].id
    if not vaults:
        raise UsageError("no vault was named and Obsidian has none registered here; use --vault NAME|ID|PATH")
    raise UsageError(
        f"no vault was named and several are registered; use --vault with one of: {registry.described(vaults)}"
    )


def labels(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """What the vaults are called in a tool's `vault` argument: a path's base name, unless two would be the same."""
    short = [value.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or value for value in wanted]
    return tuple(name if short.count(name) == 1 else value for name, value in zip(short, wanted, strict=True))
