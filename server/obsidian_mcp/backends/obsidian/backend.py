"""Finds the command and the vault's name for a call, then hands out the vault."""

from __future__ import annotations

import os

from obsidian_mcp import registry
from obsidian_mcp.backends.files.write import Folder
from obsidian_mcp.backends.obsidian import argv, discover, probe, replies
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.backends.obsidian.vault import CliVault
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed, Failure, ObsidianNotRunning, VaultNotFound
from obsidian_mcp.settings import Settings, looks_like_path
from obsidian_mcp.state import State
from obsidian_mcp.vault.active import Active, Unreadable, from_app

HEALTH_LIMIT = 5.0


class CliBackend:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._command: str | None = None
        self._folders: dict[str, str] = {}

    def open(self, wanted: str, call: CallContext) -> CliVault:
        """The vault for one call. The list of vaults is read anew: it may have changed since the last."""
        command = self._find_command()
        vaults = registry.registered(self._settings.environ)
        found = registry.find_one(wanted, vaults, self._settings.environ)
        if not found and looks_like_path(wanted):
            raise VaultNotFound(
                f"{wanted} is not a vault that Obsidian knows. Known vaults: {registry.described(vaults)}. "
                "Open the folder as a vault in Obsidian, name another with --vault, or serve the folder without the "
                "app: --backend embedded. `obsidian-mcp doctor` checks it."
            )
        name = registry.unique_name(found, vaults) if found else wanted
        client = Client(command, name, self._settings.environ, call, registry.described(vaults))
        root = found.path if found else self._folder_of(name, client)
        folder = Folder(root) if os.path.isabs(root) else None
        within_reach = folder if folder and folder.is_there else None
        return CliVault(client, within_reach, State(root, self._settings.environ), call)

    def health(self, wanted: tuple[str, ...]) -> str:
        """Never starts the app: a command that might is not asked."""
        vaults = registry.registered(self._settings.environ)
        for name in wanted:
            found = registry.find(name, vaults, self._settings.environ)
            if len(found) == 1 and os.path.isabs(found[0].path) and not os.path.isdir(found[0].path):
                return "error"
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
        vaults = registry.registered(self._settings.environ)
        found = registry.find_one(wanted, vaults, self._settings.environ)
        if found is None or not found.open:
            raise ObsidianNotRunning("The vault is not open in Obsidian.")
        name = registry.unique_name(found, vaults)
        client = Client(command, name, self._settings.environ, call, registry.described(vaults))
        doing = "asking for the active note"
        reply = client.ask(argv.active(), doing)
        said = replies.evaluated(reply)
        if said is None:
            raise client.failure(reply, doing)
        try:
            base, active = from_app(said)
        except Unreadable as problem:
            raise CliFailed(f"Obsidian's answer is not understood while {doing}: {problem}.") from None
        if os.path.realpath(base) != os.path.realpath(found.path):
            raise CliFailed(f"Another vault answered while {doing}: {base}.")
        return active

    def _find_command(self) -> str:
        if self._command is None:
            self._command = discover.find(self._settings.obsidian_bin, self._settings.environ)
        if self._command is None:
            where = self._settings.obsidian_bin or "PATH and the usual places"
            raise ObsidianNotRunning(f"The Obsidian command was not found in {where}. {discover.HOW_TO_INSTALL}")
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
