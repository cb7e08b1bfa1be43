"""How long a result may be for the client that asked, by the name it gives itself.

A host cuts a result that is too long for it: out of the middle, or all but a preview. So a long note goes in pages
that arrive whole. What counts is one copy of a result as JSON, in bytes of UTF-8: a host shows its model either the
text or the structure. Where the table has a margin, it is for what the host writes around it.
"""

from __future__ import annotations

SMALL = 11_500  # fits in Codex (12,000 bytes), which takes the least of those that show one copy
COMMAND_LINE = 200_000  # a person's terminal takes whatever comes

#                      bytes     what the host takes
PAGES = {
    "@cline/core": 3_500,  # 8,000 characters of the whole result as JSON, where every quote is escaped twice
    "codex-mcp-client": SMALL,
    "copilot-cli": 18_000,  # 20 KB
    "qwen-cli-mcp-client": 22_000,  # 25,000 characters
    "gemini-cli-mcp-client": 36_000,  # 40,000 characters
    "opencode": 45_000,  # 50 KB
    "continue-cli-client": 45_000,  # over 50,000 characters
    "claude-code": 48_000,  # what the tool's maxResultSizeChars says
    "claude-ai": 100_000,  # 150,000 characters
    "Claude Desktop": 100_000,
}
# These add what the person calls the server: qwen-cli-mcp-client-notes.
ONE_PER_SERVER = ("gemini-cli-mcp-client", "qwen-cli-mcp-client")


def page_of(client: str) -> int:
    """The most bytes that one result should have. For a client that is not known, or gives no name, few."""
    for name in ONE_PER_SERVER:
        if client.startswith(f"{name}-"):
            return PAGES[name]
    return PAGES.get(client, SMALL)
