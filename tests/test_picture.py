"""README's pictures: what the script draws from a session that is really played."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from bundle import conversation, picture
from tests.support.client import Server
from tests.support.process import SEARCHED


def test_the_conversation_is_drawn_from_a_session_played_now() -> None:
    assert picture.FILE.read_text(encoding="utf-8") == picture.draw(), "run make picture"


def test_the_hosts_screen_is_the_drawn_one() -> None:
    assert picture.HOST.read_text(encoding="utf-8") == picture.draw_host(), "run make picture"


def test_the_drawing_is_well_formed_and_shows_the_question_and_both_notes() -> None:
    root = ElementTree.parse(picture.FILE).getroot()
    words = " ".join(" ".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "Frost again last night!" in words
    assert "Early May: sow the [[Beans]]" in words
    assert "Late May: sow the [[Runner beans]]" in words


def test_undo_both_is_true(tmp_path: Path) -> None:
    vault = tmp_path / "Allotment"
    conversation.write(vault)
    environment = {"PATH": os.defpath, "HOME": str(tmp_path), "PYTHONPATH": SEARCHED}
    with Server(environment, "--vault", str(vault), "--backend", "embedded") as server:
        server.initialize()
        for tool, arguments, _ in conversation.CALLS:
            server.call(tool, **arguments)
        assert conversation.texts(vault) != {path: conversation.NOTES[path] for path in conversation.SHOWN}
        server.call("undo_change")
        server.call("undo_change")
    found = {file.relative_to(vault).as_posix(): file.read_text("utf-8") for file in vault.rglob("*.md")}
    assert found == conversation.NOTES


WORDS = st.lists(st.text("abcdefgh&<", min_size=1, max_size=12), min_size=1, max_size=30)


@given(WORDS, st.integers(0, 29), st.integers(0, 29))
def test_a_sentence_is_wrapped_whole_with_its_name(words: list[str], first: int, last: int) -> None:
    first, last = sorted((first % len(words), last % len(words)))
    words[first] = "*" + words[first]
    words[last] += "*"
    lines = picture.wrapped(" ".join(words))
    assert all(line.count("*") % 2 == 0 for line in lines)
    plain = " ".join(line.replace("*", "") for line in lines)
    assert plain.replace("&lt;", "<").replace("&amp;", "&") == " ".join(words).replace("*", "")


def test_only_the_words_that_differ_are_marked() -> None:
    line = "- Late May: sow the [[Runner beans]]"
    marked = [line[start:end] for start, end in picture.differing(line, "- Early May: sow the [[Beans]]")]
    assert marked == ["Late", "Runner beans"]
