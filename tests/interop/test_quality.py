"""What `make search-quality` asks and how it counts. How good the search is, is seen by running it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.quality import Answer, Question, QuestionSet, Score, judge, notes_in, own_set, seekstone_set, size_of
from bench.report import Report

KNOWN = {"A/One.md", "Two.md"}
RESULTS: dict[str, dict[str, Any]] = {
    "structured content": {"structuredContent": {"data": {"notes": [{"path": "A/One.md"}, {"path": "Two.md"}]}}},
    "JSON as text": {"content": [{"type": "text", "text": '[{"p": "A/One.md", "ex": "see Two.md"}, {"p": "Two.md"}]'}]},
    "a list as text": {"content": [{"type": "text", "text": "A/One.md\nTwo.md\nnothing else"}]},
    "the vault's name before the path": {"structuredContent": {"files": ["notes/A/One.md", "notes/Two.md"]}},
    "a note that is named twice": {"structuredContent": ["A/One.md", "Two.md", "A/One.md"]},
}


def answered(*notes: str, kind: str = "words", size: int = 100) -> Answer:
    return Answer(Question("q", ["Right.md", "Also right.md"], kind), notes, size)


def test_our_questions_are_forty_half_of_them_in_other_words() -> None:
    questions = own_set(Path()).questions
    assert Counter(question.kind for question in questions) == {"words": 20, "meaning": 20}
    assert len({question.query for question in questions}) == 40


def test_every_question_is_plain_words_with_notes_that_answer_it() -> None:
    for question in own_set(Path()).questions:
        assert not set(':"()[]') & set(question.query), question
        assert question.answers, question
        assert all(note.endswith(".md") and not note.startswith("/") for note in question.answers), question


def test_the_public_set_is_read_where_it_lies(tmp_path: Path) -> None:
    queries = tmp_path / "packages" / "harness" / "queries"
    queries.mkdir(parents=True)
    one = {"id": "x", "kind": "lexical", "query": "wind", "expected": ["Notes/Wind.md"], "notes": "why"}
    (queries / "golden.json").write_text(json.dumps({"queries": [one]}), encoding="utf-8")
    for folder in (tmp_path, queries.parent):
        assert seekstone_set(folder).questions == [Question("wind", ["Notes/Wind.md"], "lexical")]


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_the_notes_are_found_whatever_a_server_calls_them(result: dict[str, Any]) -> None:
    assert notes_in(result, KNOWN) == ["A/One.md", "Two.md"]


def test_an_error_names_no_note_and_has_no_size() -> None:
    assert notes_in({}, KNOWN) == []
    assert size_of({}) == 0


def test_the_size_is_what_a_model_reads_in_bytes() -> None:
    assert size_of({"content": [{"type": "text", "text": "äö"}], "structuredContent": {}}) == 4
    assert size_of({"content": [], "structuredContent": {"a": "ä"}}) == len('{"a":"ä"}'.encode())


def test_a_right_note_counts_among_the_first_five_alone() -> None:
    assert answered("Wrong.md", "Also right.md").rank == 2
    assert answered("1", "2", "3", "4", "5", "Right.md").rank is None


def test_a_score_is_the_share_of_right_answers_by_kind_too() -> None:
    score = Score([answered("Right.md"), answered("Wrong.md", "Right.md", kind="meaning"), answered(kind="meaning")])
    assert score.hits() == pytest.approx(2 / 3)
    assert score.hits("meaning") == 0.5
    assert score.mean_reciprocal_rank == pytest.approx((1 + 1 / 2) / 3)
    assert score.without_answer == 1


def test_a_bar_is_missed_by_one_wrong_answer_too_many_or_by_a_server_that_is_as_good() -> None:
    asked = QuestionSet("seekstone's vault", Path(), [Question("q", ["Right.md"], "words")] * 2, 0.82)
    right, half = Score([answered("Right.md")] * 2), Score([answered("Right.md"), answered("Wrong.md")])
    for ours, other, missed in ((right, half, 0), (half, Score([answered("x")] * 2), 1), (right, right, 1)):
        report = Report("", {})
        judge(report, asked, {"ours": ours, "other": other})
        assert len(report.missed) == missed


def test_a_server_of_ours_that_fails_misses_its_bar() -> None:
    report = Report("", {})
    judge(report, QuestionSet("a vault", Path(), [], 0.85), {})
    assert report.missed
