"""The tool that shows what is not Markdown: images, PDFs, canvases."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from obsidian_mcp.errors import Hint, InvalidArguments, NotText, TooLarge
from obsidian_mcp.operations.viewing import embedded_images, is_image
from obsidian_mcp.protocol import results
from obsidian_mcp.tools import pdf, shrinking
from obsidian_mcp.tools.notes import BareTarget
from obsidian_mcp.tools.tool import Context, Effect, WithContent, plain, tool
from obsidian_mcp.tools.toolsets import MEDIA
from obsidian_mcp.vault import canvas, kinds, pictures, text
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.path import VaultPath

MOST_BYTES = 700_000  # of all images in a result: Claude Desktop takes 1 MiB of result, and base64 adds a third
MOST_PICTURES = 8
LONGEST_SIDE = 8_000  # pixels; models refuse more, and then every later turn
SHRUNK_SIDE = 2_000  # pixels; beyond that it is made smaller if it can be
LEAST_TEXT = 500  # bytes
INSTALL = Hint(
    "Install it again as obsidian-notekeeper[media], which brings Pillow and pypdf, or open the file in Obsidian."
)


class ViewFile(BareTarget):
    page: Annotated[int, Field(ge=1, description="First page, or image of a note; go on with next_page.")] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    path: str
    page: int
    pages: int
    next_page: int | None = None
    images: list[str] | None = None
    note: str | None = None
    text: str | None = None


@tool("View a file", Effect.READS, MEDIA)
def obsidian_view_file(params: ViewFile, it: Context) -> WithContent:
    """Show an image, the images embedded in a note, the text of a PDF, or a canvas as an outline."""
    path = params.path_in(it.vault)
    kind = kinds.extension(path.value)
    if kind == "pdf":
        return WithContent(_of_pdf(path, params.page, it))
    if kind in ("canvas", "svg"):
        return WithContent(_of_text(path, params.page, it, _outline if kind == "canvas" else lambda data: data))
    if is_image(path.value):
        return _of_images(path, [path.value], params.page, it, alone=True)
    if kind != "md":
        raise InvalidArguments(
            f"{path} is neither an image nor a PDF, a canvas or a note.",
            Hint("Text can be read with obsidian_read_note.", needs="obsidian_read_note"),
        )
    whole = text.decoded(path, it.vault.read(path))
    there = Resolver(it.vault.paths()) if it.contents is None else it.contents.resolver(it.call)
    return _of_images(path, embedded_images(path.value, whole, there), params.page, it)


def _of_images(path: VaultPath, images: list[str], first: int, it: Context, alone: bool = False) -> WithContent:
    """As many as a result has room for. One that can't be shown is named, unless it is the only one."""
    _require_page(path, first, len(images))
    about = Viewed(path=path.value, page=first, pages=len(images))
    blocks: list[dict[str, Any]] = []
    shown: list[str] = []
    notes = [] if images else ["It embeds no image of the vault."]
    room, at = MOST_BYTES, first - 1
    for image in images[at:]:
        if len(shown) == MOST_PICTURES:
            break
        it.call.check(f"looking at {image}")
        try:
            block, size = _shown(VaultPath(image), it, MOST_BYTES)
        except (TooLarge, NotText) as failure:
            if alone:
                raise
            notes.append(failure.fact)
        else:
            if size > room and shown:
                break
            room -= size
            shown.append(image)
            blocks.append(block)
        at += 1
    more = at + 1 if at < len(images) else None
    told = replace(about, next_page=more, images=None if alone else shown, note=" ".join(notes) or None)
    return WithContent(told, blocks)


def _shown(path: VaultPath, it: Context, room: int) -> tuple[dict[str, Any], int]:
    """A block of content, and the bytes it takes."""
    data = it.vault.current(path)
    if kinds.extension(path.value) == "svg":
        if len(data) > it.page // 2:
            raise TooLarge(f"{path} has {len(data)} bytes of text; view it by its own name.", path=path.value)
        return {"type": "text", "text": text.decoded(path, data)}, len(data)
    seen = pictures.header(data)
    side = max(seen.width, seen.height) if seen else 0
    kind = seen.kind if seen else ""
    fits = seen is not None and len(data) <= room and side <= LONGEST_SIDE
    try:
        if not fits or side > SHRUNK_SIDE:
            data, kind = shrinking.shrunk(data, room)
        else:
            data = pictures.without_places(data, kind)
    except shrinking.NoPillow:
        if not fits:
            raise _unshown(path, len(data), seen) from None
        data = pictures.without_places(data, kind)
    except ValueError as problem:
        raise NotText(f"{path} can't be shown: {problem}.", path=path.value) from None
    return {"type": "image", "data": base64.b64encode(data).decode("ascii"), "mimeType": kind}, len(data)


def _unshown(path: VaultPath, size: int, seen: pictures.Header | None) -> TooLarge | NotText:
    if seen is None:
        return NotText(f"{path} is not an image of a kind that models take.", INSTALL, path=path.value)
    return TooLarge(
        f"{path} has {size} bytes and {seen.width} × {seen.height} pixels, which is more than hosts take.",
        INSTALL,
        path=path.value,
        size=size,
        width=seen.width,
        height=seen.height,
    )


def _of_pdf(path: VaultPath, first: int, it: Context) -> Viewed:
    """Whole pages, as many as fit; a page that is too long alone is cut, and that is said."""
    try:
        count, texts = pdf.pages(it.vault.current(path), first)
    except pdf.NoPypdf:
        raise NotText(f"{path} is a PDF, and its text can't be read here.", INSTALL, path=path.value) from None
    except ValueError as problem:
        raise NotText(f"The text of {path} can't be read: {problem}.", path=path.value) from None
    _require_page(path, first, count)
    about = Viewed(path=path.value, page=first, pages=count, next_page=count)
    found, taken, cut = _fitting(texts, _room(about, it), it)
    empty = "There is no text: it may be a scan." if not "".join(found).strip() else None
    after = first + taken if first + taken <= count else None
    whole = "\n\n".join(f"[page {first + at}]\n{each}" for at, each in enumerate(found))
    return replace(about, next_page=after, note="The page is cut: it is too long." if cut else empty, text=whole)


def _fitting(texts: Iterable[str], room: int, it: Context) -> tuple[list[str], int, bool]:
    found: list[str] = []
    for each in texts:
        it.call.check("reading the next page")
        size = results.size({"text": each}) + 20
        if found and size > room:
            break
        if size > room:
            return [each.encode()[: room // 2].decode("utf-8", "ignore")], 1, True
        found.append(each)
        room -= size
    return found, len(found), False


def _of_text(path: VaultPath, page: int, it: Context, shape: Callable[[str], str]) -> Viewed:
    """A text in pages that each fit."""
    try:
        whole = shape(text.decoded(path, it.vault.current(path)))
    except canvas.Unreadable as problem:
        raise NotText(f"{path} is not a canvas that can be read: {problem}.", path=path.value) from None
    about = Viewed(path=path.value, page=page, pages=len(whole), next_page=len(whole))
    room = _room(about, it)
    parts, line, char = [], 1, 1
    while True:
        part = text.page(whole, room, line, char)
        parts.append(part.content)
        if part.next_line is None:
            break
        line, char = part.next_line, part.next_char or 1
    _require_page(path, page, len(parts))
    more = page + 1 if page < len(parts) else None
    return replace(about, pages=len(parts), next_page=more, text=parts[page - 1])


def _outline(data: str) -> str:
    return canvas.outline(data)


def _room(about: Viewed, it: Context) -> int:
    return max(LEAST_TEXT, it.page - results.size(plain(about)) - 100)


def _require_page(path: VaultPath, page: int, count: int) -> None:
    if page > max(count, 1):
        raise InvalidArguments(f"page {page} is not there: {path} has {count}.")
