"""What an agent can mean to do. An adapter says by which tools a server does it; what it leaves out, it can't do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agents.calls import Plan, Unable
from agents.seen import Seen
from agents.session import Process

Properties = Mapping[str, str]


class Server:
    """By paths as they stand in the vault. Each method is a plan of one or more calls."""

    name = ""
    undoes = False  # has a way to take back a change
    has_etags = False

    def __init__(self) -> None:
        self.memory: dict[str, str] = {}  # what the agent knows from before

    def start(self, vault: Path, environment: Mapping[str, str], *options: str) -> Process:
        raise NotImplementedError

    def prepare(self, vault: Path) -> list[str]:
        """A command that makes its index of a vault, where it has one; what that keeps is there in every trial."""
        return []

    def ready(self, tell: Callable[..., str]) -> None:
        """Waits until it can answer, where that is not at once; `tell` calls a tool, and is not counted."""

    def called(self, path: str) -> str:
        """A note as this server wants it named; `path` may be one that isn't there."""
        return path

    # Finding

    def search(self, query: str, limit: int = 3) -> Plan[Seen]:
        raise Unable

    def read(self, path: str) -> Plan[Seen]:
        raise Unable

    def with_properties(self, folder: str, wanted: Callable[[Properties], bool], query: str) -> Plan[list[str]]:
        """Notes of a folder by their properties; `query` says the same in Obsidian's words."""
        raise Unable

    def backlinks(self, path: str) -> Plan[Seen]:
        raise Unable

    def section(self, path: str, heading: str) -> Plan[Seen]:
        raise Unable

    def lines(self, path: str, first: int, count: int) -> Plan[Seen]:
        raise Unable

    def broken_links(self) -> Plan[Seen]:
        raise Unable

    def due_tasks(self, path: str, before: str) -> Plan[Seen]:
        """Open ones."""
        raise Unable

    # Editing

    def append(self, path: str, text: str, section: str = "") -> Plan[Seen]:
        raise Unable

    def replace(self, path: str, old: str, new: str, section: str = "", before: str = "") -> Plan[Seen]:
        """In a section; `before` is the text right before it, which says the same to a server without sections."""
        raise Unable

    def replace_section(self, path: str, heading: str, old: str, new: str) -> Plan[Seen]:
        raise Unable

    def set_property(self, path: str, name: str, value: str) -> Plan[Seen]:
        raise Unable

    def tick(self, path: str, task: str) -> Plan[Seen]:
        raise Unable

    def overwrite(self, path: str, text: str) -> Plan[Seen]:
        raise Unable

    # Tidying

    def rename(self, path: str, name: str) -> Plan[Seen]:
        raise Unable

    def move(self, paths: Sequence[str], folder: str, whole: str = "") -> Plan[Seen]:
        """`whole` is the folder that these are all notes of."""
        raise Unable

    def rename_tag(self, old: str, new: str) -> Plan[Seen]:
        raise Unable

    def replace_everywhere(self, old: str, new: str, places: int) -> Plan[Seen]:
        raise Unable

    def delete(self, path: str) -> Plan[Seen]:
        raise Unable

    # Taking back, and minding others

    def undo(self) -> Plan[Seen]:
        """The latest change."""
        raise Unable

    def undelete(self, path: str) -> Plan[Seen]:
        """The note that was just deleted, where there is no undo."""
        raise Unable

    def undo_of(self, path: str) -> Plan[Seen]:
        """The latest change of one note, though others came after it."""
        raise Unable

    def undo_merging(self, path: str) -> Plan[Seen]:
        """Without what a person has written since."""
        raise Unable

    def undo_all(self) -> Plan[Seen]:
        """Everything of this session."""
        raise Unable

    def etag(self, path: str) -> Plan[str]:
        raise Unable

    def replace_if(self, path: str, old: str, new: str, etag: str) -> Plan[Seen]:
        """Only if the note is still the one with this etag."""
        raise Unable
