"""How the mistakes are made: plans that go wrong, and calls that are spoiled."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agents.calls import Call, Plan, Unable, one
from agents.editing import LOG_LINE
from agents.finding import told_of_cherries
from agents.notes import LAST_LINE, LOG_END, TRIP
from agents.seen import Seen
from agents.server import Server
from agents.tasks import Planned, edited, moved
from agents.tidying import BENCHES, NEW_NAME
from agents.undoing import LATER, TABLE, TRAIN
from agents.vault import Files

Spoiled = Callable[[Call, Mapping[str, Any]], Call]
ADDED = "- one more line"
LOGGED = edited((TRIP, LOG_END, f"{LOG_END}{LOG_LINE}\n"))


# Names


def logging(path: str) -> Planned:
    def plan(server: Server) -> Plan[str]:
        yield from server.append(server.called(path), LOG_LINE, "Log")
        return ""

    return plan


def appending(path: str, section: str = "") -> Planned:
    def plan(server: Server) -> Plan[str]:
        yield from server.append(server.called(path) if not section else path, ADDED, section)
        return ""

    return plan


def under_logs(server: Server) -> Plan[str]:
    yield from server.append(TRIP, LOG_LINE, "Logs")
    return ""


def added(path: str) -> Callable[[Files], Files]:
    return lambda files: {**files, path: files[path] + f"{ADDED}\n".encode()}


CAFE = unicodedata.normalize("NFC", "Café Notes.md")


# Texts


def replacing(path: str, old: str, new: str) -> Planned:
    def plan(server: Server) -> Plan[str]:
        yield from server.replace(path, old, new)
        return ""

    return plan


def stale(server: Server) -> Plan[str]:
    if not server.has_etags:
        raise Unable("it has no etags")
    yield from server.replace_if(TABLE, TRAIN, LATER, server.memory["etag"])
    return ""


# Arguments


def under_another_name(call: Call, schema: Mapping[str, Any]) -> Call:
    """The new text is called what no tool calls it."""
    given = {"replacement_text" if value == LATER else key: value for key, value in call.arguments.items()}
    return replace(call, arguments=given)


def text_for_list(call: Call, schema: Mapping[str, Any]) -> Call:
    given = {key: value[0] if isinstance(value, list) else value for key, value in call.arguments.items()}
    return replace(call, arguments=given)


def nulls(call: Call, schema: Mapping[str, Any]) -> Call:
    """Every argument that may be left out is there, as some frameworks send it."""
    optional = schema.get("properties", {}).keys() - set(schema.get("required", ())) - call.arguments.keys()
    return replace(call, arguments={**call.arguments, **dict.fromkeys(sorted(optional))})


def spoiling(plan: Planned, spoil: Spoiled, schema: Callable[[str], Mapping[str, Any]]) -> Planned:
    """The plan with its calls spoiled. Raises Unable where none of them can be."""

    def spoiled(server: Server) -> Plan[str]:
        inner, could = plan(server), False
        try:
            step = next(inner)
            while True:
                worse = tuple(spoil(call, schema(call.tool)) for call in step)
                could = could or worse != step
                step = inner.send((yield worse))
        except StopIteration as end:
            if not could:
                raise Unable("it has no such argument") from None
            return str(end.value or "")

    return spoiled


def move_one(server: Server) -> Plan[str]:
    yield from server.move(BENCHES[6:7], "Attic")
    return ""


BENCH_MOVED = moved({BENCHES[6]: "Attic/Bench 7.md"}, {})


def past_the_end(server: Server) -> Plan[str]:
    """The end of a note, by a line number that is a guess."""
    found = yield from server.lines("Handbook.md", 5_000, 20)
    last = found.value("lines", "totalLines", "total_lines", "lineCount")
    if LAST_LINE not in found.text and isinstance(last, int):
        found = yield from server.lines("Handbook.md", max(1, last - 19), 20)
    return "\n".join(found.strings())


def too_many(server: Server) -> Plan[str]:
    found = yield from server.search("cherries bloom week", 5_000)
    return (yield from told_of_cherries(server, found))


def outside(server: Server) -> Plan[str]:
    yield from server.append("../outside.md", ADDED)
    return ""


def empty_query(server: Server) -> Plan[str]:
    """What is there to see, when the agent has no word to look for."""
    found = yield from server.search("")
    return "\n".join(found.strings())


def unknown_operator(server: Server) -> Plan[str]:
    found = yield from server.search("status:planned cherries bloom week")
    return (yield from told_of_cherries(server, found))


def cancelled(server: Server) -> Plan[str]:
    """A rename that is taken back at once, and asked for again: it must be there whole, once."""
    first = server.rename(TRIP, NEW_NAME)
    yield tuple(replace(call, cancelled=True) for call in next(first))
    failed = yield from _pressing_on(server.rename(TRIP, NEW_NAME))
    if failed:
        yield from server.read(f"Travel/{NEW_NAME}.md")
    return ""


def _pressing_on(plan: Plan[Seen]) -> Plan[bool]:
    """Whether its first call failed, which may mean that it was done already; the rest is done all the same."""
    (found,) = yield tuple(replace(call, may_fail=True) for call in next(plan))
    failed = found.is_error
    with contextlib.suppress(StopIteration):
        step = plan.send([found])
        while True:
            step = plan.send((yield step))
    return failed


def half_read(server: Server) -> Plan[str]:
    """A page is taken for the whole note and written back. What the answer says of it decides."""
    page = yield from server.lines("Handbook.md", 1, 100)
    text = str(page.value("content") or page.text)
    written = yield from server.overwrite("Handbook.md", text + ADDED + "\n")
    replaced = written.value("replaced_lines", "replacedLines", "previous_lines")
    if isinstance(replaced, int) and replaced > 2 * text.count("\n"):
        yield from server.undo()
    return ""


def switched_off(server: Server) -> Plan[str]:
    """A tool that another configuration of the same server has."""
    yield from one(Call("obsidian_show_graph", {"name": TRIP}))
    return ""


def in_autumn(files: Files) -> Files:
    return edited(("Garden.md", "- raked leaves\n", f"- raked leaves\n{ADDED}\n"))(files)
