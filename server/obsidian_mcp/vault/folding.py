"""When two spellings are one name. Apart from the rest because it must load without anything heavy."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Equal for two spellings of one name: case and Unicode form don't count.

    Not casefold: that would make one name of "Maße" and "Masse".
    """
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFC", text).lower().replace("ς", "σ")  # which of the two depends on what follows
    return unicodedata.normalize("NFC", lower)
