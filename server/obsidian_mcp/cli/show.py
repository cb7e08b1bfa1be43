"""What people see: the only module that prints."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, NoReturn

from obsidian_mcp.errors import SHELL, Failure, spec_of

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 1000  # where the output is not a screen, nothing is broken into lines
NARROWEST = 60  # columns; below that a table is no longer one


def line(text: str = "") -> None:
    print(text)


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


def difference(lines: list[str]) -> None:
    from rich.text import Text

    for each in lines:
        _console().print(Text(f"  {each}", "green" if each.startswith("+") else "red"), soft_wrap=True)


def _console() -> Console:
    from rich.console import Console

    return Console(markup=False, highlight=False)


def usage(text: str, command: str = "") -> NoReturn:
    problem(f"{text.rstrip('. ')}; see obsidian-mcp {f'{command} ' if command else ''}--help")
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


def data(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"success": True, "data": found}, ensure_ascii=False))
        return
    content = found.pop("content", None)
    for key, value in found.items():
        print(f"{key + ':':<14} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")
    if content is not None:
        print()
        if sys.stdout.isatty():  # a note must not be able to move the cursor or name the window
            content = "".join(mark if mark in "\n\t" or mark.isprintable() else _visible(mark) for mark in content)
        sys.stdout.write(content if content.endswith("\n") else content + "\n")


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
