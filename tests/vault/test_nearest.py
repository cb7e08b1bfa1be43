from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.nearest import nearest
from tests.support.growth import require_linear

WORDS = "the a rose garden water plan budget team review notes week about meeting with from old seven".split()


def prose(count: int) -> str:
    chosen = random.Random(count)
    return " ".join(chosen.choice(WORDS) for _ in range(count))


HERE = "We meet on Monday at nine in the kitchen"
SLIPS = {
    "another word": "We meet on Tuesday at nine in the kitchen",
    "a word left out": "We meet Monday at nine in the kitchen",
    "a word too many": "We meet again on Monday at nine in the big kitchen",
    "a wrong first line": "Never written.\nWe meet on Monday at nine in the kitchen",
    "other cases": "WE MEET ON MONDAY AT TEN in the kitchen",
    "a single word": "kitchn",
    "other line ends": "We meet on Monday\r\nat nine in the kitchen",
}


@pytest.mark.parametrize("wanted", SLIPS.values(), ids=SLIPS)
@pytest.mark.parametrize("before", [0, 5, 3_000])
def test_a_slip_is_found_wherever_it_stands(wanted: str, before: int) -> None:
    text = f"{prose(before)} {HERE}. {prose(50)}\n{prose(300)}\n"
    found = nearest(text, wanted, 0, len(text))
    assert found is not None
    assert -20 < found[0] - text.index(HERE) < len(HERE)


def test_it_is_found_far_down_a_long_note() -> None:
    text = f"{prose(9)}\n" * 30_000 + HERE
    found = nearest(text, SLIPS["another word"], 0, len(text))
    assert found is not None
    assert text.index(HERE) <= found[0] < len(text)


@pytest.mark.parametrize("wanted", ["zebra xylophone", "x", "", "  \n ", "…", "Kubernetes ingress controllers"])
def test_what_is_like_nothing_has_no_nearest(wanted: str) -> None:
    text = f"{prose(2_000)}\n{HERE}\n"
    assert nearest(text, wanted, 0, len(text)) is None


def test_only_what_lies_between_the_two_places_counts() -> None:
    text = f"{HERE}\n{prose(100)}\n{HERE}\n{prose(100)}"
    second = text.rindex(HERE)
    found = nearest(text, HERE.replace("nine", "ten"), second, len(text))
    assert found is not None
    assert found == (second, 0)
    assert nearest(text, HERE, second + len(HERE), len(text)) is None


def test_the_line_of_the_text_that_is_there_is_told() -> None:
    text = f"x\n{HERE}\ny\n"
    assert nearest(text, f"Never.\n{HERE}\nnever", 0, len(text)) == (2, 1)


@given(st.text("abcİ \n", max_size=60), st.text("abcİ \n", min_size=8, max_size=20), st.text("abc \n", max_size=60))
def test_any_place_is_one_of_the_note(before: str, wanted: str, after: str) -> None:
    text = before + wanted + after
    found = nearest(text, wanted, 0, len(text))
    if found is not None:
        assert 0 <= found[0] <= len(text)


def test_looking_takes_time_in_proportion_to_the_note() -> None:
    require_linear(lambda size: nearest("abc " * size, "abd abd abc xyz", 0, 4 * size))
    require_linear(lambda size: nearest("abcdef", "abd " * size, 0, 6))
