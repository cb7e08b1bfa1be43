from __future__ import annotations

import pytest

from obsidian_mcp.protocol.clients import PAGES, SMALL, page_of

KNOWN = {
    "@cline/core": 3_500,
    "codex-mcp-client": 11_500,
    "copilot-cli": 18_000,
    "qwen-cli-mcp-client-obsidian": 22_000,
    "gemini-cli-mcp-client": 36_000,
    "gemini-cli-mcp-client-obsidian": 36_000,
    "opencode": 45_000,
    "continue-cli-client": 45_000,
    "claude-code": 48_000,
    "claude-ai": 100_000,
    "Claude Desktop": 100_000,
}


@pytest.mark.parametrize(("client", "page"), KNOWN.items(), ids=KNOWN)
def test_a_known_client_gets_pages_that_it_shows_whole(client: str, page: int) -> None:
    assert page_of(client) == page


@pytest.mark.parametrize(
    "client", ["", "mcp", "google-adk", "Visual Studio Code", "claude-code-but-another", "opencode2"]
)
def test_a_client_that_is_not_known_gets_the_small_page(client: str) -> None:
    assert page_of(client) == SMALL == 11_500


def test_every_row_of_the_table_is_tested() -> None:
    assert set(PAGES) - {"qwen-cli-mcp-client"} <= set(KNOWN)
