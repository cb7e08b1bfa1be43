"""Which notes a search finds, one rule at a time. That it finds no others is the law in `tests/index/test_law.py`."""

from __future__ import annotations

import pytest

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import InvalidArguments, TimedOut
from obsidian_mcp.index.library import Library
from obsidian_mcp.vault.config import VaultConfig
from obsidian_mcp.vault.contents import Matches
from obsidian_mcp.vault.query.matching import Matcher
from obsidian_mcp.vault.query.parser import parse
from tests.support.memory import Files


def search(query: str, notes: dict[str, str], excluded: tuple[str, ...] = (), limit: float = 30.0) -> Matches:
    library = Library(Files({f"{name}.md": text.encode() for name, text in notes.items()}), None)
    is_excluded = VaultConfig({"userIgnoreFilters": list(excluded)}).is_excluded()
    return library.matching(parse(query), is_excluded, CallContext(limit))


def found(query: str, notes: dict[str, str], *excluded: str) -> str:
    """The names of the notes, in order."""
    return " ".join(sorted(hit.path.removesuffix(".md") for hit in search(query, notes, excluded).hits))


# A query, a note called Plan, and whether it is found.
TEXTS: dict[str, tuple[str, str, bool]] = {
    "a phrase": ('"red fox"', "a red fox.", True),
    "a phrase is whole words": ('"red fox"', "a red foxglove", False),
    "a phrase is whole words at its start": ('"ed fox"', "a red fox", False),
    "a phrase that is part of a word here and a word there": ('"fox"', "foxglove fox", True),
    "a phrase with its punctuation": ('"red, fox"', "red fox", False),
    "a phrase with signs at its ends": ('"(fox)"', "red(fox)es", True),
    "an underscore is part of a word": ('"fox"', "red_fox", False),
    "a phrase over two lines": ('"red fox"', "red\nfox", False),
    "a phrase in the name, as any part of it": ('"la"', "", True),
    "the extension is not part of the name": ('".md"', "", False),
    "a phrase in Chinese is any part of it": ('"日本"', "昨日本当に", True),
    "a phrase in Korean is whole words": ('"한국"', "한국어", False),
    "a phrase beside Chinese": ('"fox"', "狐fox狐", True),
    "a phrase in other case": ('"ПЛАН РАБОТ"', "План работ", True),
    "a phrase decomposed": ('"cafe\u0301"', "café", True),
    "a phrase in a decomposed text": ('"café"', "cafe\u0301", True),
    "a phrase in full width": ('"ＦＯＸ 1"', "fox 1", True),
    "half-width kana": ('"ガ"', "ｶﾞ", True),
    "an accent counts in a phrase": ('"cafe"', "café", False),
    "sharp s": ('"STRASSE"', "Straße", True),
    "an accent that goes with nothing, and one that does": ('"é"', "q\u0323 e\u0301", True),
    "an accent that goes with nothing, and half-width kana": ('"ガ"', "q\u0323 ｶﾞ", True),
    "minus a part of a word": ("-lov", "a foxglove", False),
    "minus what is not there": ("-fox", "nothing", True),
    "minus a part of the name": ("-LA", "", False),
    "minus two words means both": ("-(red fox)", "a fox", True),
    "minus two words that are there": ("-(red fox)", "a fox so red", False),
    "minus one of two words": ("-(red OR fox)", "a fox", False),
    "words in a line": ("line:(red fox)", "fox, redder\nx", True),
    "words in two lines": ("line:(red fox)", "red\nfox", False),
    "a word without another in a line": ("line:(fox -red)", "red fox\nfox", True),
    "a line of the properties": ("line:p", "---\np: 1\n---\n", True),
    "a section ends at the next heading of any level": ("section:(red fox)", "# a\nred\n### b\nfox", False),
    "a section has its heading": ("section:(red fox)", "# red\nx\n\nfox\n# b", True),
    "what is before the first heading": ("section:(red fox)", "red\n\nfox\n# b", True),
    "a heading in code ends nothing": ("section:(red fox)", "# a\nred\n```\n# b\n```\nfox", True),
    "an underlined heading ends a section": ("section:(red fox)", "red\n\nb\n---\nfox", False),
    "a block": ("block:(red fox)", "red\nfox\n\nx", True),
    "two blocks": ("block:(red fox)", "red\n \nfox", False),
    "content is not the name": ("content:Plan", "", False),
    "any task": ('task:""', "- [/] x", True),
    "no task": ('task:""', "- x [ ] y", False),
    "a task to do": ("task-todo:ox", "- [ ] fox", True),
    "a task that is done is not to do": ("task-todo:fox", "- [x] fox", False),
    "a task with another mark is done": ("task-done:fox", "- [-] fox", True),
    "two words in one task": ("task:(red fox)", "- [ ] red\n- [ ] fox", False),
    "a task in code": ("task:fox", "```\n- [ ] fox\n```", False),
    "a tag": ("tag:#Fox", "a #fox", True),
    "a tag without its mark": ("tag:fox", "a #fox", True),
    "a tag below another": ("tag:#fox", "#fox/red", True),
    "a tag above another": ("tag:#fox/red", "#fox", False),
    "not a tag that begins so": ("tag:#fox", "#foxglove", False),
    "not a tag that ends so": ("tag:#fox", "#red/fox", False),
    "a tag in code": ("tag:#fox", "`#fox`\n\n```\n#fox\n```", False),
    "a tag in the properties": ("tag:#fox", "---\ntags: [fox/red]\n---\n", True),
    "a tag that is no tag in a text": ("#fox", "a#fox (#fox)", False),
    "a tag decomposed": ("tag:#café", "#cafe\u0301", True),
    "a regular expression": ("/^f.x$/", "a\nfox\nb", True),
    "a regular expression over a name": ("/^pl/", "", True),
    "the end of a line that Windows wrote": ("/fox$/", "fox\r\nx", True),
    "the end of a line that Windows wrote, in a line": ("line:/fox$/", "fox\r\nx", True),
    "a task that Windows wrote": ("task:/fox$/", "- [ ] fox\r\nx", True),
    "the case of letters counts": ("match-case:Fox", "fox", False),
    "the case of letters counts, and is so": ("match-case:(Fox red)", "red Fox", True),
}


@pytest.mark.parametrize(("query", "text", "expected"), TEXTS.values(), ids=TEXTS)
def test_a_filter_asks_a_text(query: str, text: str, expected: bool) -> None:
    assert found(query, {"Plan": text}) == ("Plan" if expected else "")
    if not query.startswith("-"):
        assert found(f"-{query}", {"Plan": text}) == ("" if expected else "Plan")


# A query, the properties of a note, and whether it is found.
PROPERTIES: dict[str, tuple[str, str, bool]] = {
    "that is there": ("[p]", "p: 1", True),
    "that is empty": ("[p]", "p:", True),
    "in other case": ("[P:A]", "p: xay", True),
    "decomposed": ("[cafe\u0301]", "café: 1", True),
    "that is not there": ("[p]", "q: p", False),
    "with a part of its value": ("[p:plug]", "p: cc-plugins", True),
    "with its whole value": ('[p:"cc-plugins"]', "p: CC-Plugins", True),
    "without its whole value": ('[p:"plug"]', "p: cc-plugins", False),
    "with one of a list": ('[p:"b"]', "p: [a, b]", True),
    "with a list in lines": ('[p:"b"]', "p:\n  - a\n  - b", True),
    "with either": ("[p:a OR b]", "p: b", True),
    "with both": ("[p:a b]", "p: [a, b]", True),
    "with only one of both": ("[p:a b]", "p: [a, c]", False),
    "without a value": ("[p:-a]", "p: [a, b]", False),
    "that is less": ("[p:<10]", "p: 9", True),
    "that is not less": ("[p:<10]", "p: 10", False),
    "that is more, as numbers": ("[p:>9]", "p: 10", True),
    "a text is not compared with a number": ("[p:>9]", "p: b", False),
    "a date": ("[p:<2026-12-01]", "p: 2026-11-30", True),
    "a later date": ("[p:<2026-12-01]", "p: 2026-12-01T09:30", False),
    "a date and a year": ("[p:>2026]", "p: 2026-01-01", True),
    "true": ("[p:TRUE]", "p: true", True),
    "true in quotes is a text": ("[p:TRUE]", "p: 'true'", False),
    "false": ("[p:FALSE]", "p: false", True),
    "false is not empty": ("[p:EMPTY]", "p: false", False),
    "empty": ("[p:EMPTY]", "p:", True),
    "empty, as the help has it": ("[p:null]", "p: ~", True),
    "an empty text is not empty": ("[p:EMPTY]", 'p: ""', False),
    "a missing one is not empty": ("[p:EMPTY]", "q:", False),
    "a number as text": ("[p:2]", "p: 12", True),
    "a pattern": ("[p:/^a.c$/]", "p: [x, abc]", True),
    "in a block that can't be read": ("[p]", "p: 1\nq: [", False),
}


@pytest.mark.parametrize(("query", "yaml", "expected"), PROPERTIES.values(), ids=PROPERTIES)
def test_a_filter_asks_for_a_property(query: str, yaml: str, expected: bool) -> None:
    assert found(query, {"Plan": f"---\n{yaml}\n---\n"}) == ("Plan" if expected else "")


PLACES = {
    "a part of a name": ("file:ED", "sub/red"),
    "a name with its extension": ("file:red.md", "sub/red"),
    "a folder is not a name": ("file:sub", ""),
    "a part of a path": ("path:ub/r", "sub/red"),
    "a phrase is a part of a path": ('path:"b/r"', "sub/red"),
    "both": ("path:(sub -red)", "sub/blue"),
    "either": ("file:(red OR plan)", "plan sub/red"),
    "a file that the vault leaves out": ("file:old", ""),
    "a path that the vault leaves out": ("path:attic", "attic/old"),
    "another path does not name it": ("path:sub OR /old/", "plan sub/blue sub/red"),
    "minus names nothing": ("-path:sub", "plan"),
    "nothing at all": ("", "plan sub/blue sub/red"),
}


@pytest.mark.parametrize(("query", "expected"), PLACES.values(), ids=PLACES)
def test_a_filter_asks_for_a_place(query: str, expected: str) -> None:
    notes = dict.fromkeys(["plan", "sub/red", "sub/blue", "attic/old"], "old")
    assert found(query, notes, "attic/") == expected


# Bare words, what notes say, and which are found.
WORDS: dict[str, tuple[str, list[str], str]] = {
    "any of them": ("fox owl", ["fox", "owl", "elk"], "0 1"),
    "OR changes nothing": ("fox OR owl", ["fox", "owl", "elk"], "0 1"),
    "OR in parentheses changes nothing": ("(fox OR owl) elk", ["fox", "owl", "elk", "x"], "0 1 2"),
    "parentheses change nothing": ("(fox) (owl elk)", ["fox", "owl", "elk", "x"], "0 1 2"),
    "with a filter": ("fox owl -red", ["red fox", "owl", "blue"], "1"),
    "whole words": ("fox", ["foxglove", "fox-glove", "FOX!"], "1 2"),
    "other forms": ("meetings", ["we meet", "a meeting", "meetings", "meat"], "0 1 2"),
    "other forms, from the short one": ("study", ["studies", "studied", "student"], "0 1"),
    "other forms in Russian": ("заметка", ["все заметки", "о заметках", "замер"], "0 1"),
    "without accents": ("cafe", ["café", "cafe\u0301", "CAFÉ", "coffee"], "0 1 2"),
    "with accents": ("café", ["cafe", "cafe\u0301"], "0 1"),
    "full width": ("ｆｏｘ１", ["fox1", "fox 1"], "0"),
    "Chinese in a text without blanks": ("机器", ["学习机器学习", "机 x 器", "器机"], "0"),
    "Chinese of which no note has all": ("机器人", ["机器", "器人", "人"], "0 1"),
    "Japanese": ("ノート", ["このノートは", "ノ"], "0"),
    "Korean with an ending": ("한국어", ["한국어를", "한국"], "0 1"),
    "an emoji": ("🦊", ["a🦊b", "🐺"], "0"),
    "an emoji with a colour": ("👍🏽", ["👍🏽", "👍"], "0"),
    "words that stand together": ("follow-up", ["a follow-up", "follow up", "up, follow"], "0 1"),
    "words that stand together nowhere": ("follow-up", ["follow", "up", "x"], "0 1"),
    "words that stand together after part of a word": ("ox-elk-ox", ["fox elk ox elk ox", "fox elk ox"], "0"),
    "words that stand together in no heading": ("red-fox", ["red-fox", "# red\nx\n# fox\nx"], "0"),
    "a word that says nothing": ("the fox", ["the", "the fox"], "1"),
    "a word that says nothing, with OR": ("the OR fox", ["the", "the fox"], "1"),
    "only words that say nothing": ("the of", ["the", "of", "fox"], "0 1"),
    "the properties": ("fox", ["---\np: fox\n---\n", "---\nfox: 1\n---\n"], "0 1"),
    "an alias": ("fox", ["---\naliases: [Red Fox]\n---\n"], "0"),
}


@pytest.mark.parametrize(("query", "texts", "expected"), WORDS.values(), ids=WORDS)
def test_bare_words_are_looked_for(query: str, texts: list[str], expected: str) -> None:
    assert found(query, {str(number): text for number, text in enumerate(texts)}) == expected


def test_a_bare_word_is_found_in_a_name() -> None:
    assert found("fox", {"sub/Red Fox": "", "fox/other": "", "Foxglove": ""}) == "sub/Red Fox"


def test_a_name_and_an_alias_are_two_names() -> None:
    assert found("red-fox", {"A": "red-fox", "Red": "---\naliases: [fox]\n---\n"}) == "A"


def test_words_that_occur_nowhere_are_named_and_no_others() -> None:
    notes = {"A": "fox", "B": "owl", "attic/C": "elk"}
    assert search("fox bear elk wolf -bat line:cat", notes, ("attic/",)).unmatched == ["bear", "wolf"]


@pytest.mark.parametrize("mark", ['"', "(", "line:(", "section:(", 'line:"', "block:((", 'content:("'])
@pytest.mark.parametrize("before", ["", "owl "])
def test_what_is_never_closed_makes_no_search_wider(mark: str, before: str) -> None:
    notes = {"A": "red fox", "B": "fox\n\nred", "C": "owl", "D": "x", "E": "owl red fox", "F": "red"}
    wide, narrow = (set(found(f"{before}{opening}red fox", notes).split()) for opening in ("", mark))
    assert "A" in narrow or "E" in narrow
    assert narrow <= wide


def test_a_text_that_begins_with_an_accent_changes_how_no_other_is_read() -> None:
    notes = {"A": "\u030a", "B": "A\u030angstrom", "C": "- [ ] \u030a"}
    assert found("task:x", notes) == ""
    assert found("line:ångstrom", notes) == "B"


def test_a_regular_expression_has_the_time_of_its_call() -> None:
    with pytest.raises(TimedOut):
        search(r"/^(a|aa)+$/", {"A": "a" * 5000 + "b"}, limit=0.05)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[b-a]", "(?<x)"])
def test_a_regular_expression_that_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArguments, match="regular expression"):
        search(f"/{pattern}/ [p:/{pattern}/]", {"A": "a"})


@pytest.mark.parametrize("pattern", ["(?:(?:(?:a{100}){100}){100})", "(a{1,1000}){1,1000}", "(a{5000}){3}"])
def test_a_pattern_that_takes_long_to_read_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArguments, match="repeats too often"):
        Matcher(parse(f"/{pattern}/"), lambda words, note: True, CallContext())
