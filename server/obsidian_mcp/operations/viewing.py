"""Which images a note shows."""

from __future__ import annotations

from obsidian_mcp.operations.linking import written
from obsidian_mcp.vault.kinds import extension
from obsidian_mcp.vault.links.link_rewrites import leads_to
from obsidian_mcp.vault.links.reader import links_in
from obsidian_mcp.vault.links.resolver import Resolver

IMAGES = frozenset("avif bmp gif heic heif jpeg jpg png svg tif tiff webp".split())


def is_image(path: str) -> bool:
    return extension(path) in IMAGES


def embedded_images(path: str, text: str, there: Resolver) -> list[str]:
    """The images of the vault that are embedded in a note, each once, in their order."""
    embeds = (link for link in links_in(path, text) if written(text, link).startswith("!"))
    goals = (leads_to(there, link, path) for link in embeds)
    return list(dict.fromkeys(goal for goal in goals if goal is not None and is_image(goal)))
