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
