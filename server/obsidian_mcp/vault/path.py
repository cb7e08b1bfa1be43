"""Paths inside a vault, and the names people give for them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from obsidian_mcp.vault import portable

# What Obsidian opens by itself; any other ending is part of a note's name.
EXTENSIONS = frozenset(
    "md canvas base avif bmp gif jpeg jpg png svg webp 3gp flac m4a mp3 ogg wav webm mkv mov mp4 ogv pdf".split()
)
LONGEST_NAME = 255  # bytes; the limit of nearly every file system

# Most paths are: words and little else. Nothing that is refused can match, so a look at each part is spared.
_PLAIN = re.compile(r"\w[\w \-.,'()&+]*(?:/\w[\w \-.,'()&+]*)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DRIVE = re.compile(r"[A-Za-z]:")
_UNLINKABLE = re.compile(r'[*"\\<>:|?#^\[\]]')


class BadPath(ValueError):
    """A path that cannot be one of a note; the message completes "name …"."""


@dataclass(frozen=True, slots=True, order=True)
class VaultPath:
    """A path from the vault's root. Cannot hold one that leads elsewhere."""

    value: str

    def __post_init__(self) -> None:
        check(self.value)

    def __str__(self) -> str:
        return self.value

    @property
    def filename(self) -> str:
        return self.value.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The folder's path; empty for the root."""
        return self.value.rpartition("/")[0]

    @property
    def extension(self) -> str:
        return self.filename.rpartition(".")[2] if "." in self.filename else ""

    @property
    def stem(self) -> str:
        return self.filename.rpartition(".")[0] or self.filename

    def renamed(self, filename: str) -> VaultPath:
        return in_folder(self.folder, filename)


def in_folder(folder: str, filename: str) -> VaultPath:
    return VaultPath(f"{folder}/{filename}" if folder else filename)


def check(path: str) -> None:
    """Raise unless the text is a path that stays inside the vault and out of hidden folders."""
    if _PLAIN.fullmatch(path):
        return
    if not path.strip():
        raise BadPath("must not be empty")
    whole_characters(path)
    if _CONTROL.search(path):
        raise BadPath("must not contain control characters")
    if "\\" in path:
        raise BadPath("must not contain a backslash; folders are separated by /")
    if path.startswith("/"):
        raise BadPath("must be a path from the vault's root, without a leading /")
    if _DRIVE.match(path):
        raise BadPath("must be a path from the vault's root, and not begin with a letter and ':' as a drive does")
    for segment in path.split("/"):
        if not segment.strip():
            raise BadPath("must not contain an empty folder name, nor end with /")
        if segment in (".", ".."):
            raise BadPath(f"must not contain {segment!r}; give the path from the vault's root")
        if segment.startswith("."):
            raise BadPath(f"must not lead to {segment!r}: hidden files and folders are not part of the vault")


def whole_characters(text: str) -> str:
    """Text that can be written as UTF-8."""
    if _SURROGATE.search(text):
        raise BadPath("must not contain half a character (a lone surrogate)")
    return text


def is_path(text: str) -> bool:
    try:
        check(text)
    except BadPath:
        return False
    return True


def check_new(path: str) -> None:
    """Raise unless Obsidian would accept the path for a new note, links could carry it and every system hold it."""
    check(path)
    refused = sorted(set(_UNLINKABLE.findall(path)))
    if refused:
        shown = ", ".join(map(repr, refused))
        raise BadPath(f"must not contain {shown}: Obsidian refuses that, or links cannot carry it")
    for segment in path.split("/"):
        if len(segment.encode()) > LONGEST_NAME:
            raise BadPath(f"must not contain a name longer than {LONGEST_NAME} bytes")
        if problem := portable.problem(segment):
            raise BadPath(f"must not {problem}")


def normalised(text: str) -> str:
    """A new name as Obsidian would write it: composed letters, plain spaces."""
    return unicodedata.normalize("NFC", re.sub("[\u00a0\u202f]", " ", text))


def has_known_extension(text: str) -> bool:
    stem, dot, extension = text.rpartition("/")[2].rpartition(".")
    return bool(stem and dot) and extension.lower() in EXTENSIONS
