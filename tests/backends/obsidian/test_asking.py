"""What only the app can be asked for: the shapes of its answers, and real questions to the stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.backends.obsidian import argv, finds
from obsidian_mcp.backends.obsidian.asking import Asking
from obsidian_mcp.backends.obsidian.client import Client
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed, InvalidArguments, NoteNotFound, VaultNotFound, spec_of
from obsidian_mcp.vault.path import VaultPath
from tests.support.world import World

Parser = Callable[[str], Any]
BEANS = VaultPath("Garden/Beans.md")

ANSWERS: dict[str, tuple[Parser, str, Any]] = {
    "matches, by path": (
        finds.matches,
        '[{"file":"b/Soil.md","matches":[{"line":7,"text":"dry"},{"line":2,"text":"dry, dry"},'
        '{"line":2,"text":"dry, dry"}]},{"file":"Dry.md","matches":[]}]\n',
        [("Dry.md", []), ("b/Soil.md", [(2, "dry, dry"), (7, "dry")])],
    ),
    "no matches": (finds.matches, "No matches found.\n", []),
    "tags with counts as text": (finds.tags, '[{"tag":"#plan","count":"12"}]', [("#plan", 12)]),
    "tags over several lines": (finds.tags, '[\n  {\n    "tag": "#a/b",\n    "count": "1"\n  }\n]\n', [("#a/b", 1)]),
    "no tags": (finds.tags, "No tags found.", []),
    "properties": (finds.properties, '[{"name":"due","type":"date","count":3}]', [("due", "date", 3)]),
    "no properties": (finds.properties, "[]", []),
    "backlinks": (finds.backlinks, '[{"file":"b.md"},{"file":"a, c.md","count":"2"}]', ["a, c.md", "b.md"]),
    "no backlinks": (finds.backlinks, "No backlinks found.", []),
    "broken links": (
        finds.unresolved,
        '[{"link":"Rain","count":"2","sources":"a.md, b.md"}]',
        [finds.Dangling("Rain", "a.md, b.md")],
    ),
    "no broken links": (finds.unresolved, "No unresolved links found.", []),
    "orphans of every kind": (finds.orphans, "a.md\nb.pdf\n", ["a.md", "b.pdf"]),
    "no orphans": (finds.orphans, "No orphan files found.", []),
}

ARRAYS: list[Parser] = [
    finds.matches,
    finds.tags,
    finds.properties,
    finds.backlinks,
    finds.unresolved,
]
OTHER_SHAPES = [
    "",
    "[",
    "{}",
    "null",
    "[1]",
    "[{}]",
    "[" * 100_000,
    '["a.md"]',
    'No matches found.\n[{"file":"a.md","matches":[]}]',
    '[{"file":null,"matches":null,"tag":"#a","count":"-1","name":"a","link":"a"}]',
    '[{"file":1,"matches":[{"line":"x","text":""}],"tag":"#a","count":true,"name":"a","type":null,"link":"a"}]',
    '[{"file":["a"],"matches":[{"line":0,"text":""}],"level":0,"heading":"","line":1,"tag":null,"name":null}]',
    "TypeError: Cannot read properties of null (reading 'path')",
]


@pytest.mark.parametrize(("parse", "reply", "expected"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_a_known_shape_is_read(parse: Parser, reply: str, expected: Any) -> None:
    assert parse(reply) == expected


@pytest.mark.parametrize("parse", ARRAYS)
@pytest.mark.parametrize("reply", OTHER_SHAPES, ids=lambda reply: reply[:40])
def test_an_answer_of_another_shape_is_not_guessed_at(parse: Parser, reply: str) -> None:
    assert parse(reply) is None


def test_an_empty_answer_is_not_an_empty_list() -> None:
    assert finds.orphans("\n") is None


PROBLEMS = {
    'Error: Operator "TODO" not recognized\n': 'Operator "TODO" not recognized',
    'Error: Operator "line" cannot be nested within "file"': 'Operator "line" cannot be nested within "file"',
    "Error: Failed to parse regular expression": "Failed to parse regular expression",
    "Error: Missing required parameter: query\nUsage: x": "Missing required parameter: query",
    "Error: ENOENT: no such file or directory, open 'x'": None,
    'Operator "TODO" not recognized': None,
}


@pytest.mark.parametrize(("reply", "problem"), PROBLEMS.items(), ids=PROBLEMS)
def test_only_the_apps_complaints_about_a_query_are_the_querys_fault(reply: str, problem: str | None) -> None:
    assert finds.query_problem(reply) == problem


SOURCES: dict[str, tuple[str, set[str], list[str] | None]] = {
    "one note": ("a.md", {"a.md"}, ["a.md"]),
    "two notes": ("a.md, b.md", {"a.md", "b.md"}, ["a.md", "b.md"]),
    "a comma in a name": ("Peas, new.md, b.md", {"Peas, new.md", "new.md", "b.md"}, ["Peas, new.md", "b.md"]),
    "a name that looks like two": ("a.md, b.md", {"a.md", "a.md, b.md"}, ["a.md, b.md"]),
    "a note that is gone by now": ("Peas, new.md, b.md", {"b.md"}, ["Peas, new.md", "b.md"]),
    "a file without an ending": ("README, b.md", {"README", "b.md"}, ["README", "b.md"]),
    "no names": ("Something went wrong", {"b.md"}, None),
    "nothing": ("", {"b.md"}, None),
}


@pytest.mark.parametrize(("text", "files", "expected"), SOURCES.values(), ids=SOURCES)
def test_a_comma_in_a_name_does_not_make_two_notes(text: str, files: set[str], expected: list[str] | None) -> None:
    assert finds.named_files(text, files, finds.most_parts(files)) == expected


names = st.lists(st.sampled_from(["a", "b, c", "b", ", ", "d,", "c.md, e"]), min_size=1).map(
    lambda it: "".join(it) + ".md"
)


@given(st.sets(names, min_size=1), st.data())
def test_whatever_the_names_each_part_is_a_file_and_nothing_is_lost(files: set[str], data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.sampled_from(sorted(files)), min_size=1, unique=True))
    found = finds.named_files(", ".join(sources), files, finds.most_parts(files))
    assert found is not None
    assert set(found) <= files
    assert ", ".join(found) == ", ".join(sources)


LINES = {"a.md": False, "x/plan.png": False, "Error: x.md": True, "README": True, "App is well.": True, "/x.md": True}


@pytest.mark.parametrize(("line", "doubtful"), LINES.items(), ids=LINES)
def test_a_line_is_taken_for_a_file_only_where_it_can_be_nothing_else(line: str, doubtful: bool) -> None:
    assert finds.doubtful([line]) == ({line} if doubtful else set())


# Real questions, to the stand-in.


@pytest.fixture
def asking(world: World) -> Asking:
    world.put(
        "Garden/Beans.md",
        '---\ntags: [veg, sown]\ndue: 2031-05-01\nrows: 3\nnear: "[[Peas, new]]"\n---\n'
        "# Beans\nSow in warm soil #veg/climbing\n\n## In May\n[[Peas, new]] and [[Frost]]\n",
    )
    world.put("Garden/Peas, new.md", "Warm soil, cold soil.\n[beans](Beans.md)\n```\n# no heading, [[Nowhere]]\n```\n")
    world.put("Soil.md", "---\ndue: 2031-06-01\n---\nnothing about that [[Frost|frost]] ![[plan.png]]\n")
    world.put("plan.png", b"\x89PNG")
    world.put("data.json", "{}")
    return Asking(client(world))


def client(world: World, vault: str = "Vault") -> Client:
    return Client(str(world.command), vault, world.far_environment(), CallContext(20), "")


def test_a_search_finds_lines_and_names(asking: Asking, world: World) -> None:
    assert asking.search("soil") == [
        ("Garden/Beans.md", [(8, "Sow in warm soil #veg/climbing")]),
        ("Garden/Peas, new.md", [(1, "Warm soil, cold soil.")]),
        ("Soil.md", []),
    ]
    assert world.commands() == [["search:context", "query=soil", "format=json"]]


QUERIES = {
    "warm soil": ["Garden/Beans.md", "Garden/Peas, new.md"],
    '"cold soil"': ["Garden/Peas, new.md"],
    "soil -warm": ["Soil.md"],
    "climbing OR nothing": ["Garden/Beans.md", "Soil.md"],
    "tag:#veg": ["Garden/Beans.md"],
    "path:garden file:peas": ["Garden/Peas, new.md"],
    "line:(warm sow)": ["Garden/Beans.md"],
    "[due]": ["Garden/Beans.md", "Soil.md"],
    "[due:2031-06]": ["Soil.md"],
    "/s.il,/": ["Garden/Peas, new.md"],
    "unicorn": [],
}


@pytest.mark.parametrize(("query", "paths"), QUERIES.items(), ids=QUERIES)
def test_the_apps_own_language_is_passed_on(asking: Asking, query: str, paths: list[str]) -> None:
    assert [path for path, _ in asking.search(query)] == paths


BAD_QUERIES = {
    "an unknown operator": ("TODO: call", 'Operator "TODO" not recognized'),
    "a nested operator": ("line:(tag:x)", 'Operator "tag" cannot be nested within "line"'),
    "a broken expression": ("/(/", "Failed to parse regular expression"),
    "nothing": ("", "Missing required parameter: query"),
    "too much": ("x" * 3001, ""),
    "a NUL": ("a\0b", ""),
    "half a character": ("\ud800", ""),
}


@pytest.mark.parametrize(("query", "words"), BAD_QUERIES.values(), ids=BAD_QUERIES)
def test_a_query_that_the_app_cannot_read_is_a_wrong_argument(asking: Asking, query: str, words: str) -> None:
    with pytest.raises(InvalidArguments) as failed:
        asking.search(query)
    assert spec_of(failed.value).rpc == -32602
    assert words in failed.value.fact


def test_tags_and_properties_are_counted(asking: Asking) -> None:
    assert asking.tags() == [("#sown", 1), ("#veg", 2), ("#veg/climbing", 1)]
    assert asking.properties() == [
        ("due", "text", 2),
        ("near", "text", 1),
        ("rows", "number", 1),
        ("tags", "tags", 1),
    ]


def test_links_to_a_note_are_told(asking: Asking) -> None:
    assert asking.backlinks(BEANS) == ["Garden/Peas, new.md"]
    assert asking.backlinks(VaultPath("Soil.md")) == []


def test_broken_links_name_the_notes_that_have_them(asking: Asking, world: World) -> None:
    world.put("Garden/Peas, new.md", "[[Frost]] [[Frost]]")
    assert asking.unresolved() == [("Frost", ["Garden/Beans.md", "Garden/Peas, new.md", "Soil.md"])]


def test_only_notes_are_orphans(asking: Asking) -> None:
    assert asking.orphans() == ["Soil.md"]


def test_an_empty_vault_has_nothing_to_tell(asking: Asking, world: World) -> None:
    world.reset()
    for question in (asking.tags, asking.properties, asking.unresolved, asking.orphans):
        assert question() == []
    assert asking.search("x") == []


QUESTIONS: dict[str, Callable[[Asking], object]] = {
    "search:context": lambda asking: asking.search("soil"),
    "tags": Asking.tags,
    "properties": Asking.properties,
    "backlinks": lambda asking: asking.backlinks(BEANS),
    "unresolved": Asking.unresolved,
    "orphans": Asking.orphans,
}
every_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
COMMANDS = ["search:context", "tags", "properties", "backlinks", "unresolved", "orphans"]


@every_question
@pytest.mark.parametrize("mood", ["empty", "chatty", "type-error", "multi-line-error", "unknown"])
def test_an_answer_that_is_not_known_is_a_failure(
    asking: Asking, world: World, question: Callable[[Asking], object], mood: str
) -> None:
    world.mood(mood, commands=COMMANDS)
    with pytest.raises(CliFailed):
        question(asking)


@every_question
@pytest.mark.parametrize("mood", ["noise", "crlf", "closed"])
def test_noise_before_the_answer_and_a_closed_window_do_no_harm(
    asking: Asking, world: World, question: Callable[[Asking], object], mood: str
) -> None:
    expected = question(asking)
    world.mood(mood)
    assert question(asking) == expected


@pytest.mark.parametrize("name", ["backlinks"])
def test_a_note_that_is_not_there_is_said_not_to_be(asking: Asking, world: World, name: str) -> None:
    (world.vault / BEANS.value).unlink()
    with pytest.raises(NoteNotFound):
        QUESTIONS[name](asking)


def test_a_plugin_that_is_off_is_named_as_the_reason(asking: Asking, world: World) -> None:
    world.mood("unknown", commands=["tags"])
    with pytest.raises(CliFailed) as failed:
        asking.tags()
    assert "core plugin" in failed.value.message
    assert [command[0] for command in world.commands()] == ["tags", "tags"]


@every_question
def test_a_vault_that_the_app_does_not_know_is_said_to_be_unknown(
    world: World, question: Callable[[Asking], object]
) -> None:
    with pytest.raises(VaultNotFound):
        question(Asking(client(world, "Elsewhere")))


# The stand-in's other answers: as the app has been recorded to give them.


def say(world: World, *command: str) -> str:
    return client(world).ask(list(command), "trying").rstrip("\n")


RECORDED: dict[str, tuple[list[str], str]] = {
    "a path on each line": (["search", "query=sow"], "Garden/Beans.md"),
    "paths as JSON": (["search", "query=sow", "format=json"], '["Garden/Beans.md"]'),
    "how many": (["search", "query=soil", "total"], "3"),
    "a folder": (["search", "query=soil", "path=Garden", "total"], "2"),
    "only a part of a folder's name": (["search", "query=soil", "path=Gard"], "No matches found."),
    "in that case": (["search", "query=Sow", "case"], "Garden/Beans.md"),
    "not in that case": (["search", "query=SOW", "case"], "No matches found."),
    "nothing, as JSON": (["search", "query=unicorn", "format=json"], "No matches found."),
    "a line as text": (["search:context", 'query="sow in"'], "Garden/Beans.md:8: Sow in warm soil #veg/climbing"),
    "tags": (["tags"], "#sown\n#veg\n#veg/climbing"),
    "tags with counts": (["tags", "counts"], "#sown\t1\n#veg\t2\n#veg/climbing\t1"),
    "a tag": (["tag", "name=veg"], "Garden/Beans.md"),
    "a tag in another case": (["tag", "name=Veg"], 'Error: Tag "#Veg" not found.'),
    "a property's count": (["properties", "name=due"], "2"),
    "a list, read": (["property:read", "name=tags", "path=Garden/Beans.md"], "veg\nsown"),
    "a number, read": (["property:read", "name=rows", "path=Garden/Beans.md"], "3"),
    "backlinks": (["backlinks", "path=Garden/Beans.md", "counts"], "Garden/Peas, new.md\t1"),
    "links": (["links", "path=Soil.md"], "Frost (unresolved)\nplan.png"),
    "broken links": (["unresolved"], "Frost"),
    "broken links with more": (["unresolved", "verbose"], "Frost\t2\tGarden/Beans.md, Soil.md"),
    "orphans": (["orphans"], "Soil.md\ndata.json"),
    "how many headings": (["outline", "path=Garden/Beans.md", "total"], "2"),
    "folders": (["folders"], "/\nGarden"),
}


@pytest.mark.parametrize(("command", "reply"), RECORDED.values(), ids=RECORDED)
@pytest.mark.usefixtures("asking")
def test_the_stand_in_answers_as_the_app_does(world: World, command: list[str], reply: str) -> None:
    assert say(world, *command) == reply


@pytest.mark.usefixtures("asking")
def test_the_stand_in_counts_lines_twice_and_cuts_an_order_of_its_own(world: World) -> None:
    found = json.loads(say(world, "search:context", "query=soil", "format=json"))
    assert [each["file"] for each in found] == ["Soil.md", "Garden/Beans.md", "Garden/Peas, new.md"]
    assert found[2]["matches"] == [{"line": 1, "text": "Warm soil, cold soil."}] * 2
    assert say(world, "search", "query=soil", "limit=1") == "Soil.md"


def test_every_question_names_its_note_and_asks_for_no_part() -> None:
    asked = [argv.search("x"), argv.tags(), argv.properties(), argv.unresolved(), argv.orphans()]
    named = [argv.backlinks(BEANS)]
    assert all(f"path={BEANS}" in command for command in named)
    assert not [word for command in asked + named for word in command if word.startswith("limit")]
