"""Names that every system can hold and every person can see: what is refused for new files.

A vault is synchronised: a note made on Linux has to be held by Windows, macOS and Android too. And a name is read by
people: a character that can't be seen, or that turns the text around, makes one name look like another.

Some invisible characters are part of ordinary writing, and stay where they are that:
- ZWJ and ZWNJ between letters of scripts that join (Persian, Devanagari), after a virama, and ZWJ between emoji;
- a variation selector after the character that it varies (emoji, Han, Mongolian);
- the tags of a flag such as Scotland's, which no other sequence may use: they can spell hidden text.
"""

from __future__ import annotations

import re
import unicodedata

_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in "0123456789¹²³"]
)
# Unicode's default ignorable code points, the separators of lines and the marks of interlinear notes.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_JOINERS = "\u200c\u200d"
_SELECTOR = re.compile("[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FIRST_JOINING = 0x590  # before it stand Latin, Greek and Cyrillic, whose letters don't join
_VIRAMA = 9  # Unicode's combining class


def problem(name: str) -> str:
    """Why a file's or folder's name can't be a new one; empty if it can. Completes "must not …"."""
    if found := windows_problem(name):
        return found
    hidden = _hidden(_FLAG.sub("\U0001f3f4", name))
    return f"contain the invisible character U+{ord(hidden):04X}" if hidden else ""


def windows_problem(name: str) -> str:
    """Why Windows could not hold it."""
    if name.split(".", 1)[0].rstrip().lower() in _DEVICES:
        return f"contain the name {name!r}: it is a device on Windows"
    if name != name.rstrip() or name.endswith("."):
        return f"contain {name!r}, which ends with a dot or a space: Windows drops these"
    return ""


def _hidden(name: str) -> str:
    """The first character that can't be seen and is not part of ordinary writing; empty if there is none."""
    for found in _INVISIBLE.finditer(name):
        before, after = name[: found.start()][-1:], name[found.end() :][:1]
        if found[0] in _JOINERS and _joins(before, after):
            continue
        if _SELECTOR.match(found[0]) and before.strip() and not _INVISIBLE.match(before):
            continue
        return found[0]
    return ""


def _joins(before: str, after: str) -> bool:
    if before and unicodedata.combining(before) == _VIRAMA:
        return True
    return _can_join(before) and _can_join(after) and after not in _JOINERS


def _can_join(character: str) -> bool:
    """A letter, a mark, or an emoji with its skin's colour or its variation."""
    if not character or ord(character) < _FIRST_JOINING:
        return False
    return unicodedata.category(character)[0] in "LM" or unicodedata.category(character) in ("So", "Sk")
