"""Arguments as models and frameworks send them, by the names that the schemas have.

Light: which notes a call touches is decided from them before anything heavy is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

# Words that models reach for. They are taken quietly, and stand in no schema: there is one name to learn.
# The first that a tool has is meant.
ALIASES = {
    "path": ("name", "folder"),
    "file": ("name",),
    "filename": ("name",),
    "note": ("name",),
    "text": ("content", "new_text", "query"),
    "content": ("new_text",),
    "body": ("content", "new_text"),
    "destination": ("to",),
    "folder": ("to",),
    "directory": ("folder", "to"),
    "q": ("query",),
    "search": ("query",),
    "heading": ("section",),
    "old_string": ("old_text",),
    "old_str": ("old_text",),
    "find": ("old_text",),
    "new_string": ("new_text",),
    "new_str": ("new_text",),
    "replace": ("new_text",),
    "properties": ("set",),
    "replace_all": ("all",),
    "since": ("modified_after",),
    "type": ("kind",),
}


def understood(arguments: Mapping[str, Any], known: Collection[str]) -> Mapping[str, Any]:
    """Without what is null, which counts as not given: some frameworks send every optional argument so.

    Where an argument is given under two names, both stay as they are, and the tool refuses one.
    """
    for key, value in arguments.items():
        if value is None or key not in known:
            break
    else:
        return arguments
    names = {key: _name(key, known) for key in arguments}
    given = {key: value for key, value in arguments.items() if value is not None or names[key] not in known}
    meant = [names[key] for key in given]
    return {names[key] if meant.count(names[key]) == 1 else key: value for key, value in given.items()}


def _name(key: str, known: Collection[str]) -> str:
    return key if key in known else meant_by(key, known) or key


def meant_by(word: str, known: Collection[str]) -> str | None:
    """The argument that another word means."""
    return next((own for own in ALIASES.get(word, ()) if own in known), None)
