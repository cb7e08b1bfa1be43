"""The tools as a feature: which are offered, and a call of one as a job."""

from __future__ import annotations

from obsidian_mcp.errors import Failure, InvalidArguments, InvalidParams, NoSuchName
from obsidian_mcp.protocol.clients import SMALL
from obsidian_mcp.running import Job

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.protocol import jsonrpc
    from obsidian_mcp.settings import Settings
    from obsidian_mcp.tools.catalogue import Catalogue
    from obsidian_mcp.tools.tool import Context, Params, Tool

    Data = dict[str, Any]


class Tools:
    """`context` opens the vault of that label for a call whose result should fit a page of so many bytes, of that
    tool, by that client; `ready` loads what a call of a tool needs; `watch` runs a call on the vault of that label."""

    def __init__(
        self,
        settings: Settings,
        catalogue: Catalogue,
        labels: tuple[str, ...],
        context: Callable[[str, CallContext, int, str, str], Context],
        ready: Callable[[str], None],
        watch: Callable[[str, Callable[[], Data]], Data] = lambda label, call: call(),
    ) -> None:
        self.catalogue = catalogue
        self._settings = settings
        self._labels = labels
        self._context = context
        self._ready = ready
        self._watch = watch

    def job(
        self,
        name: str,
        arguments: Mapping[str, Any],
        shape: Callable[[Data], Any],
        failed: Callable[[Failure], jsonrpc.Result | None] | None = None,
        page: int = SMALL,
        client: str = "",
    ) -> Job:
        """A call of a tool, whose data gets a shape. Raises if there is no such tool."""
        from obsidian_mcp.scheduler import Access
        from obsidian_mcp.tools.aliases import understood

        if name not in self.catalogue:
            raise self.catalogue.unknown(name)
        writes = self.catalogue.writes(name)
        meant = understood(arguments, self.catalogue.arguments(name))
        named = self.catalogue.touches(name)
        whole = self.catalogue.is_whole_vault(name) or _is_special(meant, named)
        return Job(
            name,
            Access(touched(meant, named), writes, whole=whole),
            self._settings.limit_for(name),
            lambda call: self.run(name, meant, call, page, client),
            changes=writes and meant.get("dry_run") is not True,
            ready=lambda: self._ready(name),
            shape=shape,
            failed=failed,
            noted=_noted,
        )

    def run(
        self, name: str, arguments: Mapping[str, Any], call: CallContext, page: int = SMALL, client: str = ""
    ) -> Data:
        """Validate, then act: the data of a success, or a Failure that names no tool that is switched off."""
        from obsidian_mcp.tools.aliases import understood

        tool = self.catalogue.tool(name)
        try:
            label, arguments = self._vault_of(understood(arguments, self.catalogue.arguments(name)))
            self._require_shown(name, arguments)
            params = tool.parse(arguments)
            return self._watch(label, lambda: self._data(tool, params, self._context(label, call, page, name, client)))
        except Failure as failure:
            raise failure.among(self.catalogue.names) from None

    def _data(self, tool: Tool, params: Params, it: Context) -> Data:
        """With the id by which a change can be told and undone, where there are tools that do."""
        try:
            data = tool.run(params, it)
        except NoSuchName as failure:
            raise _told_by_alias(failure, it) from None
        if self.catalogue.shows_changes and it.history is not None and it.history.last is not None:
            data["change"] = it.history.last
        return data

    def _require_shown(self, name: str, arguments: Mapping[str, Any]) -> None:
        for argument, why in self.catalogue.hidden(name).items():
            if argument in arguments:
                raise InvalidArguments(f"{name} has no argument {argument} here: the server was started {why}.")

    def _vault_of(self, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        if len(self._labels) < 2 or "vault" not in arguments:
            return self._labels[0], arguments
        label = arguments["vault"]
        if label not in self._labels:
            raise InvalidArguments(f"vault must be one of {', '.join(self._labels)}, not {label!r}.")
        return label, {key: value for key, value in arguments.items() if key != "vault"}


def _told_by_alias(failure: NoSuchName, it: Context) -> Failure:
    from obsidian_mcp.operations import unfound

    try:
        return failure if it.contents is None else unfound.by_alias(failure, it.contents.aliases(it.call))
    except Failure:  # the time is up: what is known already is said
        return failure


def call_of(request: jsonrpc.Request) -> tuple[str, dict[str, Any]]:
    """The tool's name and its arguments; raises if the call is malformed."""
    name = request.params.get("name")
    arguments = request.params.get("arguments")
    if not isinstance(name, str):
        raise InvalidParams("tools/call needs params.name, the name of a tool, as a string.")
    if not isinstance(arguments, dict | None):
        raise InvalidParams(f"The arguments of {name} must be an object.")
    return name, arguments or {}


def touched(arguments: Mapping[str, Any], names: Iterable[str]) -> frozenset[str]:
    """Keys for the notes that these arguments name: the base name up to its first dot, folded.

    Two spellings of one note (a name, a path, a link, another case) share a key; that
    two different notes may share one costs a wait and nothing else.
    """
    keys = set()
    for name in names:
        value = arguments.get(name)
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str):
                keys |= _keys(text)
    return frozenset(keys)


def _is_special(arguments: Mapping[str, Any], names: Iterable[str]) -> bool:
    """Whether a note is named by what it is for, such as `@daily`: which one that is, is not known yet."""
    return any(str(arguments.get(name, "")).lstrip().startswith("@") for name in names)


def _keys(text: str) -> set[str]:
    """One for each way in which the text can be understood; see `vault/reference.py`."""
    from obsidian_mcp.vault.folding import fold
    from obsidian_mcp.vault.spelling import Unreadable, spelling, split_section

    try:
        target = spelling(text).target
    except Unreadable:
        target = text  # the call will fail
    ways = [text] if target is text else [text, target]
    if "#" in target:
        ways.append(split_section(target)[0])
    return {fold(way.replace("\\", "/").rpartition("/")[2].partition(".")[0]).strip() for way in ways}


def _noted(data: Data) -> dict[str, Any]:
    return {"path": data.get("path")}
