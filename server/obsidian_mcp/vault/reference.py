"""What a caller says to mean a note, and the ways in which that can be understood, in their order.

Two laws. A path, as any reply or error has it, means exactly that file when it is given back. And a name that several
files answer to is never a guess between them.
"""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.vault import periodic
from obsidian_mcp.vault.kinds import is_file
from obsidian_mcp.vault.names import Name
from obsidian_mcp.vault.path import BadPath, VaultPath, check, is_path, normalised
from obsidian_mcp.vault.spelling import Spelling, Unreadable, spelling, split_section

ACTIVE = "@active"  # the note in front of the person


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand it: the file of exactly that path, or else the first of these names that any answer to."""

    text: str
    exact: tuple[VaultPath, ...]
    names: tuple[Name, ...]
    section: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """`vault` is the one that an address names, `absolute` a path on the disk, `folder` what ended with a slash.

    `special` is a name by what the note is for, such as `@daily`; the first reading is then a note called so.
    """

    readings: tuple[Reading, ...] = ()
    vault: str = ""
    absolute: str = ""
    folder: str = ""
    special: str = ""

    @classmethod
    def parse(cls, text: str) -> Reference:
        """Of a note that is there."""
        spelled = _spelled(text)
        if spelled.is_absolute:
            return cls(absolute=spelled.target)
        literal = _literal(text) if spelled.is_link else ()
        if spelled.target.endswith("/"):
            check(spelled.target[:-1])
            return cls(literal, spelled.vault, folder=spelled.target[:-1])
        readings = _readings(spelled)
        if not readings:
            check(spelled.target)
        return cls((*literal, *readings), spelled.vault)

    @classmethod
    def parse_special(cls, text: str) -> Reference:
        """Of a note that is there, or is named by what it is for."""
        name = text.strip().lower()
        if not name.startswith("@"):
            return cls.parse(text)
        try:
            if not _is_special(name):
                return cls.parse(text)
        except ValueError as problem:
            raise BadPath(str(problem)) from None
        literal = f"{text.strip()}.md"
        readings = (Reading(text, (VaultPath(literal),), ()),) if is_path(literal) else ()
        return cls(readings, special=name)

    @classmethod
    def parse_new(cls, text: str) -> Reference:
        """Of a note that is to be made, or replaced. A heading is no part of it."""
        if _is_special(text.strip().lower(), of_any_day=True):
            raise BadPath("stands for the note of a day or the active one; append to it instead")
        spelled = _spelled(text)
        if spelled.is_absolute:
            return cls(absolute=spelled.target)
        check(spelled.target)
        return cls((_to_make(spelled.target),), spelled.vault)

    @classmethod
    def at(cls, path: str, *, new: bool) -> Reference:
        """Of exactly the file that an absolute path has turned out to be."""
        check(path)
        return cls((_to_make(path) if new else Reading(path, (VaultPath(path),), _names(path, anywhere=False)),))


def _is_special(name: str, of_any_day: bool = False) -> bool:
    """Raises ValueError for a day that is none, unless that doesn't matter."""
    try:
        return name == ACTIVE or periodic.parse(name) is not None
    except ValueError:
        if of_any_day:
            return True
        raise


def _spelled(text: str) -> Spelling:
    try:
        return spelling(text)
    except Unreadable as problem:
        raise BadPath(str(problem)) from None


def _literal(text: str) -> tuple[Reading, ...]:
    """A file may really be called `[[Note]]`."""
    if not is_path(text):
        return ()
    return (Reading(text, (VaultPath(text), VaultPath(f"{text}.md")), ()),)


def _readings(spelled: Spelling) -> list[Reading]:
    """As it stands, for `C# notes` is a name; then without the section."""
    note, section = split_section(spelled.target)
    read = _of_link if spelled.is_link else _of_name
    found = [read(spelled.target, "")] if is_path(spelled.target) else []
    return [*found, read(note, section)] if "#" in spelled.target and is_path(note) else found


def _of_name(text: str, section: str) -> Reading:
    """A path from the root first; a name without a folder is then looked for everywhere, unless it ends with .md."""
    anywhere = "/" not in text and not _is_markdown(text)
    names = _names(text, anywhere)
    exact = names[0].path if names[0].path.value == text else VaultPath(text)
    return Reading(text, (exact,), names, section)


def _of_link(text: str, section: str) -> Reading:
    """As in the app: the note before a file without extension, and the end of a path is enough."""
    names = _names(text, anywhere=True)
    return Reading(text, (), (*_names(text, anywhere=False), *names) if "/" in text else names, section)


def _names(text: str, anywhere: bool) -> tuple[Name, ...]:
    """Obsidian's order: with a dot as it stands, then with .md; without one, the other way round."""
    if _is_markdown(text):
        variants: tuple[str, ...] = (text,)
    else:
        variants = (text, f"{text}.md") if "." in text.rpartition("/")[2] else (f"{text}.md", text)
    return tuple(Name(VaultPath(variant), anywhere) for variant in variants)


def _to_make(target: str) -> Reading:
    text = normalised(target)
    wanted, given = (name if is_file(name) else f"{name}.md" for name in (text, target))
    is_bare = "/" not in text and wanted != text
    return Reading(text, (VaultPath(given),), (Name(VaultPath(wanted), is_bare),))


def _is_markdown(text: str) -> bool:
    return text[-3:].lower() == ".md"
