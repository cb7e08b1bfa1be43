"""Where links lead, written a second time from the rules and sharing no code with the server.

It knows only links that stand alone on a line, but for the marks of lists, quotes and tables, in the forms that the
tests make.
"""

from __future__ import annotations

import posixpath
import unicodedata
import urllib.parse


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def same(one: str, other: str) -> bool:
    return folded(one) == folded(other)


def leads_to(target: str, source: str, paths: list[str]) -> str | None:
    """Exact from the root; then, of the paths that end in the target, one that begins with the source's folder; then
    the shortest. A file is looked for by its name before its path is.
    """
    names = [target, target + ".md"] if "." in posixpath.basename(target) else [target + ".md"]
    folder = posixpath.dirname(source)
    if target.startswith(("./", "../")):
        wholes = [posixpath.normpath(posixpath.join(folder, name)) for name in names]
        return next((path for whole in wholes for path in sorted(paths) if same(path, whole)), None)
    if target.startswith("/"):
        return next((path for name in names for path in sorted(paths) if same(path, name.lstrip("/"))), None)
    for name in names:
        for path in sorted(paths):
            if same(path, name):
                return path
    for name in names:
        called = [path for path in paths if same(posixpath.basename(path), posixpath.basename(name))]
        ends = [path for path in called if folded(path).endswith(folded(name))]
        below = [path for path in ends if folded(path).startswith(folded(folder))]
        for group in (below, ends):
            if group:
                return sorted(group, key=lambda path: (len(path), path))[0]
    return None


def target_of(line: str) -> str | None:
    """The target of the one link on a line."""
    line = line.strip().lstrip("->| ").rstrip("| ")
    if line.startswith(("[[", "![[")) and line.endswith("]]"):
        inside = line[line.index("[[") + 2 : -2]
        return inside.split("|")[0].split("#")[0]
    if line.startswith("[x](<") and line.endswith(">)"):
        return urllib.parse.unquote(line[5:-2].split("#")[0])
    if line.startswith("[x](") and line.endswith(")"):
        return urllib.parse.unquote(line[4:-1].split("#")[0])
    return None
