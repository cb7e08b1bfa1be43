"""The text of a PDF, page by page: with pypdf, where that is installed."""

from __future__ import annotations

import io
from collections.abc import Iterator


class NoPypdf(Exception):
    """It is not installed."""


def pages(data: bytes, first: int) -> tuple[int, Iterator[str]]:
    """How many pages there are, and the text of each from one on (from 1). Raises NoPypdf, or ValueError."""
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError:
        raise NoPypdf from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("it needs a password")
        count = len(reader.pages)
    except (PyPdfError, OSError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"it can't be read as a PDF ({type(error).__name__})") from None

    def texts() -> Iterator[str]:
        for number in range(first - 1, count):
            try:
                yield reader.pages[number].extract_text().strip()
            except Exception as error:  # noqa: BLE001  # a page is whatever some program has written
                yield f"(This page can't be read: {type(error).__name__}.)"

    return count, texts()
