"""What people see: the only module that prints."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from obsidian_mcp.errors import SHELL, Failure, spec_of

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 1000  # where the output is not a screen, nothing is broken into lines
A_MOMENT = 1.0  # seconds; what takes longer is told of
LONG = ("content", "text")  # parts of a result that are printed as they are, after the others
NARROWEST = 60  # columns; below that a table is no longer one


def line(text: str = "") -> None:
    print(text)


def prompt(text: str) -> None:
    """A question; the answer comes on the same line."""
    print(text, end="", flush=True)


def choices(rows: list[list[str]]) -> None:
    """A numbered list."""
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for number, (name, what, note) in enumerate(rows, 1):
        told = f"  ({note})" if note else ""
        print(_shown(f"  {number}  {name:<{widths[0]}}  {what:<{widths[1]}}{told}".rstrip()))


def is_watched() -> bool:
    """Whether a person sees stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def told(*lines: str) -> None:
    """On stderr, to a person who watches."""
    print("\n".join(lines), file=sys.stderr, flush=True)


def problem(text: str) -> None:
    """On stderr, in one line."""
    print(f"obsidian-mcp: {' '.join(text.split())}", file=sys.stderr)


def json_text(value: Any, indent: int | None = None) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=indent))


def marked(mark: str, colour: str, title: str, text: str, remedy: str) -> None:
    """One finding, coloured on a terminal."""
    from rich.text import Text

    console = _console()
    console.print(Text.assemble((mark, colour), f" {title:<11} ", text), soft_wrap=True)
    if remedy:
        console.print(Text.assemble(" " * 14, ("→ ", colour), remedy), soft_wrap=True)


def changes(rows: list[list[str]]) -> None:
    """What was changed, a line each."""
    if not rows:
        line("No changes.")
        return
    table(
        ["id", "time", *(["vault"] if len(rows[0]) > 4 else []), "client", "what"],
        [list(map(_shown, row)) for row in rows],
    )


def diff(text: str) -> None:
    """Coloured on a terminal."""
    from rich.text import Text

    colours = {"+": "green", "-": "red", "@": "cyan"}
    for each in _shown(text).split("\n"):
        style = colours.get(each[:1], "" if each.startswith(" ") else "bold")
        _console().print(Text(each, style), soft_wrap=True)


def _console() -> Console:
    from rich.console import Console

    return Console(markup=False, highlight=False)


def usage(text: str, command: str = "") -> NoReturn:
    text = text.rstrip(". ")
    end = " See" if text.endswith("?") else "; see"
    problem(f"{text}{end} obsidian-mcp {f'{command} ' if command else ''}--help")
    sys.exit(2)


def table(head: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in head:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = _console()
    console.width = max(console.width, NARROWEST) if console.is_terminal else WIDEST
    console.print(table)


def found_note(note: dict[str, Any], marks: Callable[[str], list[tuple[int, int]]]) -> None:
    """A note that was found, with its passages; what was looked for is marked on a terminal."""
    from rich.text import Text

    console = _console()
    console.print(Text(_shown(note["path"]), "bold"), soft_wrap=True)
    for passage in note["passages"]:
        where = f"  {passage['line']}" + (f"  {_shown(passage['section'])}" if "section" in passage else "")
        console.print(Text(where, "cyan"), soft_wrap=True)
        for part in passage["text"].split("\n"):
            shown = Text(f"    {_shown(part)}")
            for start, end in marks(_shown(part)):
                shown.stylize("bold yellow", start + 4, end + 4)
            console.print(shown, soft_wrap=True)
    console.print()


@contextlib.contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """How far something is that takes long, on a terminal's stderr."""
    if not sys.stderr.isatty():
        yield lambda done, all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, all: bar.update(task, completed=done, total=all)


@contextlib.contextmanager
def waiting(title: str) -> Iterator[None]:
    """What takes longer than a second is told, on a terminal's stderr, with the seconds so far."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    over = threading.Event()

    def tell() -> None:
        seconds = 0
        while not over.wait(A_MOMENT):
            seconds += 1
            print(f"\r{title} … {seconds} s", end="", file=sys.stderr, flush=True)
        if seconds:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    with contextlib.suppress(RuntimeError):  # a system that allows no more threads
        thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.ident is not None:
            thread.join()


def data(found: dict[str, Any], as_json: bool, files: Sequence[str] = ()) -> None:
    """A tool's result, with the images that are in it; `files` are those that they were written to."""
    blocks: list[dict[str, Any]] = getattr(found, "blocks", [])
    if as_json:
        more = {"files": list(files)} if files else {"content": blocks} if blocks else {}
        print(json.dumps({"success": True, "data": found, **more}, ensure_ascii=False))
        return
    rest = {key: value for key, value in found.items() if key not in LONG}
    for key, value in rest.items():
        print(f"{key + ':':<14} {_safe(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))}")
    images = [block for block in blocks if block["type"] == "image"]
    for at, block in enumerate(images):
        where = f"written to {files[at]}" if files else "to see it: --output FILE"
        print(f"{'image:':<14} {block['mimeType']}, {_bytes(block['data']):,} bytes; {where}")
    for text in (*(found[key] for key in LONG if key in found), *(each["text"] for each in blocks if "text" in each)):
        print()
        sys.stdout.write(_safe(text if text.endswith("\n") else text + "\n"))


def _bytes(base64: str) -> int:
    return len(base64) // 4 * 3 - base64.count("=", -2)


def _safe(text: str) -> str:
    """On a terminal nothing but text."""
    return _shown(text) if sys.stdout.isatty() else text


def _shown(text: str) -> str:
    """A note must not be able to move the cursor or name the window."""
    return "".join(mark if mark in "\n\t" or mark.isprintable() else _visible(mark) for mark in text)


def _visible(mark: str) -> str:
    return mark.encode("unicode_escape").decode("ascii") if unicodedata.category(mark) == "Cc" else mark


def fail(failure: Failure, as_json: bool) -> NoReturn:
    look, told = spec_of(failure), failure.told_to(SHELL)
    if as_json:
        print(
            json.dumps(
                {
                    "success": False,
                    "error": {"code": look.rpc, "errorCode": look.error_code, "message": told},
                }
            )
        )
    else:
        print(f"obsidian-mcp: {look.error_code}: {told}", file=sys.stderr)
    sys.exit(look.shell)
