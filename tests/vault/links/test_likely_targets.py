from __future__ import annotations

import pytest

from obsidian_mcp.vault.links.likely_targets import LikelyTargets
from tests.support.growth import require_linear

PATHS = [
    "A/Note.md",
    "B/Note.md",
    "Café plan.md",
    "Meeting 3.md",
    "Plan A.md",
    "Release 1.2.md",
    "img/pic.png",
    "Recipes.md",
    "Sub/pic.md",
    "Data.csv",
]
ALIASES = [("Recipes.md", ["Cook book", "Küche"]), ("Plan A.md", ["Note"])]
CASES = {
    "the same name in other folders": ("C/Note", ["A/Note.md", "B/Note.md"]),
    "another case of a path": ("c/NOTE.md", ["A/Note.md", "B/Note.md"]),
    "a name with a dot": ("x/Release 1.2", ["Release 1.2.md"]),
    "another extension": ("pic.jpg", ["img/pic.png"]),
    "a note is no picture": ("x/pic", ["Sub/pic.md"]),
    "an alias": ("cook Book", ["Recipes.md"]),
    "without the accent": ("Cafe plan", ["Café plan.md"]),
    "other blanks and dashes": ("café-plan", ["Café plan.md"]),
    "a letter too few": ("Recpes", ["Recipes.md"]),
    "a letter too many": ("Reecipes", ["Recipes.md"]),
    "a wrong letter": ("Recibes", ["Recipes.md"]),
    "two swapped": ("Rceipes", ["Recipes.md"]),
    "two slips are too many": ("Recbs", []),
    "a digit is no slip": ("Meeting 4", []),
    "nor one that is missing": ("Meeting", []),
    "nor a short word": ("Plan B", []),
    "something else": ("Nothing like it", []),
    "an address": ("https://example.org/Note", []),
    "a folder": ("A/", []),
}


@pytest.mark.parametrize(("target", "expected"), CASES.values(), ids=CASES)
def test_what_a_broken_link_may_mean(target: str, expected: list[str]) -> None:
    assert LikelyTargets(PATHS, ALIASES).of(target) == expected


def test_the_nearest_kind_of_likeness_hides_the_others() -> None:
    assert LikelyTargets(["Plane.md", "Planes.md", "x/Planet.md"]).of("y/Planes") == ["Planes.md"]


def test_many_broken_links_in_a_large_vault_take_no_more_than_their_number() -> None:
    def work(count: int) -> object:
        likely = LikelyTargets([f"Name of {number}.md" for number in range(count)])
        return [likely.of(f"Nmae of {number}") for number in range(0, count, 20)]

    require_linear(work)
