"""Which revisions are spoken, and which rules a request falls under.

Until 2025-11-25 a session begins with `initialize` and keeps its revision.
From 2026-07-28 there is no session: every request carries its own envelope in
`params._meta`, and the process remembers nothing between two of them.
"""

from __future__ import annotations

from obsidian_mcp.errors import InvalidParams, UnsupportedVersion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from obsidian_mcp.protocol.jsonrpc import Request

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = ("2026-07-28",)
LATEST_LEGACY = LEGACY[-1]
WITH_BATCHES = ("2025-03-26",)
WITHOUT_STRUCTURE = ("2024-11-05", "2025-03-26")  # no structuredContent, outputSchema, title, or _meta of a tool
WITHOUT_ANNOTATIONS = ("2024-11-05",)
WITHOUT_COMPLETIONS = ("2024-11-05",)  # it has the method, and no capability of that name
WITH_ELICITATION = ("2025-06-18", "2025-11-25")
WITHOUT_MODE = ("2025-06-18",)  # a question has no mode: there is one kind

META = "io.modelcontextprotocol/"
VERSION_KEY = META + "protocolVersion"
CAPABILITIES_KEY = META + "clientCapabilities"
CLIENT_INFO_KEY = META + "clientInfo"
SERVER_INFO_KEY = META + "serverInfo"
ENVELOPE = f"{VERSION_KEY} and {CAPABILITIES_KEY}"


def is_modern(request: Request) -> bool:
    """Whether the request falls under the stateless rules; raises if its envelope is wrong."""
    if VERSION_KEY not in request.meta:
        return False
    _check_envelope(request.meta)
    return True


def _check_envelope(meta: dict[str, Any]) -> None:
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise InvalidParams(f"{VERSION_KEY} must be a string.")
    if version not in MODERN:
        raise UnsupportedVersion(
            f"Protocol version {version!r} is not spoken here.",
            f"Use {MODERN[0]}, or initialize for an older one.",
            supported=list(MODERN),
            requested=version,
        )
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise InvalidParams(f"params._meta needs {CAPABILITIES_KEY}, an object.")


def takes_forms(capabilities: Any) -> bool:
    """Whether a client with these can ask its user. Where it names no kind of question, it means forms."""
    kinds = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(kinds, dict) and ("form" in kinds or "url" not in kinds)


def negotiated(requested: Any) -> str:
    """The client's revision if it is known, else our newest; never an error."""
    return requested if requested in LEGACY else LATEST_LEGACY
