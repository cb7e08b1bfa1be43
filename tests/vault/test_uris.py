from __future__ import annotations

from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.vault import uris
from obsidian_mcp.vault.path import VaultPath, is_path

SEGMENT = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
PATH = st.lists(SEGMENT, min_size=1, max_size=3).map("/".join).filter(is_path)


def test_every_segment_is_encoded_and_the_folders_stay_visible() -> None:
    written = uris.written("My Vault", "Täg/C# notes & 100%?.md")
    assert written == "obsidian://vault/My%20Vault/T%C3%A4g/C%23%20notes%20%26%20100%25%3F.md"
    assert urlsplit(written).path == "/My%20Vault/T%C3%A4g/C%23%20notes%20%26%20100%25%3F.md"


@given(SEGMENT.filter(lambda vault: "/" not in vault), PATH)
def test_what_is_written_is_read_as_the_same_file(vault: str, path: str) -> None:
    address = uris.read(uris.written(vault, path))
    assert address is not None
    assert (address.vaults[0], address.paths[0]) == (vault, VaultPath(path))


@given(PATH)
def test_what_a_host_encodes_again_or_decodes_is_still_read(path: str) -> None:
    for uri in (f"obsidian://vault/V/{quote(quote(path))}", f"obsidian://vault/V/{path}"):
        address = uris.read(uri)
        assert address is not None
        assert VaultPath(path) in address.paths


def test_md_may_be_left_out() -> None:
    address = uris.read("obsidian://vault/V/Folder/Note")
    assert address is not None
    assert [path.value for path in address.paths] == ["Folder/Note", "Folder/Note.md"]


@pytest.mark.parametrize("uri", ["", "obsidian://open?vault=V&file=N", "file:///etc/passwd", "obsidian://vault/V"])
def test_what_is_no_address_of_a_file_is_none(uri: str) -> None:
    assert uris.read(uri) is None


@pytest.mark.parametrize("path", ["../x.md", "%2e%2e/x.md", "%252e%252e/x.md", ".obsidian/app.json", "a/../../x", "/x"])
def test_what_leads_elsewhere_names_no_path(path: str) -> None:
    address = uris.read(f"obsidian://vault/V/{path}")
    assert address is not None
    assert not [found for found in address.paths if not found.value.startswith("%")]
