"""Questions to a person at a terminal: a numbered list, and one line for an answer."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from typing import TypeVar

import typer

from obsidian_mcp.cli import show

T = TypeVar("T")


class NoAnswer(Exception):
    """The input has ended."""


class NotUnderstood(Exception):
    """What is wrong with an answer, for the person."""


def can_ask() -> bool:
    return os.isatty(0) and os.isatty(1)


def ask(question: str, understand: Callable[[str], T], suggestion: str = "") -> T:
    """Until the answer is understood. An empty one is the suggestion, if there is one."""
    while True:
        show.prompt(f"{question} [{suggestion}]: " if suggestion else f"{question}: ")
        answer = _line() or suggestion
        if not answer:
            continue
        try:
            return understand(answer)
        except NotUnderstood as why:
            show.line(f"{why}")


def _line() -> str:
    try:
        line = typer.get_text_stream("stdin", errors="replace").readline()
    except OSError:  # the terminal is gone
        line = ""
    if not line:
        show.line()
        raise NoAnswer
    return line.strip()


def numbers(answer: str, count: int) -> list[int]:
    """`2`, `1,3` or `all`, as places in a list of that length. Raises NotUnderstood."""
    if answer.lower() == "all":
        return list(range(count))
    words = answer.replace(",", " ").split()
    if not words or not all(word.isascii() and word.isdecimal() and 1 <= int(word) <= count for word in words):
        raise NotUnderstood(f"{answer!r} is not a number from 1 to {count}." if count > 1 else "There is only 1.")
    return list(dict.fromkeys(int(word) - 1 for word in words))


def typed_path(answer: str) -> str:
    """A path as it is typed, or dropped on a terminal, which quotes it or puts backslashes before spaces."""
    if len(answer) > 1 and answer[0] == answer[-1] and answer[0] in "'\"":
        return answer[1:-1]
    if os.sep == "/" and "\\" in answer:
        words = _words(answer)
        return words[0] if len(words) == 1 else answer
    return answer


def _words(answer: str) -> Sequence[str]:
    try:
        return shlex.split(answer)
    except ValueError:
        return []
