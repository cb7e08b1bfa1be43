"""Links that lead nowhere, with the files that they may mean; and making those lead there that a caller chooses, or of
which there is no doubt. A link keeps its form, its heading and its alias.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.operations import linking
from obsidian_mcp.operations.finding import existing
from obsidian_mcp.operations.many_notes import carried_out
from obsidian_mcp.operations.moving import NoteRewrites
from obsidian_mcp.operations.searching import not_looked_at
from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.changes import ChangeSet
from obsidian_mcp.vault.contents import Contents
from obsidian_mcp.vault.links.likely_targets import LikelyTargets
from obsidian_mcp.vault.links.link import Link
from obsidian_mcp.vault.links.link_rewrites import leads_to, led
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.path import is_path
from obsidian_mcp.vault.port import Vault
from obsidian_mcp.vault.reference import Reference

DOING = "repairing links"
MOST_TARGETS = 5  # that are shown of a link


@dataclass(frozen=True, slots=True)
class Chosen:
    """A link, as a list of broken ones has it or by its target alone, and what it shall lead to."""

    path: Reference
    link: str
    target: Reference


@dataclass(frozen=True, slots=True)
class BrokenLink:
    path: str
    line: int
    link: str
    targets: list[str]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """`broken` are the first of those that are left, `total` how many that are."""

    changes: ChangeSet
    rewrites: list[NoteRewrites]
    broken: list[BrokenLink]
    total: int
    note: str | None = None

    @property
    def repaired(self) -> int:
        return sum(len(one.links) for one in self.rewrites)


def repair_links(
    path: str | None,
    chosen: Sequence[Chosen],
    sure: bool,
    limit: int,
    vault: Vault,
    contents: Contents,
    call: CallContext,
    *,
    dry_run: bool,
) -> RepairPlan:
    """`path` is the note whose links alone are meant."""
    wanted: dict[str, dict[str, str]] = {}
    for one in chosen:
        source, target = existing(one.path, vault, whole=True), existing(one.target, vault, whole=True)
        wanted.setdefault(source.value, {})[one.link.strip()] = target.value

    def plan() -> RepairPlan:
        return _planned(path, wanted, sure, limit, vault, contents, call)

    return carried_out(DOING, plan, vault, dry_run=dry_run)


def _planned(
    path: str | None,
    chosen: Mapping[str, Mapping[str, str]],
    sure: bool,
    limit: int,
    vault: Vault,
    contents: Contents,
    call: CallContext,
) -> RepairPlan:
    """Only files are read in which something is to be repaired, or shown."""
    found, unread = linking.broken(contents, call)
    counts = {at: len(links) for at, links in found if is_path(at) and path in (None, at)}
    repair = _Repair(chosen, sure, vault.settings().link_format, contents, call)
    left: list[BrokenLink] = []
    rewrites: list[NoteRewrites] = []
    for at in sorted({*counts, *chosen}):
        if not (sure or at in chosen or len(left) < limit):
            continue
        for _, data in contents.read_all([at], call):
            done, still = repair.file(at, data)
            counts[at] = len(still)
            left += still[: max(0, limit - len(left))]
            rewrites += [done] if done.links else []
    changes = ChangeSet(DOING, tuple(one.write(one.path) for one in rewrites))
    return RepairPlan(changes, rewrites, left, sum(counts.values()), not_looked_at(unread))


class _Repair:
    """What is known of the vault, and what is to be done to the links of each file."""

    def __init__(
        self,
        chosen: Mapping[str, Mapping[str, str]],
        sure: bool,
        style: str,
        contents: Contents,
        call: CallContext,
    ) -> None:
        self._chosen = chosen
        self._sure = sure
        self._style = style
        self._there = contents.resolver(call)
        described, _ = contents.properties(call)
        aliases = ((each, frontmatter.aliases(values)) for each, values in described)
        self._likely = LikelyTargets(self._there.paths(), aliases)

    def file(self, at: str, data: bytes) -> tuple[NoteRewrites, list[BrokenLink]]:
        """The links that are written anew, and those that stay broken."""
        text = data.decode("utf-8", "surrogateescape")
        links = links_in(at, text)
        chosen, used = self._chosen.get(at, {}), set[str]()
        goals: dict[int, str] = {}
        left: list[BrokenLink] = []
        for number, broken in self._broken(at, text, links):
            target = links[number].target
            named = [way for way in (broken.link, target, f"[[{target}]]") if way in chosen]
            if named:
                used.add(named[0])
                goals[number] = chosen[named[0]]
            elif self._sure and len(broken.targets) == 1:
                goals[number] = broken.targets[0]
            else:
                left.append(broken)
        _require_all_used(at, chosen, used)
        rewrites = led(at, text, links, goals, at, self._there, self._style) if goals else []
        return NoteRewrites(at, data, rewrites), left

    def _broken(self, at: str, text: str, links: Sequence[Link]) -> Iterator[tuple[int, BrokenLink]]:
        line, counted = 1, 0
        for number, link in enumerate(links):
            line += text.count("\n", counted, link.start)
            counted = link.start
            if leads_to(self._there, link, at) is None:
                targets = self._likely.of(link.target)[:MOST_TARGETS]
                yield number, BrokenLink(at, line, _shown(linking.written(text, link)), targets)


def _require_all_used(at: str, chosen: Iterable[str], used: Container[str]) -> None:
    for link in chosen:
        if link not in used:
            raise InvalidArguments(
                f"There is no broken link {link!r} in {at}.", "Give link as the list of broken links has it."
            )


def _shown(written: str) -> str:
    """A note that is not UTF-8 may be repaired, and has to be shown."""
    return written.encode("utf-8", "replace").decode()
