"""One check's outcome, and what the checks share."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import DOCTOR, Failure
from obsidian_mcp.settings import Settings
from obsidian_mcp.vaults import choice, probe

LIMIT = 10.0  # seconds for one question to the app


@dataclass(frozen=True, slots=True)
class Check:
    """`status` is ok, warn, fail or skip. The remedy is empty where there is nothing to do."""

    id: str
    status: str
    cause: str
    remedy: str = ""


class Examination:
    """The settings in force, and what has been found out so far."""

    def __init__(self, chosen: Settings) -> None:
        self.settings = chosen
        self.environ = chosen.environ
        self.embedded, self.command = choice(chosen)
        self.probe = probe(chosen, self.command) if self.command else None
        self.answers = False
        self.limit = min(LIMIT, chosen.timeout)

    def call(self) -> CallContext:
        return CallContext(self.limit)


def told(failure: Failure) -> str:
    """Elsewhere failures send people here."""
    return failure.told_to(DOCTOR)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
