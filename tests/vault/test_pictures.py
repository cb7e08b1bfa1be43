"""Images as bytes, judged by Pillow."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from obsidian_mcp.vault import pictures
from obsidian_mcp.vault.pictures import KINDS, Header, header, without_places

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}
GPS, ORIENTATION, MAKER = 0x8825, 0x0112, 0x010F


def image(format: str, orientation: int = 1, **options: Any) -> bytes:
    """With a place, a maker and a way up, where the format has room for them."""
    picture = Image.new("RGB", (30, 20), "red")
    picture.putpixel((0, 0), (0, 0, 255))
    exif = Image.Exif()
    exif[ORIENTATION], exif[MAKER] = orientation, "Secret Maker"
    exif.get_ifd(GPS).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)})
    into = io.BytesIO()
    picture.save(into, format, **({} if format == "GIF" else {"exif": exif}), **options)
    return into.getvalue()


@pytest.mark.parametrize(("format", "kind"), FORMATS.items())
def test_kind_and_size_are_told_by_the_first_bytes(format: str, kind: str) -> None:
    assert header(image(format)) == Header(kind, 30, 20)


def test_a_webp_without_loss_tells_its_size_too() -> None:
    into = io.BytesIO()
    Image.new("RGB", (300, 7)).save(into, "WEBP", lossless=True)
    assert header(into.getvalue()) == Header("image/webp", 300, 7)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP"])
def test_the_place_is_gone_and_the_picture_is_the_same(format: str) -> None:
    data = image(format)
    bare = without_places(data, FORMATS[format])
    assert b"Secret Maker" in data
    assert b"Secret Maker" not in bare
    with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(bare)) as after:
        assert dict(before.getexif().get_ifd(GPS))
        assert not dict(after.getexif().get_ifd(GPS))
        assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photo_stays_the_right_way_up(orientation: int) -> None:
    bare = without_places(image("JPEG", orientation), "image/jpeg")
    with Image.open(io.BytesIO(bare)) as after:
        assert after.getexif().get(ORIENTATION, 1) == orientation
        assert set(after.getexif()) <= {ORIENTATION}


def test_texts_and_comments_are_gone_too() -> None:
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("Location", "Berlin")
    png = image("PNG", pnginfo=info)
    jpeg = image("JPEG", comment=b"Berlin")
    assert b"Berlin" in png
    assert b"Berlin" in jpeg
    assert b"Berlin" not in without_places(png, "image/png") + without_places(jpeg, "image/jpeg")


@given(st.sampled_from(sorted(FORMATS)), st.integers(0, 400), st.binary(max_size=12))
def test_broken_images_are_told_and_never_worse(format: str, at: int, junk: bytes) -> None:
    data = image(format)
    for broken in (data[:at], data[:at] + junk + data[at + len(junk) :], junk + data):
        found = header(broken)
        assert found is None or found.kind in KINDS
        with contextlib.suppress(ValueError):
            without_places(broken, FORMATS[format])


def test_what_is_no_image_has_no_header() -> None:
    assert [header(data) for data in (b"", b"<svg/>", b"BM", b"\xff\xd8", pictures._PNG_HEAD)] == [None] * 5
