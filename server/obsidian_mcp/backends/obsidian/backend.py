"""Finds the command for a call, then hands out the vault."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from obsidian_mcp import long_paths
from obsidian_mcp.backends.files import record
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.backends.obsidian import argv, discover, probe, replies
from obsidian_mcp.backends.obsidian.asking import Asking
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.vault import ObsidianVault
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed, Failure, FileFailed, ObsidianNotRunning, VaultNotFound
from obsidian_mcp.registry import HOW_TO_INSTALL, Address, Located, with_doctor
from obsidian_mcp.settings import Settings, looks_like_path
from obsidian_mcp.state import State
from obsidian_mcp.vault.active import Active, Unreadable, from_app
from obsidian_mcp.vault.history import NOBODY, By, HistoryIn
from obsidian_mcp.vault.port import Found

HEALTH_LIMIT = 5.0


class ObsidianBackend:
    """`locate` says what is known of a vault, `history` opens one, if it is kept."""

    name = "obsidian"

    def __init__(self, settings: Settings, locate: Callable[[str], Located], history: HistoryIn | None = None) -> None:
        self._settings = settings
        self._locate = locate
        self._history = history
        self._command: str | None = None
        self._folders: dict[str, str] = {}
        self._states: dict[str, State] = {}  # by real path: each knows how its lock has fared

    def open(self, wanted: str, call: CallContext, by: By = NOBODY) -> Found:
        command = self._find_command()
        place = self._locate(wanted)
        found = place.found
        if not found and looks_like_path(wanted):
            raise VaultNotFound(
                f"{wanted} is not a vault that Obsidian knows. {place.known}",
                with_doctor(
                    "Open the folder as a vault in Obsidian, name another with --vault, or serve the folder without "
                    "the app: --backend embedded.",
                    "checks it",
                ),
            )
        client = Client(command, place.unique_name, self._settings.environ, call, place.known)
        folder = found.path if found else self._folder_of(place.unique_name, client)
        root = VaultRoot(folder) if os.path.isabs(folder) else None
        within_reach = root if root and root.is_there else None
        # One that no path names has a name that no folder can have.
        real = long_paths.real(folder) if folder else f"{os.sep}obsidian:{place.unique_name}"
        state = self._states.setdefault(real, State(real, self._settings.environ))
        if within_reach:
            with contextlib.suppress(FileFailed):  # logged; a read does without, and the next write tries again
                record.put_right(within_reach, state)
        history = None if self._history is None else self._history(state.history_file, by)
        vault = ObsidianVault(client, within_reach, state, call, Address(place, folder), history)
        return Found(vault, None, str(within_reach.path) if within_reach else None, Asking(client), history)

    def health(self, wanted: tuple[str, ...]) -> str:
        """Never starts the app: a command that might is not asked."""
        try:
            for name in wanted:
                found = self._locate(name).found
                if found and os.path.isabs(found.path) and not os.path.isdir(found.path):
                    return "error"
        except VaultNotFound:
            pass  # several of that name: calls will say so
        try:
            command = self._find_command()
            if discover.may_launch(command):
                return "degraded"
            probe.version(command, self._settings.environ, CallContext(HEALTH_LIMIT))
        except Failure:
            return "degraded"
        return "ok"

    def active(self, wanted: str, call: CallContext) -> Active | None:
        """Asked every second, so nothing that would start the app or open a window."""
        command = self._find_command()
        if discover.may_launch(command):
            raise ObsidianNotRunning("Asking this command for the active note could start the app.")
        place = self._locate(wanted)
        found = place.found
        if found is None or not found.open:
            raise ObsidianNotRunning("The vault is not open in Obsidian.")
        client = Client(command, place.unique_name, self._settings.environ, call, place.known)
        doing = "asking for the active note"
        reply = client.ask(argv.active(), doing)
        said = replies.evaluated(reply)
        if said is None:
            raise client.failure(reply, doing)
        try:
            base, active = from_app(said)
        except Unreadable as problem:
            raise CliFailed(f"Obsidian's answer is not understood while {doing}: {problem}.") from None
        if long_paths.real(base) != long_paths.real(found.path):
            raise CliFailed(f"Another vault answered while {doing}: {base}.")
        return active

    def _find_command(self) -> str:
        if self._command is None:
            self._command = discover.find(self._settings.obsidian_bin, self._settings.environ)
        if self._command is None:
            where = self._settings.obsidian_bin or "PATH and the usual places"
            raise ObsidianNotRunning(
                f"The Obsidian command was not found in {where}.",
                with_doctor(HOW_TO_INSTALL, "shows what is found"),
            )
        return self._command

    def _folder_of(self, name: str, client: Client) -> str:
        """A vault that no list on this machine names: the app says where it is, once."""
        if name not in self._folders:
            reply = client.ask(argv.vault_path(), "asking for the vault's folder")
            if replies.failure(reply):
                raise client.failure(reply, "asking for the vault's folder")
            lines = replies.listed(reply)
            if len(lines) != 1:
                return ""  # no path: as good as out of reach, and asked again next time
            self._folders[name] = lines[0]
        return self._folders[name]
