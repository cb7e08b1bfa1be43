from __future__ import annotations

from typing import Any

import pytest

from tests.promises.ground import Ground

NOTES = {
    "Garden/Beds.md": (
        "# Beds\n\nRaised beds keep the roots warm.\n\n## Soil\n\nMix zorbium into the soil. #garden/soil\n"
    ),
    "Garden/Plan.md": (
        "---\nstatus: draft\ndue: 2031-05-01\ntags: [garden]\naliases: [Blueprint]\n---\n- [ ] order seeds\n- [x] dig\n"
    ),
    "Kitchen.md": "Zorbium tastes of nothing.\nSoup and bread.\n",
    "会议.md": "今天的会议记录：预算。🎉\n",
}


@pytest.fixture
def vault(readable: Ground) -> Ground:
    for path, content in NOTES.items():
        readable.put(path, content)
    return readable


def found(ground: Ground, query: str, **more: Any) -> list[str]:
    answer = ground.call("search_notes", query=query, limit=50, max_chars=20_000, **more)
    paths = [note["path"] for note in answer["notes"]]
    assert answer["total"] == len(paths)
    return paths


QUERIES: dict[str, tuple[str, set[str]]] = {
    "one word": ("zorbium", {"Garden/Beds.md", "Kitchen.md"}),
    "any of two words": ("roots soup", {"Garden/Beds.md", "Kitchen.md"}),
    "an OR between words": ("roots OR soup", {"Garden/Beds.md", "Kitchen.md"}),
    "another form of a word": ("root", {"Garden/Beds.md"}),
    "a word of the name": ("plans", {"Garden/Plan.md"}),
    "an alias": ("blueprint", {"Garden/Plan.md"}),
    "a phrase": ('"raised beds"', {"Garden/Beds.md"}),
    "a phrase is of whole words": ('"raised bed"', set()),
    "without a word": ("zorbium -soup", {"Garden/Beds.md"}),
    "a tag, with those below it": ("tag:#garden", {"Garden/Beds.md", "Garden/Plan.md"}),
    "a tag below another": ("tag:garden/soil", {"Garden/Beds.md"}),
    "a folder": ("path:Garden/", {"Garden/Beds.md", "Garden/Plan.md"}),
    "a file": ("file:kitch", {"Kitchen.md"}),
    "words on one line": ("line:(soup bread)", {"Kitchen.md"}),
    "words on two lines": ("line:(zorbium bread)", set()),
    "words in a section": ("section:(zorbium soil)", {"Garden/Beds.md"}),
    "words in two sections": ("section:(roots zorbium)", set()),
    "a property": ("[status]", {"Garden/Plan.md"}),
    "a property's value": ("[status:dra]", {"Garden/Plan.md"}),
    "a property's whole value": ('[status:"dra"]', set()),
    "a date before another": ("[due:<2031-06-01]", {"Garden/Plan.md"}),
    "a date after another": ("[due:>2031-06-01]", set()),
    "an open task": ("task-todo:seeds", {"Garden/Plan.md"}),
    "a done task": ("task-done:seeds", set()),
    "a regular expression": ("/z.rb[a-z]+m/", {"Garden/Beds.md", "Kitchen.md"}),
    "Chinese": ("会议", {"会议.md"}),
    "Chinese, a longer text": ("会议记录", {"会议.md"}),
    "an emoji": ("🎉", {"会议.md"}),
    "full width": ("ｚｏｒｂｉｕｍ", {"Garden/Beds.md", "Kitchen.md"}),
    "a group": ("(tag:garden/soil OR soup) zorbium", {"Garden/Beds.md", "Kitchen.md"}),
}


@pytest.mark.parametrize(("query", "expected"), QUERIES.values(), ids=QUERIES)
def test_a_search_finds(vault: Ground, query: str, expected: set[str]) -> None:
    assert set(found(vault, query)) == expected


def test_a_passage_names_its_line_and_section_which_can_be_read(vault: Ground) -> None:
    answer = vault.call("search_notes", query="zorbium soil")
    first = answer["notes"][0]
    (passage,) = first["passages"]
    assert (first["path"], passage["line"], passage["section"]) == ("Garden/Beds.md", 7, "Soil")
    assert "zorbium" in passage["text"]
    read = vault.call("read_note", name=first["path"], section=passage["section"])
    assert read["content"].startswith("## Soil\n")
    assert "Raised" not in read["content"]


def test_words_that_occur_nowhere_are_named(vault: Ground) -> None:
    answer = vault.call("search_notes", query="zorbium flumphery")
    assert answer["unmatched"] == ["flumphery"]
    assert answer["total"] == 2


def test_an_edit_made_a_moment_ago_is_in_the_answer(vault: Ground) -> None:
    for word in ("quixot", "wexford"):
        vault.put("Kitchen.md", f"{word} one")
        assert found(vault, word) == ["Kitchen.md"]
    assert found(vault, "quixot") == []


def test_what_a_tool_wrote_is_found_at_once(vault: Ground) -> None:
    path = vault.call("create_note", name="New thing", content="glimmerwort")["path"]
    assert found(vault, "glimmerwort") == [path]
    vault.call("delete_note", name=path)
    assert found(vault, "glimmerwort") == []


def test_properties_are_shown_on_request(vault: Ground) -> None:
    (note,) = vault.call("search_notes", query="tag:garden -soil", show=["Status", "due", "nothing"])["notes"]
    assert note["properties"] == {"status": "draft", "due": "2031-05-01"}


def test_pages_together_are_everything_that_was_found(vault: Ground) -> None:
    for number in range(23):
        vault.put(f"Many/{number}.md", f"# Part {number}\n\npergola {'x ' * number}\n")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = vault.call("search_notes", query="pergola", limit=4, max_chars=600, **cursor)
        assert answer["notes"]
        seen += [note["path"] for note in answer["notes"]]
        if "next_cursor" not in answer:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert sorted(seen) == sorted(f"Many/{number}.md" for number in range(23))
    assert answer["total"] == 23


def test_a_cursor_of_another_search_is_refused(vault: Ground) -> None:
    cursor = vault.call("search_notes", query="", limit=1)["next_cursor"]
    assert vault.fails("search_notes", query="soup", cursor=cursor).code == -32602


@pytest.mark.parametrize("query", ["[status", "TODO: x", "tag:", "line:(path:x)", "[:x]", "/(/"])
def test_a_query_that_cannot_be_read_is_an_error_with_the_repair(vault: Ground, query: str) -> None:
    failure = vault.fails("search_notes", query=query)
    assert failure.code == -32602


def test_an_empty_query_lists_everything(vault: Ground) -> None:
    assert set(found(vault, "")) == set(NOTES)


def test_a_wrong_date_is_refused(vault: Ground) -> None:
    assert vault.fails("search_notes", query="", modified_after="yesterday-ish").code == -32602


def test_a_note_that_the_app_cannot_show_has_its_place_in_the_pages(app_alone: Ground) -> None:
    for number in range(3):
        app_alone.put(f"Pergola {number}.md", b"\xff\xfe" if number == 1 else "pergola")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = app_alone.call("search_notes", query="pergola", sort="name", limit=2, **cursor)
        seen += [note["path"] for note in answer["notes"]]
        if "next_cursor" not in answer:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert seen == [f"Pergola {number}.md" for number in range(3)]


def test_the_app_finds_where_the_notes_are_out_of_reach(app_alone: Ground) -> None:
    for path, content in NOTES.items():
        app_alone.put(path, content)
    answer = app_alone.call("search_notes", query="roots soup")
    assert {note["path"] for note in answer["notes"]} == {"Garden/Beds.md", "Kitchen.md"}
    assert "Obsidian app" in answer["note"]
    assert answer["total"] == 2
