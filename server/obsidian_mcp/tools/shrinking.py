"""Images made smaller, and kinds that models don't take made into one they do: with Pillow, where that is installed."""

from __future__ import annotations

import io
from typing import Any

from obsidian_mcp.vault.pictures import JPEG, PNG

SIDE = 1568  # pixels; models make larger ones smaller themselves
MOST_PIXELS = 150_000_000
QUALITIES = (80, 60)
SMALLEST = 200  # pixels


class NoPillow(Exception):
    """It is not installed."""


def shrunk(data: bytes, most: int) -> tuple[bytes, str]:
    """At most so many bytes, the right way up, of its first frame, and the kind. Raises NoPillow, or ValueError."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise NoPillow from None
    try:
        with Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise ValueError(f"it has {opened.width} × {opened.height} pixels")
            picture: Any = ImageOps.exif_transpose(opened)
            side = SIDE
            while side >= SMALLEST:
                smaller = picture.copy()
                smaller.thumbnail((side, side))
                for made, kind in _saved(smaller):
                    if len(made) <= most:
                        return made, kind
                side = side * 3 // 4
    except (OSError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"it can't be read as an image ({type(error).__name__})") from None
    raise ValueError("it can't be made small enough")


def _saved(picture: Any) -> Any:
    """As PNG, if it is a drawing or can be seen through, then as JPEG."""
    if picture.mode in ("1", "L", "P", "RGBA", "LA", "PA"):
        yield _bytes(picture.convert("RGBA") if picture.mode == "PA" else picture, "PNG"), PNG
    flat = picture
    if picture.mode in ("RGBA", "LA", "PA", "P"):
        from PIL import Image

        with_alpha = picture.convert("RGBA")
        flat = Image.new("RGB", with_alpha.size, "white")
        flat.paste(with_alpha, mask=with_alpha.getchannel("A"))
    for quality in QUALITIES:
        yield _bytes(flat.convert("RGB"), "JPEG", quality=quality), JPEG


def _bytes(picture: Any, format: str, **options: Any) -> bytes:
    into = io.BytesIO()
    picture.save(into, format, **options)
    return into.getvalue()
