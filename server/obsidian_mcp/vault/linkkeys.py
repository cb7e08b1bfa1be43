"""Which names a file's links mention: a quick look that may say too much but never too little.

A move has to rewrite few files out of many. Parsing all of them exactly would
take longer than the move; so every file is reduced once to the folded names
behind its brackets, code and comments included, and only files that mention
the right name are parsed.
"""

from __future__ import annotations

from urllib.parse import unquote

from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.links import in_canvas

# A destination is looked at no further than this; longer ones are no paths.
LONGEST = 4096


def key_of_path(path: str) -> str:
    """Shared by a file and every link that can mean it."""
    return fold(path.rpartition("/")[2]).removesuffix(".md")


def keys_in(path: str, data: bytes) -> frozenset[str]:
    text = data.decode("utf-8", "surrogateescape")
    if path.lower().endswith(".canvas"):
        return frozenset(key_of_path(link.target) for link in in_canvas(text))
    keys: set[str] = set()
    if "[[" in text:
        keys.update(_wiki_key(piece) for piece in text.split("[[")[1:])
    if "](" in text:
        keys.update(_destination_key(piece) for piece in text.split("](")[1:])
    if "]:" in text:
        keys.update(_destination_key(piece) for piece in text.split("]:")[1:])
    return frozenset(keys)


def _wiki_key(piece: str) -> str:
    inside = piece.partition("]]")[0].partition("|")[0].partition("#")[0]
    return key_of_path(inside.rstrip("\\").strip())


def _destination_key(piece: str) -> str:
    """Up to the white space or the bracket that ends it; parentheses belong to it where they pair."""
    piece = piece[:LONGEST].lstrip()
    if piece.startswith("<"):
        written = piece[1:].partition(">")[0].partition("\n")[0]
    else:
        words = piece.split(None, 1)
        written = _to_closing(words[0]) if words else ""
    written = written.partition("#")[0]
    if "\\" in written:
        written = written.replace("\\", "")
    if "%" in written:
        written = unquote(written, errors="surrogateescape")
    return key_of_path(written.strip())


def _to_closing(word: str) -> str:
    if "(" not in word:
        return word.partition(")")[0]
    depth = 0
    for at, char in enumerate(word):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return word[:at]
    return word
