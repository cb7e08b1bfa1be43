"""How people, notes and the app write which note they mean: a plain name, a link in brackets, an address.

    Note    [[Folder/Note#Heading|shown]]    ![[picture.png]]
    obsidian://open?vault=V&file=F    obsidian://open?path=P    obsidian://vault/V/F    obsidian:///P

The text alone is looked at; whether there is such a note is for others. Loads nothing: the order of calls is decided
from it before anything heavy is there.
"""

from __future__ import annotations

SCHEME = "obsidian://"
_HEX = frozenset("0123456789abcdefABCDEF")


class Unreadable(ValueError):
    """An address that names no note; the message completes "name …"."""


class Spelling:
    """The target, with its section. `vault` is the one that an address names; an absolute target is one on the disk."""

    __slots__ = ("is_absolute", "is_link", "target", "vault")

    def __init__(self, target: str, is_link: bool = False, vault: str = "", is_absolute: bool = False) -> None:
        self.target = target
        self.is_link = is_link
        self.vault = vault
        self.is_absolute = is_absolute


def spelling(text: str) -> Spelling:
    stripped = text.strip()
    if stripped[: len(SCHEME)].lower() == SCHEME:
        return _address(stripped[len(SCHEME) :])
    target = _bracketed(stripped)
    return Spelling(text) if target is None else Spelling(target, is_link=True)


def split_section(target: str) -> tuple[str, str]:
    """Before and after the first `#`."""
    note, _, section = target.partition("#")
    return note.rstrip(), section


def _bracketed(text: str) -> str | None:
    """The target of a link, without what it shows; None if the text isn't one link. In tables the bar is escaped."""
    inner = text.removeprefix("!")
    if not inner.startswith("[[") or not inner.endswith("]]") or len(inner) < 5:
        return None
    inner = inner[2:-2]
    if "[[" in inner or "]]" in inner:
        return None
    target, bar, _ = inner.partition("|")
    return (target.removesuffix("\\") if bar else target).strip()


def _address(rest: str) -> Spelling:
    if rest.startswith("/"):
        return Spelling(decoded(rest.partition("?")[0]), is_absolute=True)
    action, _, query = rest.partition("?")
    kind, _, path = action.partition("/")
    if kind.lower() == "vault":
        vault, _, file = path.partition("/")
        return _in_vault(vault, file)
    if kind.lower() != "open" or path:
        raise Unreadable("is not a link to a note, as obsidian://open?vault=…&file=… and obsidian://vault/… are")
    fields = dict(field.partition("=")[::2] for field in query.split("&"))
    if fields.get("path"):  # which wins over the others in the app too
        return Spelling(decoded(fields["path"]), is_absolute=True)
    return _in_vault(fields.get("vault", ""), fields.get("file", ""))


def _in_vault(vault: str, file: str) -> Spelling:
    if not file:
        raise Unreadable("is a link to a vault, and not to a note in it")
    return Spelling(decoded(file), is_link=True, vault=decoded(vault))


def decoded(text: str) -> str:
    """Percent-decoded, once."""
    first, *rest = text.split("%")
    data = first.encode("utf-8", "surrogatepass")
    for part in rest:
        code = part[:2]
        is_code = len(code) == 2 and _HEX.issuperset(code)
        data += bytes.fromhex(code) if is_code else b"%"
        data += part[2 * is_code :].encode("utf-8", "surrogatepass")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("is a link that is not UTF-8 when it is decoded") from None
