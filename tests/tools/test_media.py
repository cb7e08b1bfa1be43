"""Images, PDFs and canvases as a model sees them."""

from __future__ import annotations

import base64
import io
import json
import sys
from typing import Any

import pytest
from PIL import Image
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from tests.support.client import MODERN_META
from tests.support.memory import Files, Session, session


def picture(width: int = 30, height: int = 20, format: str = "PNG", noise: bool = False) -> bytes:
    into = io.BytesIO()
    made = Image.effect_noise((width, height), 90).convert("RGB") if noise else Image.new("RGB", (width, height), "red")
    made.save(into, format)
    return into.getvalue()


def pdf(*texts: str) -> bytes:
    writer = PdfWriter()
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    fonts = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
    for text in texts:
        page = writer.add_blank_page(200, 200)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
        named = DictionaryObject({NameObject("/F1"): fonts})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): named})
        page[NameObject("/Contents")] = writer._add_object(stream)
    into = io.BytesIO()
    writer.write(into)
    return into.getvalue()


def view(client: Session, name: str, **more: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The data, and what comes beside it."""
    params = {"name": "obsidian_view_file", "arguments": {"name": name, **more}}
    result = client.result("tools/call", **params)
    assert "structuredContent" not in result
    first, *blocks = result["content"]
    return json.loads(first["text"])["data"], blocks


def refused(client: Session, name: str, **more: Any) -> dict[str, Any]:
    params = {"name": "obsidian_view_file", "arguments": {"name": name, **more}}
    error: dict[str, Any] = client.request("tools/call", params)["error"]
    return error


@pytest.mark.parametrize(("format", "kind"), {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}.items())
def test_an_image_comes_as_an_image(format: str, kind: str) -> None:
    data, (block,) = view(session(Files({"In/pic.png": picture(format=format)})), "pic.png")
    assert data == {"path": "In/pic.png", "page": 1, "pages": 1}
    assert (block["type"], block["mimeType"]) == ("image", f"image/{kind}")
    with Image.open(io.BytesIO(base64.b64decode(block["data"]))) as seen:
        assert seen.size == (30, 20)


def test_a_large_image_is_made_smaller() -> None:
    data = picture(3000, 1500, noise=True)
    assert len(data) > 3_000_000
    _, (block,) = view(session(Files({"pic.png": data})), "pic.png")
    seen = base64.b64decode(block["data"])
    assert len(seen) <= 700_000
    with Image.open(io.BytesIO(seen)) as made:
        assert made.width == 2 * made.height <= 1568


def test_a_kind_that_models_do_not_take_is_made_into_one() -> None:
    _, (block,) = view(session(Files({"pic.bmp": picture(format="BMP")})), "pic.bmp")
    assert block["mimeType"] in ("image/png", "image/jpeg")


def test_without_pillow_what_is_too_large_is_refused_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Files({"big.png": picture(900, 900, noise=True), "pic.bmp": picture(format="BMP"), "ok.png": picture()})
    files["Note.md"] = b"![[big.png]] ![[ok.png]]"
    monkeypatch.setitem(sys.modules, "PIL", None)
    client = session(files)
    error = refused(client, "big.png")
    assert error["data"] == {
        "errorCode": "TOO_LARGE", "path": "big.png", "size": len(files["big.png"]), "width": 900, "height": 900,
    }  # fmt: skip
    assert "media" in error["message"]
    assert refused(client, "pic.bmp")["data"]["errorCode"] == "NOT_TEXT"
    data, blocks = view(client, "Note")
    assert (data["images"], len(blocks)) == (["ok.png"], 1)
    assert "big.png has" in data["note"]


def test_the_images_of_a_note_come_in_their_order_and_each_once() -> None:
    note = (
        "![[a.png|100]] [[b.png]] ![alt](sub/c%20d.png) `![[x.png]]` ![[a.png]] ![[doc.pdf]] "
        "![web](https://example.com/w.png) ![[nowhere.png]] ![[b.jpg]]"
    )
    names = ["a.png", "b.png", "b.jpg", "sub/c d.png", "x.png", "doc.pdf"]
    client = session(Files({"Note.md": note.encode(), **{name: picture() for name in names}}))
    data, blocks = view(client, "Note")
    assert data["images"] == ["a.png", "sub/c d.png", "b.jpg"]
    assert [block["type"] for block in blocks] == ["image"] * 3
    data, blocks = view(client, "Note", page=3)
    assert (data["images"], len(blocks)) == (["b.jpg"], 1)


def test_more_images_than_a_result_holds_come_in_pages() -> None:
    embeds = "".join(f"![[{number}.jpg]]" for number in range(10))
    large = picture(700, 700, "JPEG", noise=True)
    assert 200_000 < len(large) < 350_000
    files = Files({"Note.md": embeds.encode(), **{f"{number}.jpg": large for number in range(10)}})
    seen: list[str] = []
    page: int | None = 1
    while page is not None:
        data, blocks = view(session(files), "Note", page=page)
        assert sum(len(block["data"]) for block in blocks) < 1_000_000
        seen += data["images"]
        page = data.get("next_page")
    assert seen == [f"{number}.jpg" for number in range(10)]


def test_a_note_without_images_says_so() -> None:
    data, blocks = view(session(Files({"Note.md": b"text"})), "Note")
    assert blocks == []
    assert "no image" in data["note"]


def test_a_drawing_comes_as_text() -> None:
    data, blocks = view(session(Files({"d.svg": b"<svg>" + b"x" * 20 + b"</svg>"})), "d.svg")
    assert (data["text"], blocks) == ("<svg>" + "x" * 20 + "</svg>", [])


def test_a_small_drawing_in_a_note_is_text_and_a_large_one_is_named() -> None:
    files = Files({"Note.md": b"![[a.svg]] ![[b.svg]]", "a.svg": b"<svg/>", "b.svg": b"<svg>" + b"x" * 9_000})
    data, blocks = view(session(files), "Note")
    assert blocks == [{"type": "text", "text": "<svg/>"}]
    assert "b.svg has 9005 bytes" in data["note"]


def test_the_text_of_a_pdf_comes_page_by_page() -> None:
    client = session(Files({"doc.pdf": pdf("Hello", "World")}))
    data, _ = view(client, "doc.pdf")
    assert data["text"] == "[page 1]\nHello\n\n[page 2]\nWorld"
    data, _ = view(client, "doc.pdf", page=2)
    assert (data["page"], data["pages"], data["text"]) == (2, 2, "[page 2]\nWorld")


def test_a_long_pdf_goes_on_with_the_next_page() -> None:
    client = session(Files({"doc.pdf": pdf(*(f"{number} " + "word " * 800 for number in range(5)))}))
    seen, page = [], 1
    while page:
        data, _ = view(client, "doc.pdf", page=page)
        assert len(json.dumps(data).encode()) < 11_600
        seen += [part.split()[1] for part in data["text"].split("[page")[1:]]
        page = data.get("next_page", 0)
    assert seen == ["0", "1", "2", "3", "4"]


def test_a_scan_is_said_to_have_no_text() -> None:
    data, _ = view(session(Files({"doc.pdf": pdf("")})), "doc.pdf")
    assert "no text" in data["note"]


def test_without_pypdf_a_pdf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    error = refused(session(Files({"doc.pdf": pdf("x")})), "doc.pdf")
    assert error["data"]["errorCode"] == "NOT_TEXT"
    assert "media" in error["message"]


def test_a_canvas_comes_as_an_outline() -> None:
    canvas = {"nodes": [{"id": "a", "type": "text", "text": "Card"}], "edges": []}
    data, _ = view(session(Files({"Map.canvas": json.dumps(canvas).encode()})), "Map.canvas")
    assert data["text"] == "- Card"


def test_a_long_outline_comes_in_pages() -> None:
    nodes = [{"id": str(at), "type": "text", "text": f"Card {at} " + "x" * 200, "y": at} for at in range(200)]
    client = session(Files({"Map.canvas": json.dumps({"nodes": nodes}).encode()}))
    first, _ = view(client, "Map.canvas")
    texts = [view(client, "Map.canvas", page=page)[0]["text"] for page in range(1, first["pages"] + 1)]
    assert "".join(texts).count("Card") == 200


BROKEN = {
    "an image": ("pic.png", b"no image at all"),
    "half an image": ("pic.jpg", picture(format="JPEG")[:200]),
    "a PDF": ("doc.pdf", b"%PDF-1.7 nothing"),
    "a canvas": ("Map.canvas", b"{"),
}


@pytest.mark.parametrize(("name", "data"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_told(name: str, data: bytes) -> None:
    assert refused(session(Files({name: data})), name)["data"]["errorCode"] == "NOT_TEXT"


def test_a_page_that_is_not_there_and_a_file_of_another_kind_are_refused() -> None:
    client = session(Files({"pic.png": picture(), "song.mp3": b"ID3"}))
    assert refused(client, "pic.png", page=2)["code"] == -32602
    assert refused(client, "song.mp3")["code"] == -32602


def test_in_the_stateless_era_too() -> None:
    params = {"name": "obsidian_view_file", "arguments": {"name": "pic.png"}, "_meta": MODERN_META}
    result = session(Files({"pic.png": picture()})).result("tools/call", **params)
    assert (result["resultType"], [block["type"] for block in result["content"]]) == ("complete", ["text", "image"])
