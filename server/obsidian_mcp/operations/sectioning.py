"""From what a caller calls a section to the one that is meant."""

from __future__ import annotations

from obsidian_mcp.errors import AmbiguousName, NoteNotFound
from obsidian_mcp.vault import frontmatter, sections
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.structure import Structure

MOST_NAMED, MOST_NAMED_OF_ALL = 10, 20


def section_of(path: VaultPath, text: str, wanted: str) -> sections.Section:
    """Raises unless there is exactly one; the message has the names that can be given."""
    return section_in(path, Structure(text, frontmatter.place(text)[2]), wanted)


def section_in(path: VaultPath, structure: Structure, wanted: str) -> sections.Section:
    """In a note whose structure is known already."""
    try:
        return sections.find(structure, structure.text, wanted)
    except sections.NoSection as problem:
        if problem.several:
            first, more = problem.several[:MOST_NAMED], len(problem.several) - MOST_NAMED
            lines = ", ".join(str(section.line) for section in first) + (f" and {more} more" if more > 0 else "")
            names = "; ".join(section.name for section in first)
            raise AmbiguousName(
                f"{path} has {len(problem.several)} sections {wanted!r}, in lines {lines}.",
                f"Give one of these as section: {names}.",
                path=path.value,
            ) from None
        names = "; ".join(problem.nearest[:MOST_NAMED_OF_ALL])
        what = "block" if wanted.startswith("^") else "section"
        hint = f"It has: {names}." if names else f"It has no {what}s: leave section out."
        raise NoteNotFound(f"{path} has no {what} {wanted!r}.", hint, path=path.value) from None
