"""Text as people and models type it, in the line ends of the note it goes to."""

from __future__ import annotations

CRLF, LF = "\r\n", "\n"


def typed(text: str) -> str:
    """With plain line ends, whatever it came with."""
    return text.replace(CRLF, LF)


def end_at(text: str, at: int) -> str:
    """How lines end around a place: as the one before it does, else the one after it, else plainly."""
    newline = text.rfind(LF, 0, at)
    if newline < 0:
        newline = text.find(LF, at)
    return CRLF if newline > 0 and text[newline - 1] == "\r" else LF


def as_at(text: str, at: int, content: str) -> str:
    """The content with the line ends of that place."""
    plain = typed(content)
    return plain if end_at(text, at) == LF else plain.replace(LF, CRLF)
