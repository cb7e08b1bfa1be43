"""The sets in which tools are switched on and off. Light: the settings are checked against them before the start."""

from __future__ import annotations

from obsidian_mcp.settings import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Toolset:
    """One set of tools, by the noun of its module."""

    __slots__ = ("description", "name", "on_by_default")

    def __init__(self, name: str, description: str, on_by_default: bool) -> None:
        self.name = name
        self.description = description
        self.on_by_default = on_by_default


NOTES = Toolset("notes", "Create, read, add to, move and delete notes.", on_by_default=True)
FIND = Toolset("find", "Search notes; list folders, links, properties.", on_by_default=True)
EDIT = Toolset("edit", "Change a text, a section or properties of a note.", on_by_default=True)
HISTORY = Toolset("history", "List what was changed; undo it.", on_by_default=True)
TASKS = Toolset("tasks", "List tasks of the vault; tick them.", on_by_default=False)
TIDY = Toolset("tidy", "Move, replace and rename in many notes; repair links.", on_by_default=False)
MEDIA = Toolset("media", "See images, PDFs and canvases.", on_by_default=False)
GRAPH = Toolset("graph", "Show how notes are linked.", on_by_default=False)
BASES = Toolset("bases", "Answer from bases.", on_by_default=False)
TOOLSETS = {toolset.name: toolset for toolset in (NOTES, FIND, EDIT, HISTORY, TASKS, TIDY, MEDIA, GRAPH, BASES)}
DEFAULT, ALL = "default", "all"


def chosen(names: Sequence[str]) -> frozenset[str]:
    """The sets that these names mean. Raises if one means none."""
    found: set[str] = set()
    for name in names or (DEFAULT,):
        if name in TOOLSETS:
            found.add(name)
        elif name in (DEFAULT, ALL):
            found.update(each.name for each in TOOLSETS.values() if each.on_by_default or name == ALL)
        else:
            known = ", ".join((*TOOLSETS, DEFAULT, ALL))
            raise UsageError(f"there is no toolset {name!r} for --toolsets; there are {known}")
    return frozenset(found)


def adjusted(names: Iterable[str], known: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Single tools to add and to take away, out of `NAME` and `-NAME`. Raises if there is no such tool."""
    tools = list(known)
    more: set[str] = set()
    fewer: set[str] = set()
    for name in names:
        bare = name.removeprefix("-")
        full = bare if bare.startswith("obsidian_") else f"obsidian_{bare}"
        if full not in tools:
            raise UsageError(f"there is no tool {bare!r} for --tools; there are {', '.join(tools)}")
        (fewer if name.startswith("-") else more).add(full)
    return frozenset(more), frozenset(fewer)
