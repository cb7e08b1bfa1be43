"""The find tools where only the app can be asked: what its command line tells, and a sentence that says so.

The app ranks nothing, tells no lines of backlinks and counts tags by occurrence; what a note itself says is read
through it.
"""

from __future__ import annotations

from collections.abc import Callable

from obsidian_mcp.errors import Failure, NoteNotFound, NotText
from obsidian_mcp.operations import linking, surveying
from obsidian_mcp.operations.linking import Found, Listing
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.contents import AppAnswers, Hit, Matches
from obsidian_mcp.vault.index import File, Survey
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.path import VaultPath, is_path
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.query import ranking, tree
from obsidian_mcp.vault.query.matching import stem
from obsidian_mcp.vault.query.tree import Query
from obsidian_mcp.vault.words import searchable

MOST_READ = 40  # notes that are read one by one for the values of a property

SEARCHED = "Found by the Obsidian app: its order is not by relevance, and times are not known."
NAMES = "From the Obsidian app, which tells the names of files alone."
NOTES_ALONE = "From the Obsidian app, which tells the notes and not the lines."
NAMES_AND_COUNTS = "From the Obsidian app."
OCCURRENCES = "From the Obsidian app, which counts occurrences and not notes."


def search(text: str, query: Query, app: AppAnswers) -> tuple[Matches, str]:
    """Bare words alone are any of them; with anything else the app's own reading holds: all of them."""
    words = ranking.ranking_words(query.words)
    only_words = isinstance(query.filter, tree.Words)
    asked = " OR ".join(f'"{word.written}"' if not word.written.isalnum() else word.written for word in words)
    if not text.strip():
        return Matches([Hit(path, 0.0, 0) for path in app.files() if path.lower().endswith(".md")], [], []), SEARCHED
    found = app.search(asked if only_words and asked else text)
    hits: list[Hit] = []
    seen: set[str] = set()
    for path, lines in found:
        plain = searchable("\n".join((stem(path), stem(path), *(line for _, line in lines))))
        having = [word for word in words if word.count(plain)]
        seen.update(word.written for word in having)
        hits.append(Hit(path, float(len(having)), 0))
    unmatched = [word.written for word in words if word.written not in seen]
    return Matches(hits, [(word, 1.0) for word in words], unmatched if only_words else []), SEARCHED


def reader(vault: Vault) -> Callable[[str], bytes | None]:
    def read(path: str) -> bytes | None:
        if not is_path(path):
            return None
        try:
            return vault.read(VaultPath(path))
        except (NoteNotFound, NotText):
            return None

    return read


def survey(vault: Vault) -> tuple[Survey, str]:
    paths = vault.paths()
    folders = {path[:at] for path in paths for at in range(len(path)) if path[at] == "/"}
    return Survey([File(path, 0, 0, 0, 0) for path in paths], sorted(folders), []), NAMES


def backlink_count(path: VaultPath, app: AppAnswers) -> int | None:
    try:
        return len({other for other in app.backlinks(path) if other != path.value})
    except Failure:
        return None


def links(kind: str, path: str | None, app: AppAnswers, vault: Vault) -> Listing:
    if kind == "orphans":
        return Listing.of([Found(each) for each in app.orphans()], NOTES_ALONE)
    if path is None:
        found = [Found(source, None, link) for link, sources in app.unresolved() for source in sources]
        return Listing.of(sorted(found, key=lambda each: (each.path, each.link or "")), NOTES_ALONE)
    if kind == "backlinks":
        sources = sorted({other for other in app.backlinks(VaultPath(path)) if other != path})
        return Listing.of([Found(source, None, None, path) for source in sources], NOTES_ALONE)
    found = list(linking.links_of(path, vault.read(VaultPath(path)), Resolver(vault.paths())))
    return Listing.of([each for each in found if kind == "outgoing" or each.target is None])


def properties(wanted: str | None, app: AppAnswers, vault: Vault) -> tuple[list[surveying.Counted], str | None]:
    if wanted is None:
        return sorted(app.properties(), key=lambda item: (-item[2], item[0])), NAMES_AND_COUNTS
    if wanted.lower() == surveying.TAGS:
        tags = [(tag.removeprefix("#"), surveying.TAGS, count) for tag, count in app.tags()]
        return sorted(tags, key=lambda item: (-item[2], item[0])), OCCURRENCES
    paths = [path for path, _ in app.search(f"[{wanted}]" if wanted.isidentifier() else f'["{wanted}"]')]
    read, notes = reader(vault), []
    for path in paths[:MOST_READ]:
        data = read(path)
        if data is not None:
            notes.append(frontmatter.read(data.decode("utf-8", "replace")).values)
    more = f"Of {len(paths)} notes with it, {MOST_READ} were read." if len(paths) > MOST_READ else None
    return surveying.property_values(wanted, notes, vault.types()), more
