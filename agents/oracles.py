"""Whether a vault is as it should be. Every file counts, whatever the task was about.

A file is right if its bytes are the expected ones. Two things are left to a server: how many blank lines stand around
a line that it adds, and in which form it writes a link, as long as the link leads to the same note. A file that is
neither as it was nor as it should be is harm.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from agents.vault import Files

LINK = re.compile(rb"\[\[([^\]|#\n]+)|\]\(([^)\n#]+\.md)")
Form = Callable[[bytes], bytes]


def exactly(content: bytes) -> bytes:
    return content


def without_blank_lines(content: bytes) -> bytes:
    return re.sub(rb"\n(?:\r?\n)+", b"\n", content).strip()


def in_any_order(content: bytes) -> bytes:
    """For lines that were added at once."""
    return b"\n".join(sorted(without_blank_lines(content).split(b"\n")))


def links_by_note(content: bytes) -> bytes:
    """Each link as the bare name of its note."""

    def bare(found: re.Match[bytes]) -> bytes:
        target = PurePosixPath(unquote((found[1] or found[2]).decode()))
        name = target.name.removesuffix(".md").encode()
        return b"[[" + name if found[1] else b"](" + name

    return LINK.sub(bare, content)


@dataclass(frozen=True)
class Verdict:
    right: bool
    harmed: tuple[str, ...]  # files that are neither as they were nor as they should be


def judge(found: Files, expected: Files, befores: Iterable[Files], form: Form = exactly) -> Verdict:
    """`befores` are the states that the vault was in before the agent acted."""
    states = [expected, *befores]
    harmed = tuple(
        path
        for path in sorted(found.keys() | expected.keys())
        if not any(_same(found.get(path), state.get(path), form) for state in states)
    )
    right = found.keys() == expected.keys() and all(_same(found[path], expected[path], form) for path in found)
    return Verdict(right and not (form is links_by_note and stray_links(found)), harmed)


def stray_links(files: Files) -> list[str]:
    """Links with a folder in them that lead to no file. A wikilink may give the end of a path alone."""
    ends = {path[at:] for path in files for at in range(len(path)) if not at or path[at - 1] == "/"}
    return [
        f"{path}: {target}"
        for path, content in files.items()
        for found in LINK.finditer(content)
        if (target := _target(path, found)) is not None and target not in (ends if found[1] else files)
    ]


def _target(path: str, found: re.Match[bytes]) -> str | None:
    """The path that a link gives, from the vault's root; None for a bare name."""
    written = unquote((found[1] or found[2]).decode())
    if "/" not in written:
        return None
    base = "" if found[1] else posixpath.dirname(path)
    return posixpath.normpath(posixpath.join(base, written.removesuffix(".md") + ".md"))


def _same(one: bytes | None, other: bytes | None, form: Form) -> bool:
    return one == other or (one is not None and other is not None and form(one) == form(other))
