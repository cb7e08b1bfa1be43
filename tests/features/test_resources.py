"""Resources, over a vault that is a dictionary: what is listed, and what each address leads to."""

from __future__ import annotations

import base64
import unicodedata
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.client import MODERN_META, ToolFailed
from tests.support.memory import Files, Session, session

ROOT = "obsidian://vault/Memory/"


def read(client: Session, path: str) -> dict[str, Any]:
    (contents,) = client.result("resources/read", uri=ROOT + path)["contents"]
    found: dict[str, Any] = contents
    return found


def test_the_notes_that_changed_last_come_first_and_no_other_file() -> None:
    client = session(Files({"Old.md": b"x", "pic.png": b"\x89PNG", "In a folder/New.md": b"12345"}))
    found = client.result("resources/list")["resources"]
    assert [each["name"] for each in found] == ["In a folder/New.md", "Old.md"]
    assert found[0] == {
        "uri": f"{ROOT}In%20a%20folder/New.md",
        "name": "In a folder/New.md",
        "title": "New",
        "mimeType": "text/markdown",
        "size": 5,
        "annotations": {"lastModified": "1970-01-01T00:00:00Z"},
    }


def test_at_most_250_are_listed() -> None:
    client = session(Files({f"{number}.md": b"" for number in range(300)}))
    found = [each["name"] for each in client.result("resources/list")["resources"]]
    assert found == [f"{number}.md" for number in range(299, 49, -1)]


def test_a_template_reaches_every_file() -> None:
    (template,) = session(Files()).result("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == f"{ROOT}{{+path}}"
    assert template["name"]


NAME = "Ordner ü/Café 100% #1.md"
SPELLINGS = {
    "raw": NAME,
    "encoded": quote(NAME),
    "encoded twice": quote(quote(NAME)),
    "every character encoded": quote(NAME, safe=""),
    "decomposed": quote(unicodedata.normalize("NFD", NAME)),
    "in another case": quote(NAME.upper()),
    "without its extension": quote(NAME[:-3]),
}


@pytest.mark.parametrize("spelled", SPELLINGS.values(), ids=SPELLINGS)
def test_a_note_is_read_however_its_address_is_spelled(spelled: str) -> None:
    client = session(Files({NAME: "text é".encode()}))
    assert read(client, spelled) == {"uri": ROOT + spelled, "mimeType": "text/markdown", "text": "text é"}


def test_a_name_that_looks_encoded_is_itself_before_anything_else() -> None:
    client = session(Files({"50%25.md": b"two signs", "50%.md": b"one"}))
    assert read(client, "50%2525.md")["text"] == "two signs"
    assert read(client, "50%25.md")["text"] == "one"


KINDS = {
    "a canvas": ("Map.canvas", b"{}", "application/json", "text"),
    "a drawing": ("Drawing.svg", b"<svg/>", "image/svg+xml", "text"),
    "a text": ("notes.txt", b"x", "text/plain", "text"),
    "an image": ("pic.PNG", b"\x89PNG", "image/png", "blob"),
    "an image of letters": ("pic.gif", b"GIF89a", "image/gif", "blob"),
    "a PDF": ("a.pdf", b"%PDF-1.7", "application/pdf", "blob"),
    "a note that is no text": ("bad.md", b"\xff\xfe", "text/markdown", "blob"),
    "an archive": ("a.zip", b"PK\x03\x04\xff", "application/octet-stream", "blob"),
}


@pytest.mark.parametrize(("path", "data", "kind", "field"), KINDS.values(), ids=KINDS)
def test_each_kind_of_file_comes_as_what_it_is(path: str, data: bytes, kind: str, field: str) -> None:
    found = read(session(Files({path: data})), path)
    assert found["mimeType"] == kind
    assert (found["text"].encode() if field == "text" else base64.b64decode(found["blob"])) == data


MISSING = {
    "no such note": "Nowhere.md",
    "a folder": "Folder",
    "the vault": "",
    "out of the vault": "../secret.md",
    "out of it, encoded": "%2e%2e/secret.md",
    "out of it, encoded twice": "%252e%252e%252fsecret.md",
    "an absolute path": "/etc/passwd",
    "hidden": ".obsidian/app.json",
    "hidden, encoded": "%2Eobsidian/app.json",
    "half a character": "%ED%A0%80.md",
    "round about": "Folder/../Folder/Note.md",
    "round about, encoded": "Folder/%2e%2e/Folder/Note.md",
    "a folder twice removed": "./Folder/Note.md",
    "two slashes": "/Folder/Note.md",
    "a slash at the end": "Folder/Note.md/",
    "backslashes": "Folder%5CNote.md",
    "a drive": "C:/Folder/Note.md",
    "a NUL": "Folder/Note.md%00",
    "a line end": "Folder/Note.md%0A",
    "half an escape": "%",
    "no escape": "%zz.md",
    "hidden in a folder": "Folder/.secret.md",
    "hidden in a folder, without its extension": "Folder/.secret",
    "hidden, encoded twice": "%252Eobsidian/app.json",
    "nothing but an extension": ".md",
    "a part of a note": "Folder/Note.md#Heading",
    "very deep": "a/" * 5000 + "b.md",
}


@pytest.mark.parametrize("path", MISSING.values(), ids=MISSING)
@pytest.mark.parametrize(("meta", "code"), [(None, -32002), (MODERN_META, -32602)], ids=["legacy", "modern"])
def test_what_is_not_there_is_not_found(path: str, meta: Any, code: int) -> None:
    files = {"Folder/Note.md": b"x", "Folder/.secret.md": b"s", ".obsidian/app.json": b"{}", "secret.md": b"s"}
    params = {"uri": ROOT + path, **({"_meta": meta} if meta else {})}
    error = session(Files(files)).request("resources/read", params)["error"]
    assert (error["code"], error["data"]["errorCode"]) == (code, "RESOURCE_NOT_FOUND")
    assert error["data"]["uri"] == ROOT + path


@pytest.mark.parametrize("uri", ["obsidian://vault/Other/Note.md", "file:///Note.md", "", "obsidian://vault/Memory"])
def test_an_address_of_something_else_is_not_found(uri: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files({"Note.md": b"x"})).result("resources/read", uri=uri)
    assert caught.value.error_code == "RESOURCE_NOT_FOUND"


def test_a_long_address_makes_no_long_sentence() -> None:
    uri = f"{ROOT}{'x' * 100_000}"
    error = session(Files()).request("resources/read", {"uri": uri})["error"]
    assert error["data"]["uri"] == uri
    assert len(error["message"]) < 1000


def test_two_files_that_differ_in_case_alone_are_no_guess() -> None:
    client = session(Files({"Note.md": b"1", "NOTE.md": b"2"}))
    assert read(client, "NOTE.md")["text"] == "2"
    with pytest.raises(ToolFailed) as caught:
        read(client, "note.md")
    assert "Several files" in caught.value.message


LARGE = {
    "a text": ("Long.md", 1024 * 1024, "obsidian_read_note"),
    "an image": ("p.png", 3_000_000, "obsidian_view_file"),
}


@pytest.mark.parametrize(("path", "most", "instead"), LARGE.values(), ids=LARGE)
def test_what_is_too_large_is_told_with_its_size_and_what_to_use(path: str, most: int, instead: str) -> None:
    files = Files({path: b"x" * most})
    client = session(files)
    assert read(client, path)
    files[path] += b"x"
    with pytest.raises(ToolFailed) as caught:
        read(client, path)
    assert (caught.value.code, caught.value.data["size"]) == (-32602, most + 1)
    assert instead in caught.value.message


def test_in_the_stateless_era_everything_is_private_and_says_how_long_it_holds() -> None:
    client = session(Files({"Note.md": b"x"}))
    for method, params in (
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": f"{ROOT}Note.md"}),
    ):
        result = client.result(method, **params, _meta=MODERN_META)
        assert (result["resultType"], result["cacheScope"]) == ("complete", "private")
        assert 0 <= result["ttlMs"] <= 10_000


@pytest.mark.parametrize("method", ["resources/list", "resources/templates/list"])
def test_there_is_one_page(method: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files()).result(method, cursor="x")
    assert caught.value.code == -32602


def test_an_address_must_be_text() -> None:
    with pytest.raises(ToolFailed) as caught:
        session(Files()).result("resources/read", uri=7)
    assert caught.value.code == -32602
