"""Where a link leads. The rules, and what is known of Obsidian's, are in specs/links.md."""

from __future__ import annotations

from collections.abc import Iterable

from obsidian_mcp.vault.folding import fold


class Resolver:
    """The files of a vault, by folded name, ready to be looked up.

    A name that one file has, as nearly all do, is kept without a tuple around
    it: there may be very many.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._named: dict[str, str | tuple[str, ...]] = {}
        self.add_all("", paths)

    def add(self, path: str) -> None:
        self.add_all("", (path,))

    def add_all(self, prefix: str, names: Iterable[str]) -> None:
        """Several files of one folder."""
        named = self._named
        for name in names:
            path = prefix + name
            last = name if "/" not in name else name.rpartition("/")[2]
            key = last.lower() if last.isascii() else fold(last)
            there = named.get(key)
            if there is None:
                named[key] = path
            else:
                named[key] = (there, path) if isinstance(there, str) else (*there, path)

    def remove(self, path: str) -> None:
        key = fold(path.rpartition("/")[2])
        left = tuple(other for other in self.named(key) if other != path)
        if left:
            self._named[key] = left
        else:
            self._named.pop(key, None)

    def paths(self) -> list[str]:
        found: list[str] = []
        for there in self._named.values():
            if isinstance(there, str):
                found.append(there)
            else:
                found.extend(there)
        return found

    def named(self, filename: str) -> tuple[str, ...]:
        """The files of that name, in any case and Unicode form."""
        there = self._named.get(fold(filename), ())
        return (there,) if isinstance(there, str) else there

    def namesakes(self, path: str) -> tuple[str, ...]:
        """The files that a link to this one's name could mean: `.md` may be left out, or be part of the name."""
        name = path.rpartition("/")[2]
        stem = name[:-3] if name.lower().endswith(".md") else name
        return (*self.named(stem), *self.named(f"{stem}.md"))

    def copy(self) -> Resolver:
        other = Resolver(())
        other._named = dict(self._named)
        return other

    def is_unique(self, name: str) -> bool:
        """Whether a bare name can mean no more than one file."""
        return sum(len(self.named(wanted)) for wanted in _variants(name)) == 1

    def moved(self, old: str | None, new: str) -> Resolver:
        """The vault after one file has got another path, or a new one has come."""
        other = self.copy()
        if old is not None:
            other.remove(old)
        other.add(new)
        return other

    def resolve(self, target: str, source: str) -> str | None:
        """The file that a link's target means in a note, or None if it leads nowhere."""
        target = target.strip()
        if not target:
            return source
        folder = source.rpartition("/")[0]
        if target.startswith(("./", "../")):
            inside = joined(folder, target)
            return None if inside is None else self.exact(inside)
        if target.startswith("/"):
            return self.exact(target.lstrip("/"))
        return self.exact(target) or self._anywhere(target, folder)

    def exact(self, path: str) -> str | None:
        """The file under that path from the root, in any case and Unicode form."""
        for wanted in _variants(path):
            there = self.named(wanted.rpartition("/")[2])
            if there:
                folded = fold(wanted)
                same = [other for other in there if fold(other) == folded]
                if same:
                    return wanted if wanted in same else min(same)
        return None

    def _anywhere(self, target: str, folder: str) -> str | None:
        """Of the paths that end with the target, those that begin with the note's folder come first, then the shortest.

        Ends and begins as text, as in the app: folder `A` also begins `AB/Note.md`.
        """
        begin = fold(folder)
        for wanted in _variants(target):
            ending = fold(wanted)
            found = [path for path in self.named(wanted.rpartition("/")[2]) if fold(path).endswith(ending)]
            if found:
                return min(found, key=lambda path: (not fold(path).startswith(begin), len(path), path))
        return None


def _variants(path: str) -> tuple[str, ...]:
    """A name with a dot in it may be a file's, or a note's without `.md`; one without is a note's."""
    return (path, f"{path}.md") if "." in path.rpartition("/")[2] else (f"{path}.md",)


def joined(folder: str, relative: str) -> str | None:
    """A relative path from a folder, as a path from the root; None if it leads out."""
    parts = folder.split("/") if folder else []
    for segment in relative.split("/"):
        if segment == "..":
            if not parts:
                return None
            parts.pop()
        elif segment not in ("", "."):
            parts.append(segment)
    return "/".join(parts)


def relative_to(folder: str, path: str) -> str:
    """A path from the root, as one from a folder."""
    here = folder.split("/") if folder else []
    there = path.split("/")
    shared = 0
    while shared < len(here) and shared < len(there) - 1 and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:])
