from __future__ import annotations

import pytest

from tests.promises.ground import Ground

NOTES: dict[str, str | bytes] = {
    "Home.md": "---\nstatus: open\ntags: [start]\n---\n[[Garden/Beds|beds]] and [[Nowhere]].\n",
    "Garden/Beds.md": (
        "---\nstatus: Open\nrows: 3\n---\n# Beds\n\nText #start #soil ^intro\n\n"
        "## Log\n\n- one\n\n## Other\n\n### Log\n\n[home](../Home.md)\n"
    ),
    "Garden/Deep/Alone.md": "Nothing here.\n",
    "Garden/plan.png": b"\x89PNG",
}


@pytest.fixture
def vault(readable: Ground) -> Ground:
    for path, content in NOTES.items():
        readable.put(path, content)
    return readable


def test_a_folder_lists_what_is_in_it(vault: Ground) -> None:
    answer = vault.call("list_folder", folder="Garden")
    assert answer["folders"] == [{"path": "Garden/Deep", "notes": 1}]
    assert [file["path"] for file in answer["files"]] == ["Garden/Beds.md", "Garden/plan.png"]
    assert answer["total"] == 2
    assert answer["files"][1]["size"] == 4


def test_the_root_is_listed_as_deep_as_asked_for(vault: Ground) -> None:
    shallow = vault.call("list_folder")
    assert [folder["path"] for folder in shallow["folders"]] == ["Garden"]
    assert shallow["folders"][0]["notes"] == 2
    assert [file["path"] for file in shallow["files"]] == ["Home.md"]
    deep = vault.call("list_folder", depth=9)
    assert {file["path"] for file in deep["files"]} == set(NOTES)
    assert deep["total"] == len(NOTES)


def test_a_long_folder_goes_on(vault: Ground) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        answer = vault.call("list_folder", depth=3, limit=2, **cursor)
        seen += [entry["path"] for entry in (*answer["folders"], *answer["files"])]
        if "next_cursor" not in answer:
            break
        cursor = {"cursor": answer["next_cursor"]}
    assert sorted(seen) == sorted([*NOTES, "Garden", "Garden/Deep"])


@pytest.mark.parametrize("folder", ["../outside", "/etc", ".obsidian", "Garden/../.."])
def test_a_folder_outside_the_vault_is_refused(vault: Ground, folder: str) -> None:
    assert vault.fails("list_folder", folder=folder).code in (-32602, -32003)


def test_a_folder_that_is_not_there_is_told_with_those_that_are(vault: Ground) -> None:
    failure = vault.fails("list_folder", folder="Gardens")
    assert failure.code == -32003
    assert "Garden" in failure.message


def test_an_outline_names_what_can_be_read(vault: Ground) -> None:
    answer = vault.call("outline_note", name="Beds")
    assert [section["section"] for section in answer["sections"]] == ["Beds", "Beds > Log", "Other", "Other > Log"]
    assert answer["blocks"] == ["^intro"]
    assert answer["tags"] == ["start", "soil"]
    assert answer["properties"] == {"status": "Open", "rows": 3}
    assert (answer["links_in"], answer["links_out"]) == (1, 1)
    for section in answer["sections"]:
        content = vault.call("read_note", name="Beds", section=section["section"])["content"]
        assert content.startswith(f"{'#' * section['level']} ")
        assert content.count("\n") == section["lines"]
    assert "Text #start" in vault.call("read_note", name="Beds", section="^intro")["content"]


def test_a_heading_that_two_have_is_never_a_guess(vault: Ground) -> None:
    failure = vault.fails("read_note", name="Beds", section="Log")
    assert failure.code == -32004
    assert "Beds > Log" in failure.message


def test_a_heading_that_is_not_there_is_told_with_those_that_are(vault: Ground) -> None:
    failure = vault.fails("read_note", name="Beds", section="Logg")
    assert failure.code == -32003
    assert "Other > Log" in failure.message


def test_backlinks_have_their_line_and_text(vault: Ground) -> None:
    answer = vault.call("list_links", kind="backlinks", name="Beds")
    (link,) = answer["links"]
    assert link["path"] == "Home.md"
    assert link["line"] == 5
    assert link["link"] == "[[Garden/Beds|beds]]"
    assert "Nowhere" in link["text"]


def test_outgoing_links_say_where_they_lead(vault: Ground) -> None:
    links = vault.call("list_links", kind="outgoing", name="Home")["links"]
    assert [(link["link"], link.get("target")) for link in links] == [
        ("[[Garden/Beds|beds]]", "Garden/Beds.md"),
        ("[[Nowhere]]", None),
    ]


def test_broken_links_are_found_in_the_whole_vault(vault: Ground) -> None:
    answer = vault.call("list_links", kind="broken")
    assert [(link["path"], link["link"]) for link in answer["links"]] == [("Home.md", "[[Nowhere]]")]
    assert answer["total"] == 1
    vault.call("create_note", name="Nowhere", content="now there")
    assert vault.call("list_links", kind="broken")["total"] == 0


def test_orphans_are_the_notes_that_nothing_links_to(vault: Ground) -> None:
    assert [link["path"] for link in vault.call("list_links", kind="orphans")["links"]] == ["Garden/Deep/Alone.md"]


def test_backlinks_need_a_note(vault: Ground) -> None:
    assert vault.fails("list_links", kind="backlinks").code == -32602


def test_properties_are_counted_by_notes(vault: Ground) -> None:
    items = vault.call("list_properties")["items"]
    assert {(item["value"], item["type"], item["count"]) for item in items} == {
        ("status", "text", 2),
        ("rows", "number", 1),
        ("tags", "tags", 2),
    }


def test_the_values_of_a_property_are_counted_whatever_their_case(vault: Ground) -> None:
    (item,) = vault.call("list_properties", property="Status")["items"]
    assert (item["value"].lower(), item["count"]) == ("open", 2)


def test_tags_in_the_text_count_too(vault: Ground) -> None:
    items = vault.call("list_properties", property="tags")["items"]
    assert [(item["value"], item["count"]) for item in items] == [("start", 2), ("soil", 1)]


def test_the_app_answers_where_the_notes_are_out_of_reach(app_alone: Ground) -> None:
    for path, content in NOTES.items():
        app_alone.put(path, content)
    assert {file["path"] for file in app_alone.call("list_folder", depth=3)["files"]} == set(NOTES)
    assert app_alone.call("outline_note", name="Beds")["links_in"] == 1
    (link,) = app_alone.call("list_links", kind="backlinks", name="Beds")["links"]
    assert link["path"] == "Home.md"
    assert [link["link"] for link in app_alone.call("list_links", kind="broken")["links"]] == ["Nowhere"]
    orphans = [link["path"] for link in app_alone.call("list_links", kind="orphans")["links"]]
    assert orphans == ["Garden/Deep/Alone.md"]
    outgoing = app_alone.call("list_links", kind="outgoing", name="Home")["links"]
    assert [link.get("target") for link in outgoing] == ["Garden/Beds.md", None]
    names = {item["value"] for item in app_alone.call("list_properties")["items"]}
    assert {"status", "rows"} <= names
    assert {item["value"] for item in app_alone.call("list_properties", property="tags")["items"]} == {"start", "soil"}
    values = app_alone.call("list_properties", property="status")["items"]
    assert [(item["value"].lower(), item["count"]) for item in values] == [("open", 2)]
