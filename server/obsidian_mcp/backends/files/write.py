"""Changing a vault's files: made, rewritten, renamed, removed."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence

from obsidian_mcp.backends.files import atomic, in_place, read
from obsidian_mcp.backends.files.held import HeldFolder, HeldPath, hold, make_folders
from obsidian_mcp.backends.files.os_errors import is_missing, translate_os_errors
from obsidian_mcp.backends.files.root import VaultRoot
from obsidian_mcp.call import OnThread
from obsidian_mcp.errors import AlreadyExists, Conflict, Failure
from obsidian_mcp.vault.path import VaultPath


def require_room(root: VaultRoot, path: VaultPath) -> None:
    """Raise if no file can be made there: a folder has the name, or a file is where a folder should be."""
    root.real(path)
    with translate_os_errors(path):
        try:
            os.lstat(root.place(path.value))  # a path may be too long though its names are not
        except OSError as error:
            if not is_missing(error):
                raise
    segments = path.value.split("/")
    for end in range(1, len(segments)):
        parent = "/".join(segments[:end])
        if os.path.lexists(root.place(parent)) and not os.path.isdir(root.place(parent)):
            raise AlreadyExists(f"{parent} is a file, so {path} cannot be made below it.", path=parent)
    if os.path.isdir(root.place(path.value)):
        raise AlreadyExists(f"{path} is a folder.", "Choose another name.", path=path.value)


def make_folder_for(root: VaultRoot, path: VaultPath) -> list[str]:
    """Make what is missing of the folders above; those that were made, outermost first."""
    segments = path.value.split("/")[:-1]
    folders = ["/".join(segments[: end + 1]) for end in range(len(segments))]
    there = sum(1 for _ in itertools.takewhile(lambda folder: os.path.isdir(root.place(folder)), folders))
    if there < len(folders):
        with translate_os_errors(path):
            base = root.inside(VaultPath(folders[there - 1])) if there else ""
            make_folders(root.prefix, base, segments[there:])
    return folders[there:]


def write_new(root: VaultRoot, path: VaultPath, data: bytes) -> None:
    """Make a file that must not be there yet."""
    require_room(root, path)
    made = make_folder_for(root, path)
    try:
        with translate_os_errors(path), hold(root.prefix, root.inside(path)) as at:
            _link_new(path, at, data)
    except Failure:
        remove_folders(root, made)
        raise


def _link_new(path: VaultPath, at: HeldPath, data: bytes) -> None:
    with atomic.temporary(at, data) as temporary:
        try:
            temporary.link(at)
        except OSError:
            if at.exists:
                raise _just_made(path) from None
            if not temporary.move(at):  # a file system without hard links
                raise _just_made(path) from None


def _just_made(path: VaultPath) -> AlreadyExists:
    return AlreadyExists(f"{path} has just been made by another program.", path=path.value)


def put_in_place(path: str, before: bytes, after: bytes, folder: HeldFolder) -> None:
    """Give a file that a listing has named other bytes, if it still has those it had. Only under a journal."""
    with translate_os_errors(path):
        in_place.rewrite(path, folder.at(path), before, after, flushed=False)


def settle(path: str, folder: HeldFolder) -> None:
    """What was put in place, to the disk."""
    with translate_os_errors(path):
        in_place.settle(folder.at(path))


def finish(root: VaultRoot, path: str, before: bytes, after: bytes) -> None:
    """Bring a file to its new bytes from wherever `put_in_place` left it, and to the disk."""
    with translate_os_errors(path), hold(root.prefix, path) as at:
        in_place.finish(path, at, before, after)


@contextlib.contextmanager
def reserved(root: VaultRoot, path: str, size: int) -> Iterator[None]:
    """So much room on the disk, while this lasts. What is written next finds it free."""
    if not size:
        yield
        return
    with hold(root.prefix, path) as at:
        with translate_os_errors(path):
            made = atomic.reserve(at, size)
        try:
            yield
        finally:
            atomic.discard(made)


def rename(root: VaultRoot, path: VaultPath, target: VaultPath) -> list[str]:
    """Give a file another path; the folders that were made for it. Nothing may be at the target."""
    require_room(root, target)
    made = make_folder_for(root, target)
    try:
        with translate_os_errors(path):
            spots = root.spot(path), root.spot(target)
            with hold(root.prefix, spots[0]) as source, hold(root.prefix, spots[1]) as goal:
                if goal.exists and os.path.samestat(source.lstat(), goal.lstat()):
                    source.rename(goal)  # another spelling of the same name
                elif not source.move(goal):
                    raise _just_made(target)
    except Failure:
        remove_folders(root, made)
        raise
    return made


def remove(root: VaultRoot, path: VaultPath, before: bytes | None = None, *, even_if_open: bool = True) -> None:
    """Remove a file for good; with `before`, only if it still holds that.

    It is taken away under another name and read there: what an editor saves by that moment is seen, and what it saves
    after it is a file of its own. One that has the file open could still write into it: whoever did not ask for this
    file to be gone must not lose that.
    """
    root.real(path)
    with translate_os_errors(path), hold(root.prefix, root.spot(path)) as at:
        if before is None:
            at.unlink()
            return
        if read.note(root, path) != before:
            raise _changed_meanwhile(path)
        aside = at.sibling(atomic.temporary_name())
        at.rename(aside)
        try:
            if not even_if_open and not atomic.is_open_nowhere(aside):
                raise Conflict(
                    f"{path} is open in another program, which could still write to it.",
                    "Close it there.",
                    path=path.value,
                )
            if atomic.read(aside) != before:
                raise _changed_meanwhile(path)
            aside.unlink()
        except BaseException:
            _put_back(path, aside, at)
            raise


def _put_back(path: VaultPath, aside: HeldPath, at: HeldPath) -> None:
    """Under its own name; if an editor has taken that, under a free one, for the person to look at."""
    goal, number, aside = at, 1, aside.afresh()
    with OnThread(None):  # whatever is left of the call's limit
        while not aside.move(goal):
            number += 1
            goal = at.sibling(f"{path.stem} {number}{'.' if path.extension else ''}{path.extension}")


def _changed_meanwhile(path: VaultPath) -> Conflict:
    return Conflict(f"{path} was changed by another program meanwhile.", "Read it again.", path=path.value)


def remove_folders(root: VaultRoot, folders: Sequence[str]) -> None:
    """Take back folders that were made; one that is in use stays."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError), hold(root.prefix, folder) as at:
            at.remove_folder()


def sweep_beside(root: VaultRoot, path: VaultPath) -> None:
    sweep(root, root.spot(path))


def sweep(root: VaultRoot, path: str) -> None:
    """Remove what a writer of ours that was killed has left beside a path. Only while no other server writes."""
    with contextlib.suppress(OSError), hold(root.prefix, path) as at:
        for name in at.sibling_names():
            if name.startswith(atomic.TEMPORARY) and name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    at.sibling(name).unlink()
