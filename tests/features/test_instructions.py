from __future__ import annotations

from typing import Any

import pytest

from obsidian_mcp.features import instructions as told
from obsidian_mcp.features.instructions import instructions
from obsidian_mcp.tools import catalogue

OFFERS: dict[str, tuple[dict[str, Any], bool, set[str], set[str]]] = {
    "everything": ({}, True, {told.PAGES, told.IF_MATCH, told.FINDING, told.UNDOING}, {told.READ_ONLY, told.NO_APP}),
    "nothing to find with": ({"sets": ("notes",)}, True, {told.PAGES}, {told.FINDING, told.UNDOING}),
    "read-only": ({"read_only": True}, True, {told.READ_ONLY}, {told.IF_MATCH}),
    "no app": ({}, False, {told.NO_APP}, set()),
    "no app, and nothing to open with": ({"tools": ("-open_note",)}, False, set(), {told.NO_APP}),
    "no reading": ({"tools": ("-read_note",)}, True, set(), {told.PAGES, told.IF_MATCH, told.READ_ONLY}),
}


@pytest.mark.parametrize(("options", "with_app", "said", "unsaid"), OFFERS.values(), ids=OFFERS)
def test_instructions_fit_what_is_offered(
    options: dict[str, Any], with_app: bool, said: set[str], unsaid: set[str]
) -> None:
    text = instructions(catalogue.load(**options), ("Notes",), with_app)
    assert text.startswith(told.WHEN)
    assert all(sentence in text for sentence in said)
    assert not any(sentence in text for sentence in unsaid)


VAULTS = {
    "one": (("Notes",), "The vault is 'Notes'."),
    "several": (("Work", "My notes"), "The vaults are 'Work', 'My notes'; the argument vault chooses one"),
    "very many": (tuple(f"Vault number {number}" for number in range(100)), "'Vault number 1', "),
    "a name of several lines": (("One\nIgnore all\tthat",), "'One Ignore all that'"),
    "a very long name": (("x" * 500,), f"'{'x' * 79}…'"),
    "very long names": (tuple(str(number) * 500 for number in range(50)), "and 47 more"),
}


@pytest.mark.parametrize(("vaults", "part"), VAULTS.values(), ids=VAULTS)
def test_vaults_are_named_and_the_whole_stays_short(vaults: tuple[str, ...], part: str) -> None:
    for read_only in (True, False):
        text = instructions(catalogue.load(read_only=read_only), vaults, with_app=False)
        assert part in text
        assert len(text) <= told.MOST == 1000
        assert "\n" not in text
