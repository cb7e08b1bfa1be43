"""The words in which an agent's plan speaks: calls out, what is seen of them in."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from agents.seen import Seen


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    changes: bool = False
    guards: Mapping[str, Any] = field(default_factory=dict)  # arguments that make it safer, and that it works without
    is_extra: bool = False  # a look that is not needed to go on
    may_fail: bool = False  # what is said of a failure is for the plan, which goes on
    cancelled: bool = False  # taken back as soon as it is sent
    apart: Sequence[Call] = ()  # the same done by several calls that don't wait for each other

    def sent(self, guarded: bool = True) -> dict[str, Any]:
        return {**self.arguments, **(self.guards if guarded else {})}

    def with_arguments(self, arguments: Mapping[str, Any]) -> Call:
        return replace(self, arguments=dict(arguments), guards={})


Step = tuple[Call, ...]
T = TypeVar("T")
Plan = Generator[Step, list[Seen], T]


class Unable(Exception):
    """The server has no way to do it."""


class Stopped(Exception):
    """The agent gives up, with the reason that it was told."""


def ask(tool: str, **arguments: Any) -> Plan[Seen]:
    """One call that only reads."""
    return one(Call(tool, arguments))


def change(tool: str, guards: Mapping[str, Any] | None = None, **arguments: Any) -> Plan[Seen]:
    return one(Call(tool, arguments, changes=True, guards={k: v for k, v in (guards or {}).items() if v is not None}))


def one(call: Call) -> Plan[Seen]:
    (found,) = yield (call,)
    return found
