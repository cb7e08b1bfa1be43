"""The judge of the agents notices what it is there to notice."""

from __future__ import annotations

from agents.oracles import judge, links_by_note, stray_links, without_blank_lines

BEFORE = {"A.md": b"one\n", "B.md": b"two\n"}
AFTER = {"A.md": b"one\nmore\n", "B.md": b"two\n"}


def test_the_expected_vault_is_right() -> None:
    verdict = judge(AFTER, AFTER, [BEFORE])
    assert verdict.right
    assert verdict.harmed == ()


def test_a_vault_that_was_not_touched_is_not_right_and_not_harmed() -> None:
    verdict = judge(BEFORE, AFTER, [BEFORE])
    assert not verdict.right
    assert verdict.harmed == ()


def test_a_byte_in_another_file_is_harm() -> None:
    verdict = judge({**AFTER, "B.md": b"two \n"}, AFTER, [BEFORE])
    assert not verdict.right
    assert verdict.harmed == ("B.md",)


def test_a_file_that_is_gone_is_harm() -> None:
    assert judge({"A.md": AFTER["A.md"]}, AFTER, [BEFORE]).harmed == ("B.md",)


def test_a_file_that_nobody_asked_for_is_harm() -> None:
    assert judge({**AFTER, "C.md": b""}, AFTER, [BEFORE]).harmed == ("C.md",)


def test_the_change_made_twice_is_harm() -> None:
    twice = {**AFTER, "A.md": b"one\nmore\nmore\n"}
    assert judge(twice, AFTER, [BEFORE], without_blank_lines).harmed == ("A.md",)


def test_blank_lines_around_an_added_line_are_left_to_the_server() -> None:
    assert judge({**AFTER, "A.md": b"one\n\nmore\n\n"}, AFTER, [BEFORE], without_blank_lines).right


def test_the_form_of_a_link_is_left_to_the_server_as_long_as_it_leads_there() -> None:
    wanted = {"F/New.md": b"", "L.md": b"[[New|x]] [y](F/New.md)"}
    assert judge({**wanted, "L.md": b"[[F/New|x]] [y](F/New.md)"}, wanted, [wanted], links_by_note).right
    assert not judge({**wanted, "L.md": b"[[G/New|x]] [y](F/New.md)"}, wanted, [wanted], links_by_note).right
    assert not judge({**wanted, "L.md": b"[[Old|x]] [y](F/New.md)"}, wanted, [wanted], links_by_note).right


def test_a_relative_link_is_followed_from_its_note() -> None:
    assert stray_links({"F/A.md": b"[x](../G/B%20C.md)", "G/B C.md": b""}) == []
    assert stray_links({"F/A.md": b"[x](G/B%20C.md)", "G/B C.md": b""}) == ["F/A.md: F/G/B C.md"]


def test_a_wikilink_may_give_the_end_of_a_path() -> None:
    assert stray_links({"A.md": b"[[G/B]]", "F/G/B.md": b""}) == []
