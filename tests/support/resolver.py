"""Where links lead, written a second time from the rules and sharing no code with the server.

It knows only links that stand alone on a line, in the forms that the tests make.
"""

from __future__ import annotations

import posixpath
import unicodedata
import urllib.parse


def same(one: str, other: str) -> bool:
    def folded(text: str) -> str:
        return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())

    return folded(one) == folded(other)


KNOWN = (".md", ".canvas", ".base", ".png", ".pdf")


def leads_to(target: str, source: str, paths: list[str]) -> str | None:
    """Exact from the root, beside the source, then the shortest path that ends in the target."""
    names = [target, target + ".md"] if target.lower().endswith(KNOWN) else [target + ".md", target]
    folder = posixpath.dirname(source)
    if target.startswith(("./", "../")):
        wholes = [posixpath.normpath(posixpath.join(folder, name)) for name in names]
        return next((path for whole in wholes for path in sorted(paths) if same(path, whole)), None)
    if target.startswith("/"):
        return next((path for name in names for path in sorted(paths) if same(path, name.lstrip("/"))), None)
    for place in ("", folder):
        for name in names:
            for path in sorted(paths):
                if same(path, posixpath.join(place, name)):
                    return path
    for name in names:
        length = len(name.split("/"))
        ends = [path for path in paths if same("/".join(path.split("/")[-length:]), name)]
        if ends:
            return sorted(ends, key=lambda path: (len(path), path))[0]
    return None


def target_of(line: str) -> str | None:
    """The target of the one link on a line."""
    line = line.strip()
    if line.startswith(("[[", "![[")) and line.endswith("]]"):
        inside = line[line.index("[[") + 2 : -2]
        return inside.split("|")[0].split("#")[0]
    if line.startswith("[x](<") and line.endswith(">)"):
        return urllib.parse.unquote(line[5:-2].split("#")[0])
    if line.startswith("[x](") and line.endswith(")"):
        return urllib.parse.unquote(line[4:-1].split("#")[0])
    return None
