"""One check's outcome, and what the checks share."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import DOCTOR, Failure
from obsidian_mcp.hosts.options import place_of
from obsidian_mcp.settings import Settings, UsageError
from obsidian_mcp.vaults import choice, meant
from obsidian_mcp.vaults.behind import probe

LIMIT = 10.0  # seconds for one question to the app


@dataclass(frozen=True, slots=True)
class Check:
    """`status` is ok, warn, fail or skip. The remedy is empty where there is nothing to do; what can be done by a
    command is that command, or ends with it.
    """

    id: str
    status: str
    cause: str
    remedy: str = ""
    brief: str = ""  # for people, where the cause is long

    def as_json(self) -> dict[str, str]:
        return {"id": self.id, "status": self.status, "cause": self.cause, "remedy": self.remedy}


class Examination:
    """The settings in force, and what has been found out so far."""

    def __init__(self, chosen: Settings) -> None:
        self.settings = chosen
        self.environ = chosen.environ
        self.embedded, self.command = choice(chosen)
        self.probe = probe(chosen, self.command) if self.command else None
        self.answers = False
        self.better: list[str] | None = None  # the vaults that must be meant, where a folder is surely not
        self.wanted: tuple[str, ...] = ()  # the vaults that are examined
        with contextlib.suppress(UsageError):
            self.wanted = meant(chosen)
        self.limit = min(LIMIT, chosen.timeout)

    @property
    def places(self) -> set[str]:
        """Their folders."""
        return {place_of(vault, self.environ) for vault in self.wanted}

    def call(self) -> CallContext:
        return CallContext(self.limit)


def told(failure: Failure) -> str:
    """Elsewhere failures send people here."""
    return failure.told_to(DOCTOR)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
