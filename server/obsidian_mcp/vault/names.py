"""Names of files: which files answer to one, and what a file is to be called or where it is to go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.kinds import is_file
from obsidian_mcp.vault.path import BadPath, VaultPath, check_new, in_folder, normalised


@dataclass(frozen=True, slots=True)
class Name:
    """A path from the root, or, if bare, what a path ends with: the file's name, perhaps with folders before it."""

    path: VaultPath
    is_bare: bool

    def matches(self, paths: Iterable[str]) -> list[str]:
        """The paths it could mean, in any case and Unicode form."""
        wanted = fold(self.path.value)
        if not self.is_bare:
            return [path for path in paths if fold(path) == wanted]
        ending = f"/{wanted}"
        return [path for path in paths if f"/{fold(path)}".endswith(ending)]

    def nearest(self, paths: Iterable[str], most: int = 3) -> list[str]:
        """The paths whose names look most like it."""
        wanted = _pairs(self.path.stem)
        ranked = sorted(paths, key=lambda path: (-_likeness(wanted, _pairs(_stem(path))), len(path), path))
        return ranked[:most]


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _pairs(text: str) -> frozenset[str]:
    folded = f" {fold(text)} "
    return frozenset(folded[at : at + 2] for at in range(len(folded) - 1))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared pairs of letters (Dice's coefficient): cheap enough for every name in a large vault."""
    return 2 * len(one & other) / (len(one) + len(other))


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a file should go: a folder, or the whole new path. Which of the two can depend on the file."""

    text: str
    is_folder: bool

    @classmethod
    def parse(cls, text: str) -> Destination:
        if text == "/":
            return cls("", True)
        path = normalised(text.removesuffix("/"))
        check_new(path)
        return cls(path, is_folder=path != normalised(text))

    def of(self, note: VaultPath) -> VaultPath:
        target = VaultPath(self.text) if self.text else None
        if self.is_folder or target is None:
            return in_folder(self.text, note.filename)
        if not note.extension and fold(target.filename) == fold(note.filename):
            return in_folder(target.folder, note.filename)  # nothing but its name says that this is not a folder
        if is_file(self.text) or (note.extension and fold(target.extension) == fold(note.extension)):
            return _same_kind(note, target, "to")
        return in_folder(self.text, note.filename)


@dataclass(frozen=True, slots=True)
class NewName:
    """What a note should be called from now on; its folder and extension stay."""

    text: str

    @classmethod
    def parse(cls, text: str) -> NewName:
        text = normalised(text)
        check_new(text)
        if "/" in text:
            raise BadPath("must not contain a folder; to change the folder, move the note instead")
        return cls(text)

    def of(self, note: VaultPath) -> VaultPath:
        filename = self._filename(note.extension)
        try:
            check_new(filename)
        except BadPath as problem:
            raise InvalidArguments(f"new_name {problem}.") from None
        return _same_kind(note, note.renamed(filename), "new_name")

    def _filename(self, extension: str) -> str:
        """With the extension as it was spelled, unless the name says another, which is refused then."""
        if not extension:
            return self.text
        if self.text.lower().endswith(f".{extension.lower()}"):
            return f"{self.text[: -len(extension) - 1]}.{extension}"
        return self.text if is_file(self.text) else f"{self.text}.{extension}"


def _same_kind(note: VaultPath, target: VaultPath, argument: str) -> VaultPath:
    """What a file already is called, and the folder it stays in, are not new, whatever they are."""
    if target.extension.lower() == note.extension.lower():
        return target
    if not note.extension:
        raise InvalidArguments(f"{argument} must have no extension, as {note} has none.", "Give it without a dot.")
    raise InvalidArguments(
        f"{argument} must keep the extension .{note.extension} of {note}.",
        f"Give {target}.{note.extension} if .{target.extension} is part of the name.",
    )
