"""From what a caller calls a section to the one that is meant."""

from __future__ import annotations

from obsidian_mcp.errors import AmbiguousName, NoteNotFound
from obsidian_mcp.operations.passages import cut
from obsidian_mcp.vault import frontmatter, sections
from obsidian_mcp.vault.line_ends import LF
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.structure import Structure

MOST_NAMED, MOST_NAMED_OF_ALL = 10, 20
LONGEST_SHOWN = 80  # characters of a block


def section_of(path: VaultPath, text: str, wanted: str) -> sections.Section:
    """Raises unless there is exactly one; the message has the names that can be given."""
    return section_in(path, Structure(text, frontmatter.place(text)[2]), wanted)


def section_in(path: VaultPath, structure: Structure, wanted: str) -> sections.Section:
    """In a note whose structure is known already."""
    try:
        return sections.find(structure, structure.text, wanted)
    except sections.NoSection as problem:
        if problem.several and not problem.several[0].level:
            raise _same_id(path, structure, wanted, problem.several) from None
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


def _same_id(path: VaultPath, structure: Structure, wanted: str, several: list[sections.Section]) -> AmbiguousName:
    """An id is all that a block is named by, so only their lines and texts tell them apart."""
    text = structure.text
    shown = [
        f"line {block.line}: {cut(text[block.start : block.end].partition(LF)[0].strip(), LONGEST_SHOWN)}"
        for block in several[:MOST_NAMED]
    ]
    more = f"; and {len(several) - MOST_NAMED} more" if len(several) > MOST_NAMED else ""
    return AmbiguousName(
        f"{path} has {len(several)} blocks {wanted.strip().lstrip('#')}, so the id names none of them: "
        f"{'; '.join(shown)}{more}.",
        "Say which one is meant by its text or line instead, or give one of them another id first.",
        path=path.value,
    )
