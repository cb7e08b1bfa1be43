"""The vaults that are served: which are meant, where they lie, and what answers for them.

The only module that knows the backends. Everything heavy is loaded when it is needed: the labels are wanted before the
first reply.
"""

from __future__ import annotations

import os

from obsidian_mcp.errors import SHELL, Hint, VaultNotFound
from obsidian_mcp.settings import UsageError, looks_like_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.registry import Located, Registered
    from obsidian_mcp.settings import Settings
    from obsidian_mcp.vault.active import Active
    from obsidian_mcp.vault.contents import AppAnswers, Contents
    from obsidian_mcp.vault.history import By, History
    from obsidian_mcp.vault.index import Index
    from obsidian_mcp.vault.port import Backend, Found, Vault
    from obsidian_mcp.vault.seen import Seen


class Opened:
    """A vault for the length of one call, its index if it keeps its own links, and what its notes say: all of them
    where its folder is in reach, else what the app tells; and its history, if one is kept.
    """

    __slots__ = ("_contents", "app", "history", "index", "vault")

    def __init__(
        self,
        vault: Vault,
        index: Index | None = None,
        contents: Callable[[], Contents] | None = None,
        app: AppAnswers | None = None,
        history: History | None = None,
    ) -> None:
        self.history = history
        self.vault = vault
        self.index = index
        self._contents = contents
        self.app = app

    @property
    def contents(self) -> Contents | None:
        """Made when it is first needed: most calls need none."""
        return None if self._contents is None else self._contents()

    @property
    def asked(self) -> AppAnswers:
        """The app, where the notes themselves are out of reach."""
        assert self.app is not None
        return self.app


class NoneMeant(UsageError):
    """No vault was named, and those that Obsidian has registered don't tell which one is meant."""

    def __init__(self, registered: Sequence[Registered]) -> None:
        from obsidian_mcp import registry

        self._how_many = "several are registered" if registered else "Obsidian has none registered here"
        self._known = registry.described(registered)
        use = f"--vault with one of: {self._known}" if registered else "--vault NAME|ID|PATH"
        super().__init__(f"no vault was named and {self._how_many}; use {use}")

    def failure(self) -> VaultNotFound:
        """For a client whose host has started the server so: the person who can change that is asked."""
        return VaultNotFound(
            f"No vault was named for this server, and {self._how_many}. Known vaults: {self._known}.",
            Hint(
                "Ask the user which one is meant, or for its folder. It belongs into the host's configuration of this "
                "server, as --vault NAME|ID|PATH or OBSIDIAN_MCP_VAULT, or into the settings of the extension."
            ),
        )


def _in_words_of_host(failure: VaultNotFound, settings: Settings) -> VaultNotFound:
    """An extension has a form, and neither options nor commands."""
    from obsidian_mcp.hosts import extension

    where = extension.where_to_choose(settings.environ)
    return VaultNotFound(failure.fact, Hint(where), failure.vault, **failure.data) if where else failure


class Vaults:
    """Those that one server serves. The backend is chosen when it is first needed, for good.

    With `later`, a vault that nothing tells yet is looked for again by each call.
    """

    def __init__(self, settings: Settings, later: bool = False) -> None:
        self._settings = settings
        try:
            self.wanted = meant(settings)
        except NoneMeant:
            if not later:
                raise
            self.wanted = ()
        self.labels = labels(self.wanted)
        self._backend: Backend | None = None
        self._why = ""
        self._libraries: dict[str, Contents] = {}

    @property
    def backend(self) -> Backend:
        if self._backend is None:
            from obsidian_mcp.vaults.behind import chosen

            self._backend, self._why = chosen(self._settings)
        return self._backend

    @property
    def names(self) -> tuple[str, ...]:
        """What people call them: the one that nobody has named is known by an id."""
        if self._settings.vaults:
            return self.labels
        from obsidian_mcp import registry

        found = {vault.id: vault.name for vault in registry.registered(self._settings.environ)}
        return tuple(found.get(wanted, label) for wanted, label in zip(self.wanted, self.labels, strict=True))

    @property
    def with_app(self) -> bool:
        """Whether the app is asked. Light, unlike the backend: it is wanted for the first reply."""
        return self._settings.backend != "embedded" and not choice(self._settings)[0]

    def described(self) -> tuple[str, str]:
        """Which backend, and why."""
        return self.backend.name, self._why

    @property
    def addresses(self) -> tuple[str, ...]:
        """What each is called in an `obsidian://` address: as the app calls it, or as its folder is called."""
        found = tuple(_address_of(wanted, self._settings) for wanted in self.wanted)
        if len(set(found)) == len(found):
            return found
        return tuple(label if found.count(name) > 1 else name for name, label in zip(found, self.labels, strict=True))

    def files(self, label: str, call: CallContext, within: str = "") -> list[Seen]:
        """From one walk that opens none, through the vault or a folder of it; what the vault excludes is not offered.

        Where its folder is out of reach, their names.
        """
        from obsidian_mcp.vault.seen import Seen

        found = self._find(label, call)
        within = found.vault.spelled_folder(within)
        if found.folder is None:
            files = [Seen(0, -1, path) for path in found.vault.paths() if not within or path.startswith(f"{within}/")]
        else:
            from obsidian_mcp.backends.files import walk
            from obsidian_mcp.backends.files.root import VaultRoot

            files = walk.files(VaultRoot(found.folder), call, within)
        excluded = found.vault.settings().is_excluded()
        return files if within else [seen for seen in files if not excluded(seen.path)]

    def _find(self, label: str, call: CallContext, by: By | None = None) -> Found:
        from obsidian_mcp.vault.history import NOBODY

        try:
            if not self.wanted:
                self.wanted = self._meant_by_now()
            at = self.labels.index(label) if self.labels else 0
            return self.backend.open(self.wanted[at], call, by or NOBODY)
        except VaultNotFound as failure:
            raise _in_words_of_host(failure, self._settings) from None

    def open(self, label: str, call: CallContext, by: By | None = None) -> Opened:
        found = self._find(label, call, by)
        folder = found.folder
        contents = None if folder is None else lambda: self._contents(folder, found.index)
        return Opened(found.vault, found.index, contents, found.app, found.history)

    def purge_history(self, label: str) -> int:
        """Forget every change of a vault; how many there were."""
        from obsidian_mcp.call import CallContext
        from obsidian_mcp.vault.history import NOBODY

        history = self.open(label, CallContext(), NOBODY).history
        return 0 if history is None else history.purge()

    def has_change(self, label: str, id: str) -> bool:
        from obsidian_mcp.call import CallContext
        from obsidian_mcp.vault.history import NOBODY, NoSuchEntry

        history = self.open(label, CallContext(), NOBODY).history
        try:
            return history is not None and bool(history.entry(id))
        except NoSuchEntry:
            return False

    def _contents(self, folder: str, index: Index | None) -> Contents:
        """One for each folder. Two threads may each make one at first; the second is forgotten."""
        from obsidian_mcp.vaults.behind import library

        known = self._libraries.get(folder)
        return known or self._libraries.setdefault(folder, library(folder, self._settings, index))

    def load_library(self) -> None:
        """What a search needs, before there is one."""
        import obsidian_mcp.index.library  # noqa: F401  # for its side effect: it is loaded
        from obsidian_mcp.vault.forms import Forms

        Forms("loaded")

    def load_locks(self) -> None:
        """What a write needs, before there is one."""
        import filelock  # noqa: F401  # for its side effect: it is loaded

    def look_again(self) -> tuple[str, ...]:
        """The labels; a vault that could not be told at the start, and can be by now, has an empty one."""
        if not self.wanted:
            try:
                self.wanted = meant(self._settings)
            except NoneMeant:
                return ()
        return self.labels or ("",) * len(self.wanted)

    def _meant_by_now(self) -> tuple[str, ...]:
        try:
            return meant(self._settings)
        except NoneMeant as none:
            raise none.failure() from None

    def active(self, wanted: str, call: CallContext) -> Active | None:
        return self.backend.active(wanted, call)

    def health(self, wanted: tuple[str, ...] = ()) -> str:
        """Whether the vaults, or those, could be used now: ok, degraded or error."""
        return self.backend.health(wanted or self.wanted)

    def problems(self) -> list[tuple[str, str]]:
        """The vaults that no call could use, as far as a first look tells, and why; one without a name is none."""
        found = []
        try:
            for wanted in self.wanted or meant(self._settings):
                try:
                    full_name(wanted, self._settings)
                except UsageError as error:
                    found.append((wanted, str(error)))
        except NoneMeant as none:
            found.append(("", str(none)))
        return found

    def folders(self) -> list[str]:
        """Their folders on this machine. Raises UsageError if one has none."""
        return [_folder(wanted, self._settings) for wanted in self.wanted]


def locate(wanted: str, environ: Mapping[str, str]) -> Located:
    from obsidian_mcp.registry import Located

    return Located(wanted, environ)


def meant(settings: Settings) -> tuple[str, ...]:
    """Those that were named, or the one that must be meant. Raises NoneMeant."""
    if settings.vaults:
        return settings.vaults
    from obsidian_mcp import registry

    vaults = registry.registered(settings.environ)
    opened = [vault for vault in vaults if vault.open]
    for candidates in (vaults, opened):
        if len(candidates) == 1:
            return (candidates[0].id,)
    raise NoneMeant(vaults)


def labels(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """What the vaults are called in a tool's `vault` argument: a path's base name, unless two would be the same."""
    short = [value.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or value for value in wanted]
    return tuple(name if short.count(name) == 1 else value for name, value in zip(short, wanted, strict=True))


def _address_of(wanted: str, settings: Settings) -> str:
    place = locate(wanted, settings.environ)
    try:
        if place.found is not None:
            return place.unique_name
    except VaultNotFound:
        return wanted
    return os.path.basename(os.path.abspath(place.folder)) if looks_like_path(wanted) else wanted


def choice(settings: Settings) -> tuple[bool, str | None]:
    """Whether the files themselves are served, and the Obsidian command, if there is one.

    A command that was named is meant to be used, there or not.
    """
    from obsidian_mcp.backends.obsidian import discover

    command = discover.find(settings.obsidian_bin, settings.environ)
    nothing_found = command is None and not settings.obsidian_bin
    return settings.backend == "embedded" or (settings.backend == "auto" and nothing_found), command


def full_name(wanted: str, settings: Settings) -> str:
    """A vault as it can be named from any folder. Raises UsageError if no tool could use it."""
    place = locate(wanted, settings.environ)
    try:
        found, path = place.found, os.path.abspath(place.folder)
    except VaultNotFound as several:
        raise UsageError(several.told_to(SHELL)) from None
    embedded, _ = choice(settings)
    if not found and not place.vaults and not looks_like_path(wanted) and not embedded:
        return wanted  # an app on the other side of some boundary may know it
    if not os.path.isdir(path):
        if found:
            raise UsageError(f"{wanted!r} is registered, but its folder {path} is not there")
        known = f"; {place.known.rstrip('.')}" if place.vaults else ""
        raise UsageError(f"there is no vault {wanted!r}: it is not a folder{known}")
    if not found and not embedded:
        raise UsageError(
            f"{path} is not a vault that Obsidian knows; open it there as a vault, "
            "or serve the folder without the app: --backend embedded"
        )
    return path if looks_like_path(wanted) or not found else wanted


def _folder(wanted: str, settings: Settings) -> str:
    full_name(wanted, settings)
    folder = os.path.abspath(locate(wanted, settings.environ).folder)
    if not os.path.isdir(folder):
        raise UsageError(f"the folder of the vault {wanted!r} is not on this machine")
    return folder


def end() -> None:
    """When the process has to end at once: leave no temporary file in a vault."""
    from obsidian_mcp.backends.files import atomic

    atomic.discard_unfinished()
