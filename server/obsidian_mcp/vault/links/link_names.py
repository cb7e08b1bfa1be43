"""Which names a file's links mention: a filter with false positives and no false negatives.

A move has to rewrite few files out of many. Parsing all of them exactly would take longer than the move; so every file
is reduced once to the folded names that follow its brackets, those in code and comments included, and only files that
mention the right name are parsed. If the filter says too much, a file is parsed for nothing. If it said too little, a
link would break: whatever the exact reader finds, this must find too (`tests/vault/links` holds it to that).

Three things make it fast enough for a vault of a hundred thousand notes. It works on bytes, and looks for single
characters (`[`, `]`) with `bytes.find`, which is many times faster than a regular expression. Nearly every link is
plain ASCII with nothing escaped: one precompiled pattern takes those, and all of a file's plain names are lowered,
stripped and cut together, as one string. Only what is left goes through the slow way, one by one. And a file's names
are kept as one string with a line break around each, because a hundred thousand small containers would keep the
garbage collector busy; looking one up is `in`.

A name is the last segment of a target: without folder, heading, alias and `.md`, in one case and Unicode form. Targets
are cut at LONGEST, so that a hostile note costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.links.bases import named_in
from obsidian_mcp.vault.links.coding import decoded_escapes
from obsidian_mcp.vault.links.inline import DEEPEST
from obsidian_mcp.vault.links.reader import in_canvas

_TOKEN = re.compile(rb"[^()\\ \t\r\n]+|\\[^ \t\r\n]|[()\\]")
_ESCAPED = re.compile(rb"\\([!-/:-@\[-`{-~])")
# A destination is looked at no further than this; longer ones are not paths, and longer names not files.
LONGEST, LONGEST_KEY = 4096, 1024


def key_of_path(path: str) -> str:
    """Shared by a file and every link that can mean it."""
    return _bare(fold(path.rpartition("/")[2]).strip())


def _bare(name: str) -> str:
    """Without `.md`, however often: it may be left out of a link, or be part of the name."""
    end = len(name)
    while name.endswith(".md", 0, end):
        end -= 3
    return name[:end]


def mark(key: str) -> str:
    """What to look for in the keys of a file."""
    return f"\n{key}\n"


def names_in(path: str, data: bytes) -> str:
    """Every name that the file's links mention, each on a line of its own.

    One string, because there is one for every note of a vault, and a hundred
    thousand small containers would keep the garbage collector busy.
    """
    if path[-7:].lower() == ".canvas":
        return _lines(set(), {key_of_path(link.target) for link in in_canvas(_text(data))})
    if path[-5:].lower() == ".base":
        return _lines(set(), {key_of_path(target) for target in named_in(_text(data))})
    plain: set[bytes] = set()
    odd: set[str] = set()
    find, last = data.find, len(data) - 1
    # For one byte at a time: the search for a single one is many times faster than for two.
    at = find(b"[", 0, last)
    while at >= 0:
        if data[at + 1] == _OPEN:
            found = _plain_wiki(data, at)
            if found:
                plain.add(found[1])
                at = found.end() - 1
            else:
                odd.update(_keys(_wiki_inside(data, at + 2)))
        at = find(b"[", at + 1, last)
    at = find(b"]", 0, last)
    while at >= 0:
        if data[at + 1] in _BEFORE_DESTINATION:
            found = _plain_destination(data, at)
            if found:
                plain.add(found[1].replace(b"%20", b" "))
            else:
                odd.update(_destination_keys(data[at + 2 : at + 2 + LONGEST], data[at + 1] == _COLON))
        at = find(b"]", at + 1, last)
    return _lines(plain, odd)


# What nearly every link looks like: plain ASCII, nothing escaped, nothing encoded but the space.
_plain_wiki = re.compile(rb"\[\[([ -\"$-Z^-{}~]+)(?:\]\]|[|#])").match
_plain_destination = re.compile(rb"\]\(([!\"$&'*-;=?-Z^-{}~]+(?:%20[!\"$&'*-;=?-Z^-{}~]+)*)[)#]").match
_OPEN, _COLON, _BEFORE_DESTINATION = ord("["), ord(":"), frozenset(b"(:")


def _plain_lines(written: set[bytes]) -> str:
    """All of a file's plain targets at once, which is much less work than one after the other."""
    lines = mark(b"\n".join(written).decode("ascii").lower())
    if "/" in lines:
        lines = "\n".join(line.rpartition("/")[2] for line in lines.split("\n"))
    if " \n" in lines or "\n " in lines:
        lines = "\n".join(map(str.strip, lines.split("\n")))
    lines = lines.replace(".md\n", "\n")
    if ".md\n" in lines:
        lines = "\n".join(map(_bare, lines.split("\n")))
    if len(lines) > LONGEST_KEY:
        lines = "\n".join(line for line in lines.split("\n") if len(line) <= LONGEST_KEY)
    return lines


def _wiki_inside(data: bytes, start: int) -> bytes:
    end = data.find(b"]]", start, start + LONGEST)
    if end < 0:
        ends = (data.find(b"[[", start, start + LONGEST), data.find(b"\n", start, start + LONGEST))
        end = min((at for at in ends if at >= 0), default=start + LONGEST)
    return data[start:end]


def _lines(plain: set[bytes], odd: set[str]) -> str:
    lines = _plain_lines(plain) if plain else ""
    if odd:
        lines += mark("\n".join(odd))
    if "''" in lines:
        lines += lines.replace("''", "'")  # a property in single quotes doubles them
    return lines


def _keys(written: bytes) -> Iterator[str]:
    """The keys of a target as written, with heading and alias: as it is, and as a string with escapes would read."""
    if b"|" in written:
        written = written[: written.index(b"|")]
        if written.endswith(b"\\") and b"#" not in written:
            written = written[:-1]  # in a table the bar is escaped
    if b"#" in written:
        written = written[: written.index(b"#")]
    text = _text(written)
    return _short((text, decoded_escapes(text)) if "\\" in text else (text,))


def _destination_keys(piece: bytes, defines: bool) -> Iterator[str]:
    """Up to the white space or the bracket that ends it; parentheses belong to it where they pair."""
    if defines:
        line, _, next_line = piece.partition(b"\n")
        piece = piece if _text(line).strip() else next_line
    written = _destination(piece.lstrip(b" \t\r\n"))
    if b"#" in written:
        written = written[: written.index(b"#")]  # before decoding: an encoded one belongs to the name
    readings = [_text(written)]
    if b"\\" in written:
        readings = [_text(_ESCAPED.sub(rb"\1", written)), decoded_escapes(readings[0])]
    return _short(unquote(text, errors="surrogateescape") for text in readings)


def _short(targets: Iterable[str]) -> Iterator[str]:
    """Their keys that a file's name could have."""
    return (key for key in map(key_of_path, targets) if len(key) <= LONGEST_KEY)


def _text(written: bytes) -> str:
    return written.decode("utf-8", "surrogateescape")


def _destination(piece: bytes) -> bytes:
    if piece.startswith(b"<"):
        return piece[1:].partition(b">")[0].partition(b"\n")[0]
    depth, at = 0, 0
    while token := _TOKEN.match(piece, at):
        depth += (token[0] == b"(") - (token[0] == b")")
        if not 0 <= depth <= DEEPEST:
            break
        at = token.end()
    return piece[:at]
