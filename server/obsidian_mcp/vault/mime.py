"""What kind of data a file holds, by its extension."""

from __future__ import annotations

from obsidian_mcp.vault import kinds

MARKDOWN, PLAIN, UNKNOWN = "text/markdown", "text/plain", "application/octet-stream"
TYPES = {
    "md": MARKDOWN,
    "markdown": MARKDOWN,
    "canvas": "application/json",
    "json": "application/json",
    "geojson": "application/json",
    "base": "application/yaml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "csv": "text/csv",
    "html": "text/html",
    "htm": "text/html",
    "css": "text/css",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "flac": "audio/flac",
    "m4a": "audio/mp4",
    "mp3": "audio/mpeg",
    "ogg": "audio/ogg",
    "wav": "audio/wav",
    "3gp": "video/3gpp",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "mp4": "video/mp4",
    "ogv": "video/ogg",
    "webm": "video/webm",
}
# Of these the bytes are given, even if they happen to be UTF-8.
_BINARY = ("image/", "audio/", "video/", "application/pdf")


def type_of(path: str, is_text: bool) -> str:
    return TYPES.get(kinds.extension(path), PLAIN if is_text else UNKNOWN)


def is_binary(path: str) -> bool:
    """Whether its extension says that it is no text. SVG is one."""
    kind = TYPES.get(kinds.extension(path), "")
    return kind.startswith(_BINARY) and kind != "image/svg+xml"
