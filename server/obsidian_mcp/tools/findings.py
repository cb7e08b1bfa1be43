"""What the tools that find answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Passage:
    line: int
    text: str
    section: str | None = None


@dataclass(frozen=True, slots=True)
class FoundNote:
    path: str
    passages: list[Passage]
    properties: dict[str, Any] | None = None
    more: int | None = None


@dataclass(frozen=True, slots=True)
class NotesFound:
    notes: list[FoundNote]
    total: int
    unmatched: list[str]
    note: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ListedFolder:
    path: str
    notes: int


@dataclass(frozen=True, slots=True)
class ListedFile:
    path: str
    size: int | None = None
    modified: str | None = None


@dataclass(frozen=True, slots=True)
class FolderListed:
    folders: list[ListedFolder]
    files: list[ListedFile]
    total: int
    note: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ListedSection:
    section: str
    level: int
    line: int
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteOutlined:
    path: str
    etag: str
    lines: int
    properties: dict[str, Any]
    sections: list[ListedSection]
    blocks: list[str]
    tags: list[str]
    links_in: int | None = None
    links_out: int
    note: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ListedLink:
    path: str
    line: int | None = None
    link: str | None = None
    target: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LinksListed:
    links: list[ListedLink]
    total: int
    note: str | None = None
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ListedValue:
    value: str
    type: str
    count: int


@dataclass(frozen=True, slots=True)
class PropertiesListed:
    items: list[ListedValue]
    total: int
    note: str | None = None
    next_cursor: str | None = None
