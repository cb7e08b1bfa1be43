from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault.path import BadPath, VaultPath, check_new, has_known_extension


@given(st.text(max_size=30))
def test_a_path_cannot_hold_one_that_leads_elsewhere(text: str) -> None:
    try:
        path = VaultPath(text)
    except BadPath:
        return
    segments = path.value.split("/")
    assert all(segment.strip() and not segment.startswith(".") for segment in segments)
    assert not path.value.startswith("/")
    assert "\\" not in path.value
    assert path.value.isprintable() or not any(char < " " for char in path.value)


def test_a_path_has_parts() -> None:
    path = VaultPath("A/B/Release 1.2.md")
    assert (path.folder, path.filename, path.stem, path.extension) == ("A/B", "Release 1.2.md", "Release 1.2", "md")
    assert path.renamed("C.md") == VaultPath("A/B/C.md")
    root = VaultPath("Note.md")
    assert (root.folder, root.renamed("C.md").value) == ("", "C.md")
    assert (VaultPath("LICENSE").stem, VaultPath("LICENSE").extension) == ("LICENSE", "")


@pytest.mark.parametrize("name", ["Note.md", "x.CANVAS", "a/b.base", "p.png", "d.pdf"])
def test_obsidians_own_extensions_are_known(name: str) -> None:
    assert has_known_extension(name)


@pytest.mark.parametrize("name", ["Note", "Release 1.2", "a.md/b", "md", ".md", "x.txt", "x.md "])
def test_other_endings_are_part_of_the_name(name: str) -> None:
    assert not has_known_extension(name)


@pytest.mark.parametrize("char", list('*"\\<>:|?#^[]'))
def test_a_new_path_holds_no_character_that_links_cannot_carry(char: str) -> None:
    with pytest.raises(BadPath):
        check_new(f"folder/a{char}b.md")


def test_a_new_path_fits_on_a_disk() -> None:
    check_new("x" * 255)
    for path in ("x" * 256, "ü" * 128, f"a/{'x' * 256}/b"):
        with pytest.raises(BadPath):
            check_new(path)


UNPORTABLE = {
    "a device": "CON",
    "a device with an extension": "nul.md",
    "a device with more": "Deep/com1.draft.md",
    "a device as a folder": "aux/Note.md",
    "a port with a raised digit": "COM\u00b9.md",
    "a device before a space": "lpt9 .md",
    "a trailing dot": "Note.",
    "a trailing space": "Note ",
    "a folder with a trailing dot": "Folder./Note.md",
    "a folder with a trailing space": "Folder /Note.md",
    "text turned around": "gpj.\u202eexe.md",
    "an isolate": "a\u2067b",
    "a mark of direction": "a\u200fb",
    "a space of no width": "a\u200bb",
    "a byte order mark": "\ufeffNote",
    "a soft hyphen": "soft\u00adhyphen",
    "a joiner between Latin letters": "a\u200db",
    "a joiner at the end": "\u0645\u200c",
    "a joiner twice": "\u0645\u200c\u200c\u062e",
    "hidden text in tags": "Note\U000e0068\U000e0069",
    "hidden text after a flag": "\U0001f3f4\U000e0068\U000e0069",
    "a selector with nothing to vary": "a \ufe0f",
    "a selector twice": "\u2764\ufe0f\ufe0f",
    "a line separator": "a\u2028b",
    "a filler": "\u3164",
}
PORTABLE = {
    "a name that begins like a device": "Console.md",
    "a device's name inside": "My CON.md",
    "a dot before the extension": "Acme Inc..md",
    "a family": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "an astronaut with a skin colour": "\U0001f469\U0001f3fd\u200d\U0001f680",
    "a heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "a keycap": "1\ufe0f\u20e3",
    "the flag of Scotland": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "a Persian word": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "a Malayalam letter at the end": "\u0d28\u0d4d\u200d",
    "a Han variant": "\u845b\U000e0100",
    "Hebrew": "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "a leading space": " x",
}


@pytest.mark.parametrize("path", UNPORTABLE.values(), ids=UNPORTABLE)
def test_a_new_path_can_be_held_by_every_system_and_seen_by_every_person(path: str) -> None:
    with pytest.raises(BadPath):
        check_new(path)
    VaultPath(path)  # what is there already can be named


@pytest.mark.parametrize("path", PORTABLE.values(), ids=PORTABLE)
def test_what_is_ordinary_writing_may_be_a_new_path(path: str) -> None:
    check_new(path)
