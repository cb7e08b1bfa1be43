from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.forms import Forms
from obsidian_mcp.vault.words import folded, searchable, surely_lacks, whole_word_places, words_in

WORDS = {
    "letters and digits": ("Plan-B, 2nd try_again", ["plan", "b", "2nd", "try", "again"]),
    "accents don't count": ("Café naïve Ärger", ["cafe", "naive", "arger"]),
    "nor do they decomposed": (unicodedata.normalize("NFD", "Café"), ["cafe"]),
    "full width": ("ＡＢＣ１２", ["abc12"]),
    "German": ("Straße", ["strasse"]),
    "Greek, with its last sigma": ("Σας", ["σασ"]),
    "Cyrillic": ("Ёлка", ["елка"]),
    "Chinese, a word per character": ("会议记录2024", ["会", "议", "记", "录", "2024"]),
    "Japanese, half width and composed": ("ｶﾞギ", ["ガ", "ギ"]),
    "Korean": ("한국어 텍스트", ["한국어", "텍스트"]),
    "Korean, decomposed": (unicodedata.normalize("NFD", "한국어"), ["한국어"]),
    "Thai": ("ไทย", ["ไ", "ท", "ย"]),
    "Hindi keeps its vowels": ("हिन्दी में", ["हिन्दी", "में"]),
    "Hebrew without its points": ("שָׁלוֹם", ["שלום"]),
    "Arabic without its points": ("كِتَاب", ["كتاب"]),
    "emoji beside words": ("party🎉now", ["party", "🎉", "now"]),
    "quotes and dashes": ("“it’s” — so…", ["it", "s", "so"]),
    "a lone mark": ("q\u0301x", ["qx"]),
}


@pytest.mark.parametrize(("text", "expected"), WORDS.values(), ids=WORDS)
def test_a_text_is_cut_into_words(text: str, expected: list[str]) -> None:
    assert words_in(text) == expected


@given(st.text())
def test_case_form_and_width_make_no_difference(text: str) -> None:
    for other in ("NFC", "NFD", "NFKC"):
        assert folded(unicodedata.normalize(other, text)) == folded(text)
    assert folded(folded(text)) == folded(text)


@given(st.text())
def test_lines_stay_lines(text: str) -> None:
    assert folded(text).count("\n") == text.count("\n") == searchable(text).count("\n")


@given(st.text(alphabet=st.characters(codec="utf-8")), st.text(alphabet="ab \n", max_size=5))
def test_a_text_is_folded_as_its_parts_between_blanks_are(text: str, more: str) -> None:
    assert folded(f"{text} {more}") == f"{folded(text)} {folded(more)}"


PLACES = {
    "whole": ("a plan b", "plan", [2]),
    "within a word": ("planning explan", "plan", []),
    "beside punctuation": ("(plan)-plan", "plan", [1, 7]),
    "beside Chinese": ("会plan议", "plan", [1]),
    "Chinese within Chinese": ("今天会议室", "会议", [2]),
    "at both ends": ("plan x plan", "plan", [0, 7]),
    "underscores belong to words": ("_plan_", "plan", []),
}


@pytest.mark.parametrize(("text", "wanted", "places"), PLACES.values(), ids=PLACES)
def test_a_whole_word_is_found(text: str, wanted: str, places: list[int]) -> None:
    assert list(whole_word_places(text, wanted)) == places


FORMS = {
    "plural": ("meetings", ["meeting", "meets", "meet"], ["meetup", "me"]),
    "y and i": ("study", ["studies", "studied"], ["stud", "student"]),
    "a short word has none": ("ad", [], ["ads", "add"]),
    "a number has none": ("2024", [], ["20245", "2025"]),
    "Russian": ("заметка", ["заметки", "заметку"], ["замок"]),
    "Korean particles": ("회의", ["회의를", "회의는"], ["회사", "회의장에서는"]),
    "no stemmer": ("საქართველო", ["საქართველოს"], ["საქა"]),
}


@pytest.mark.parametrize(("word", "same", "others"), FORMS.values(), ids=FORMS)
def test_a_word_has_forms(word: str, same: list[str], others: list[str]) -> None:
    forms = Forms(word)
    assert [other for other in same if not forms.include(other)] == []
    assert [other for other in others if forms.include(other)] == []
    assert forms.include(word)


def test_an_accent_says_that_a_word_is_not_english() -> None:
    assert Forms("reunions", "réunions").include("reunion")
    assert not Forms("reunions", "reunions").include("reuni")


@given(
    st.text(alphabet="abcdeingsyзаметкиё회의를", min_size=1, max_size=9),
    st.text(alphabet="abcdeingsyзаметки회의를", min_size=1, max_size=9),
)
def test_what_is_a_form_begins_with_the_shared_letters(word: str, other: str) -> None:
    forms = Forms(word)
    assert not forms.include(other) or other.startswith(forms.prefix)
    assert word.startswith(forms.prefix)


def _hides_no_word(text: str) -> bool:
    """Whether each word that is in a text may be in its bytes, too."""
    return not any(word.isascii() and surely_lacks(text.encode(), [word.encode()]) for word in words_in(text))


def test_no_character_that_is_passed_over_hides_a_word() -> None:
    """Of all there are: whatever it turns into, and also if it goes away."""
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x32000)):
        assert _hides_no_word(f"q{chr(code)}w"), hex(code)


@given(st.text(st.sampled_from("aeSß7 Éæ×²½µΔя\u0301\ufe0f“会Ｚĳžﬁ☀")))
def test_no_characters_together_hide_a_word(text: str) -> None:
    assert _hides_no_word(text)


@given(st.binary())
def test_no_bytes_that_are_not_text_hide_a_word(data: bytes) -> None:
    for word in words_in(data.decode("utf-8", "replace")):
        assert not word.isascii() or not surely_lacks(data, [word.encode()])


LACKING = ["plain", "naïve Ärger, Straße, façade", "Δ 10 m² µ", "“quoted” — so…", "会议", "Ёлка", "½ 🎉"]


@pytest.mark.parametrize("text", LACKING)
def test_a_text_without_a_word_is_known_by_its_bytes(text: str) -> None:
    assert surely_lacks(text.encode(), [b"zebra"])


def test_an_emojis_look_within_a_word_hides_nothing() -> None:
    assert not surely_lacks("au\ufe0fdit".encode(), [b"audit"])
    assert surely_lacks("\u2600\ufe0f au dit".encode(), [b"audit"])
