"""The extension in Claude Desktop: what its form says, as a command line.

A form can't be refused: whatever arrives for a field, the server starts. An optional field that was left empty arrives
as its placeholder, as an empty text, or not at all, and counts as unset. Light: the first reply waits for it.
"""

from __future__ import annotations

from obsidian_mcp import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFIX = "OBSIDIAN_EXTENSION_"
TITLE = f"{PREFIX}TITLE"
VAULTS = "Vault folders"  # the field's title
NONE = "[]"  # no folder, where a list is passed on as text
LONGEST = 36_500  # days


def words(argv: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The command line that the app's own and the form make together.

    The words after the app's own options are the folders: a field with several values can only be passed that way.
    """
    _, folders = settings.split(argv)
    own = list(argv[: len(argv) - len(folders)])
    chosen = [f"--vault={folder}" for folder in folders if not settings.is_unset(folder) and folder != NONE]
    return [*own, *_switches(environ), *_toolsets(environ), *_history(environ), *chosen]


def _switches(environ: Mapping[str, str]) -> list[str]:
    on = {"READ_ONLY": "--read-only", "FILES_ONLY": "--backend=embedded"}
    return [option for name, option in on.items() if _is_on(environ.get(PREFIX + name, ""))]


def _toolsets(environ: Mapping[str, str]) -> list[str]:
    """A switch for each set that is not on by itself."""
    head = f"{PREFIX}TOOLSET_"
    on = [name for name, value in environ.items() if name.startswith(head) and _is_on(value)]
    names = [name.removeprefix(head).lower() for name in on]
    return [f"--toolsets={','.join(('default', *sorted(names)))}"]


def _history(environ: Mapping[str, str]) -> list[str]:
    try:
        days = float(environ.get(f"{PREFIX}HISTORY_DAYS", ""))
    except ValueError:
        return []
    if days == 0:
        return ["--history=off"]
    return [f"--history-days={days:g}"] if 0 < days <= LONGEST else []


def _is_on(value: str) -> bool:
    return value.strip().lower() in settings.TRUE


def where_to_choose(environ: Mapping[str, str]) -> str:
    """What a person does there to choose a vault; empty where another program has started the server."""
    title = environ.get(TITLE, "").strip()
    if not title:
        return ""
    return (
        f"Ask the user to open Settings > Extensions > {title} > Configure in Claude Desktop, to choose the folder of "
        f"the vault under {VAULTS!r}, and to save. Then try again."
    )
