"""What stands behind a vault: its backend, its index, its history. Each is loaded when it is first wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from obsidian_mcp.vaults import choice, locate

if TYPE_CHECKING:
    from obsidian_mcp.backends.obsidian.probe import Probe
    from obsidian_mcp.history.ledger import Ledger
    from obsidian_mcp.index.library import Library
    from obsidian_mcp.settings import Settings
    from obsidian_mcp.vault.history import By, HistoryIn
    from obsidian_mcp.vault.index import Disk, Index
    from obsidian_mcp.vault.port import Backend


def chosen(settings: Settings) -> tuple[Backend, str]:
    embedded, command = choice(settings)
    if embedded:
        why = "asked for" if settings.backend == "embedded" else "no Obsidian command was found"
        return files_backend(settings), why
    from obsidian_mcp.backends.obsidian.backend import ObsidianBackend

    why = f"the command is {command}" if command else "asked for, but no command was found; calls will say what to do"
    return ObsidianBackend(settings, lambda wanted: locate(wanted, settings.environ), histories(settings)), why


def files_backend(settings: Settings) -> Backend:
    """The one that needs no app."""
    from obsidian_mcp.backends.files.backend import FilesBackend

    return FilesBackend(settings, lambda wanted: locate(wanted, settings.environ), _index, histories(settings))


def histories(settings: Settings) -> HistoryIn | None:
    """What opens a vault's history, each ledger once; nothing where none is kept."""
    if not settings.history:
        return None
    from obsidian_mcp.history.recorder import CallHistory

    ledgers: dict[str, Ledger] = {}

    def history(file: str, by: By) -> CallHistory:
        if file not in ledgers:
            ledgers.setdefault(file, ledger(file, settings))
        return CallHistory(ledgers[file], by)

    return history


def look_at_history(folder: str, settings: Settings) -> tuple[str, int, int]:
    """Where the history of a vault's folder is kept, how many changes it has, and its bytes on disk."""
    from obsidian_mcp.history.recorder import CallHistory
    from obsidian_mcp.state import State
    from obsidian_mcp.vault.history import NOBODY

    file = State(folder, settings.environ).history_file
    return file, *CallHistory(ledger(file, settings), NOBODY).sizes


def ledger(file: str, settings: Settings) -> Ledger:
    from obsidian_mcp.history.ledger import Ledger

    return Ledger(file, settings.history_days, settings.history_mb << 20)


def _index(disk: Disk) -> Index:
    from obsidian_mcp.index.mentions import Mentions
    from obsidian_mcp.index.names import Names
    from obsidian_mcp.vault.index import Index

    names = Names(disk)
    return Index(names, Mentions(disk, names))


def library(folder: str, settings: Settings, index: Index | None = None) -> Library:
    """What the notes in a folder say; with the names that an index has, if there is one."""
    from obsidian_mcp.backends.files.root import VaultRoot
    from obsidian_mcp.backends.files.scan import Scan
    from obsidian_mcp.index.library import Library
    from obsidian_mcp.index.names import Names
    from obsidian_mcp.state import State

    names = index.names if index is not None and isinstance(index.names, Names) else None
    return Library(Scan(VaultRoot(folder)), State(folder, settings.environ).index_file, names)


def probe(settings: Settings, command: str) -> Probe:
    """Questions to the Obsidian command about itself."""
    from obsidian_mcp.backends.obsidian.probe import Probe

    return Probe(command, settings.environ)
