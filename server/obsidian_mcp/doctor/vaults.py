"""The vaults, their folders, and what their settings mean for notes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from obsidian_mcp import long_paths, registry, settings
from obsidian_mcp.doctor.check import Check, Examination, sentence, told
from obsidian_mcp.doctor.folders import folders, opened_up
from obsidian_mcp.doctor.hosts import vaults_in_use, with_options
from obsidian_mcp.errors import Failure
from obsidian_mcp.hosts.command import command_line
from obsidian_mcp.settings import UsageError
from obsidian_mcp.slot import OR_ELSEWHERE
from obsidian_mcp.state import State
from obsidian_mcp.vaults import locate, meant
from obsidian_mcp.vaults.behind import library, look_at_history
from obsidian_mcp.vaults.reader import FolderReader


def lists(it: Examination) -> Iterator[Check]:
    for place in registry.broken(it.environ):
        yield Check("vaults", "warn", f"Obsidian's list of vaults {place} cannot be read.", "Look at that file.")


def vaults(it: Examination) -> Iterator[Check]:
    try:
        wanted = meant(it.settings)
    except UsageError as error:
        wanted = tuple(vaults_in_use(it))
        if not wanted:
            yield Check("vault", "fail", sentence(str(error)), command_line("setup"))
            return
        yield Check("vault", "ok", f"None was named here; the hosts' own are looked at: {', '.join(wanted)}.")
    it.wanted = wanted
    for vault in wanted:
        yield from _vault(it, vault)


def _vault(it: Examination, wanted: str) -> Iterator[Check]:
    place = locate(wanted, it.environ)
    try:
        found, known = place.found, place.known
    except Failure as failure:
        yield Check("vault", "fail", told(failure), f"Name it by its folder: {command_line('setup')}")
        return
    root = found.path if found else place.folder
    if found is not None:
        cause = f"{found.name} (id {found.id}) is registered, at {found.path}."
    elif it.embedded and os.path.isdir(root):
        cause = f"{wanted} is a folder that Obsidian does not know, which is fine here."
    elif it.embedded:
        cause = f"{wanted} is neither a folder nor a vault that Obsidian knows."
        yield Check("vault", "fail", cause, f"{known} Choose one: {command_line('setup')}")
        return
    elif settings.looks_like_path(wanted) or not it.answers:
        cause = f"Obsidian has no vault {wanted} registered."
        remedy = "Open it there as a vault, or serve the folder without the app"
        yield Check("vault", "fail", cause, f"{known} {remedy}: {with_options(it, '--backend', 'embedded')}")
        return
    else:
        root, cause = "", f"{wanted} is known to the app."
    asked, name = False, place.unique_name
    if it.answers and it.probe and (found is None or found.open):
        # Not for one whose window is closed: asking would open it.
        try:
            said = it.probe.vault_folder(name, it.call())
        except Failure as failure:
            yield Check("vault", "fail", f"The app does not serve {wanted}: {told(failure)}", known)
            return
        root, asked = root or said, True
    yield Check("vault", "ok", cause)
    yield from _folder(it, name, root, asked)


def _lists_files(it: Examination, vault: str) -> bool:
    """Whether the app sees notes where we see no folder."""
    return it.probe is not None and it.probe.has_files(vault, it.call())


def _folder(it: Examination, wanted: str, root: str, app_has_it: bool) -> Iterator[Check]:
    folder = FolderReader(root or os.devnull)
    if not folder.is_there and app_has_it and _lists_files(it, wanted):
        yield Check(
            "folder",
            "warn",
            f"{root or 'The folder'} is not on this machine: notes are read and written through the app alone.",
            "Nothing has to be done; text that the command line can't carry is refused.",
        )
        return
    if not folder.is_there:
        unmounted = "It is not there, its disk is not mounted, or it may not be seen."
        yield Check(
            "folder",
            "fail",
            f"{root or 'What the app names'} is not a folder. {unmounted}",
            f"Mount it, or choose another vault: {command_line('setup')}",
        )
        return
    readable, writable = folder.access()
    if not readable:
        yield Check("folder", "fail", f"{root} may not be read.", opened_up([root], "rx"))
    elif not writable and not it.settings.read_only:
        cause = f"{root} may not be written, which only --read-only could do without."
        yield Check("folder", "fail", cause, opened_up([root], "rwx"))
    else:
        yield Check("folder", "ok", f"{root} can be read{' and written' if writable else ''}.")
    yield from folders(it, folder, root)
    yield _found_out("links", lambda: _links(it, folder))
    yield _found_out("trash", lambda: _trash(it, folder))
    yield _found_out("state", lambda: _state(it, root))
    yield _found_out("index", lambda: _index(it, root))
    yield _found_out("history", lambda: _history(it, root))


def _found_out(id: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Failure as failure:
        return Check(id, "fail", told(failure), "Look at what it names.")


def _links(it: Examination, folder: FolderReader) -> Check:
    if it.embedded:
        return Check("links", "ok", "Links are kept when a note is moved.")
    if folder.settings().app.get("alwaysUpdateLinks") is True:
        return Check("links", "ok", "Obsidian updates links when a note is moved.")
    return Check(
        "links",
        "warn",
        "Obsidian is not set to update links when a note is moved, so a move can break them.",
        "Obsidian: Settings > Files and links > Automatically update internal links.",
    )


def _trash(it: Examination, folder: FolderReader) -> Check:
    found = folder.settings()
    if found.app.get("trashOption") == "none" and not it.embedded:
        return Check(
            "trash",
            "warn",
            "Obsidian is set to delete for good, so a deleted note is not in any trash.",
            "Obsidian: Settings > Files and links > Deleted files.",
        )
    where = ".trash in the vault" if found.uses_local_trash else "the system's trash"
    return Check("trash", "ok", f"Deleted notes go to {where}.")


def _index(it: Examination, root: str) -> Check:
    found = library(long_paths.real(root), it.settings)
    if not found.can_be_kept:
        return Check(
            "index",
            "warn",
            f"No index can be kept in {found.file}, so every search reads all notes.",
            f"Make its folder writable{OR_ELSEWHERE}.",
        )
    if not found.size:
        return Check("index", "ok", "There is no index of the notes yet; the first search begins one.")
    return Check("index", "ok", f"The index of the notes has {found.size / 1e6:.1f} MB, in {found.file}.")


def _history(it: Examination, root: str) -> Check:
    if not it.settings.history:
        return Check("history", "ok", "Changes are not kept and can't be undone: --history off.")
    file, count, size = look_at_history(root, it.settings)
    bound = f"{it.settings.history_days:g} days and {it.settings.history_mb} MB"
    if not size:
        return Check("history", "ok", f"No change was made yet; changes are kept for {bound} at most.")
    return Check(
        "history",
        "ok",
        f"{count} change{'s are' if count != 1 else ' is'} kept, in {size / 1e6:.1f} MB of at most {bound}: {file}.",
    )


def _state(it: Examination, root: str) -> Check:
    state = State(root, it.environ)
    if it.settings.read_only:
        return Check("state", "skip", "Reading needs no lock.")
    if not state.usable:
        return Check(
            "state",
            "fail",
            f"The folder for locks, {state.folder}, cannot be written.",
            f"Make it writable{OR_ELSEWHERE}.",
        )
    if state.has_journal:
        return Check("state", "warn", "A change was interrupted.", "The next call to a tool puts it right.")
    return Check("state", "ok", f"Locks are kept in {state.folder}.")
