"""Images as bytes: what kind they are, how large, and what they say of where they were made.

A photo holds the place where it was taken, and an image that goes to a model goes to its maker. So what a camera or a
program has written beside the picture is left out; of it, only which way up the picture is meant is kept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
KINDS = (PNG, JPEG, GIF, WEBP)  # what models take

_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_PNG_TEXTS = (b"eXIf", b"tEXt", b"zTXt", b"iTXt", b"tIME")
_NO_LENGTH = frozenset((0x01, *range(0xD0, 0xD8)))
_SIZES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))
_LEFT_OUT = frozenset((0xE1, 0xED, 0xFE))  # Exif and XMP, IPTC, comments
_SCAN, _ORIENTATION = 0xDA, 0x0112
_WEBP_FLAGS = 0x08 | 0x04  # it has Exif, it has XMP


@dataclass(frozen=True, slots=True)
class Header:
    kind: str
    width: int
    height: int


def header(data: bytes) -> Header | None:
    """By what it begins with, whatever its name says; None if it is none of the kinds, or broken."""
    try:
        if data.startswith(_PNG_HEAD):
            return Header(PNG, *struct.unpack(">II", data[16:24]))
        if data.startswith((b"GIF87a", b"GIF89a")):
            return Header(GIF, *struct.unpack("<HH", data[6:10]))
        if data.startswith(b"\xff\xd8"):
            return _of_jpeg(data)
        if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
            return _of_webp(data)
    except (struct.error, IndexError, ValueError):
        pass
    return None


def without_places(data: bytes, kind: str) -> bytes:
    """The same picture without what was written beside it. Raises ValueError if it is broken."""
    try:
        if kind == JPEG:
            return _bare_jpeg(data)
        if kind == PNG:
            return _bare_png(data)
        return _bare_webp(data) if kind == WEBP else data
    except (struct.error, IndexError):
        raise ValueError("the image is broken") from None


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG_HEAD)
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, end = data[at + 4 : at + 8], at + 12 + length
        yield name, data[at:end]
        if name == b"IEND":
            return  # what follows is no part of it
        at = end


def _bare_png(data: bytes) -> bytes:
    chunks = list(_png_chunks(data))
    if not chunks or chunks[-1][0] != b"IEND":
        raise ValueError("the image is not whole")
    return _PNG_HEAD + b"".join(chunk for name, chunk in chunks if name not in _PNG_TEXTS)


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and bytes of each part of a JPEG; from the first scan on, all of the rest is one."""
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            raise ValueError("the image is broken")
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _NO_LENGTH:
            yield marker, data[at : at + 2]
            at += 2
        elif marker == _SCAN:
            yield marker, data[at:]
            return
        else:
            end = at + 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
            yield marker, data[at:end]
            at = end


def _of_jpeg(data: bytes) -> Header | None:
    for marker, part in _segments(data):
        if marker in _SIZES:
            height, width = struct.unpack(">HH", part[5:9])
            return Header(JPEG, width, height)
    return None


def _bare_jpeg(data: bytes) -> bytes:
    kept, turned = [], 1
    for marker, part in _segments(data):
        if marker == 0xE1 and part[4:10] == b"Exif\0\0":
            turned = _orientation(part[10:])
        if marker not in _LEFT_OUT:
            kept.append(part)
    if not kept or kept[-1][1] != _SCAN:
        raise ValueError("the image is not whole")
    return b"\xff\xd8" + (_exif(turned) if turned != 1 else b"") + b"".join(kept)


def _orientation(tiff: bytes) -> int:
    """Which way up, 1 to 8; 1 where that can't be told."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None or len(tiff) < 8:
        return 1
    (first,) = struct.unpack(f"{order}I", tiff[4:8])
    (count,) = struct.unpack(f"{order}H", tiff[first : first + 2]) if first + 2 <= len(tiff) else (0,)
    for at in range(first + 2, min(first + 2 + 12 * count, len(tiff) - 11), 12):
        tag, kind, _, value = struct.unpack(f"{order}HHIH", tiff[at : at + 10])
        if tag == _ORIENTATION and kind == 3 and 1 <= value <= 8:
            return int(value)
    return 1


def _exif(orientation: int) -> bytes:
    """One that says nothing but which way up."""
    tiff = b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, _ORIENTATION, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def _webp_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 12
    while at + 8 <= len(data):
        (length,) = struct.unpack("<I", data[at + 4 : at + 8])
        end = at + 8 + length + length % 2
        yield data[at : at + 4], data[at:end]
        at = end


def _of_webp(data: bytes) -> Header | None:
    for name, chunk in _webp_chunks(data):
        body = chunk[8:]
        if name == b"VP8X":
            return Header(WEBP, 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little"))
        if name == b"VP8L":
            bits = int.from_bytes(body[1:5], "little")
            return Header(WEBP, 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        if name == b"VP8 ":
            width, height = struct.unpack("<HH", body[6:10])
            return Header(WEBP, width & 0x3FFF, height & 0x3FFF)
    return None


def _bare_webp(data: bytes) -> bytes:
    kept = b""
    for name, chunk in _webp_chunks(data):
        if name == b"VP8X":
            chunk = chunk[:8] + bytes((chunk[8] & ~_WEBP_FLAGS,)) + chunk[9:]
        if name not in (b"EXIF", b"XMP "):
            kept += chunk
    return b"RIFF" + struct.pack("<I", len(kept) + 4) + b"WEBP" + kept
