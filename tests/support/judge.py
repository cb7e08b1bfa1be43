"""A second reader of Markdown, which shares no code with the server: markdown-it-py, with wikilinks added.

It judges what is text and what is code. Comments (`%%`) and formulas are Obsidian's own, and are not known to it.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.footnote import footnote_plugin

_WIKI = re.compile(r"\[\[([^\[\]\n](?:[^\n\[\]]|\](?!\])|\[(?!\[))*)\]\]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _wikilink(state: StateInline, silent: bool) -> bool:
    start = state.pos + state.src.startswith("!", state.pos)
    found = _WIKI.match(state.src, start)
    if not found or found.end() > state.posMax:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _reader() -> MarkdownIt:
    reader = (
        MarkdownIt("commonmark", {"html": True, "maxNesting": 200}).enable("table").use(footnote_plugin, inline=False)
    )
    reader.disable(["footnote_ref", "footnote_tail"])
    reader.inline.ruler.before("link", "wikilink", _wikilink)
    for name, rule in (("normalizeLink", str), ("validateLink", bool)):  # take destinations as they are
        setattr(reader, name, rule)
    return reader


_READER = _reader()


def _target(written: str) -> str | None:
    path = written.partition("#")[0]
    return unquote(path, errors="surrogateescape") if path and not _SCHEME.match(path) else None


def links(body: str) -> tuple[list[str], set[str]]:
    """The targets of a body's links in their order, and those of its reference definitions."""
    environment: dict[str, Any] = {}
    found: list[str | None] = []
    for token in _READER.parse(f"{body}\n", environment):
        for child in token.children or ():
            _collect(child, found)
    defined = {_target(str(one["href"])) for one in environment.get("references", {}).values()}
    return [target for target in found if target], {target for target in defined if target}


def _collect(token: Any, found: list[str | None]) -> None:
    if token.type == "wikilink":
        inside = re.split(r"\\?\||#", token.content)[0]
        found.append(inside.strip() or None)
    elif token.type == "link_open":
        if token.markup != "autolink":
            found.append(_target(str(token.attrs["href"])))
    elif token.type == "image":
        for child in token.children or ():
            _collect(child, found)
        found.append(_target(str(token.attrs["src"])))
