"""Names in the settings that mean nothing, and what was probably meant. They are warned of, and ignored.

Asked after the first replies: a wrong name must not keep a host's server from starting.
"""

from __future__ import annotations

from obsidian_mcp import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TOOL = "obsidian_"
ALIKE = 0.75  # how much of two names must be the same; the prefix that all have is left aside


def variables(environ: Mapping[str, str]) -> list[str]:
    """Of the environment."""
    known = settings.variables()
    unknown = [name for name in environ if name.startswith(settings.PREFIX) and name not in known]
    return [
        f"{name} in the environment is not a setting, and is ignored{_meant(name, known, settings.PREFIX)}"
        for name in sorted(unknown)
    ]


def limits(wanted: Iterable[str], tools: Iterable[str]) -> list[str]:
    """Of --timeout-for."""
    known = list(tools)
    unknown = [name for name in wanted if name not in known]
    return [
        f"there is no tool {name} to set a limit for with --timeout-for{_meant(name, known, TOOL)}" for name in unknown
    ]


def _meant(name: str, known: Iterable[str], prefix: str) -> str:
    from difflib import get_close_matches  # only for those who need it

    rests = {each.removeprefix(prefix): each for each in known}
    found = get_close_matches(name.removeprefix(prefix), rests, 1, ALIKE)
    return f"; did you mean {rests[found[0]]}?" if found else ""
