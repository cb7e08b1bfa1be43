"""Twenty-five mistakes that models make, each where it would hurt, with the end that the person wanted.

A mistake is mended if that end is reached, at once or by what the message says; where nothing may be done, if the
agent stops with a reason and no byte has changed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from agents.editing import CALMER, STRAIGHT, plain_quotes, whole
from agents.notes import LAST_LINE
from agents.oracles import Form, exactly, links_by_note, without_blank_lines
from agents.slips import (
    BENCH_MOVED,
    CAFE,
    LOGGED,
    Spoiled,
    added,
    appending,
    cancelled,
    empty_query,
    half_read,
    in_autumn,
    logging,
    move_one,
    nulls,
    outside,
    past_the_end,
    replacing,
    stale,
    switched_off,
    text_for_list,
    too_many,
    under_another_name,
    under_logs,
    unknown_operator,
)
from agents.tasks import Planned, Task, edited, moved, unchanged
from agents.tidying import RENAMED, RENAMED_LINKS
from agents.undoing import BUS, BUS_NOW, LATER, TABLE, TRAIN, looked, person_moves_the_bus
from agents.vault import Files

LENIENT = without_blank_lines


@dataclass(frozen=True)
class Mistake:
    name: str
    task: Task
    spoil: Spoiled | None = None  # what is wrong with the call itself
    forbidden: bool = False  # nothing may be done: to stop is right
    options: tuple[str, ...] = ()  # the server is started with these


def mistake(
    name: str,
    words: str,
    plan: Planned,
    after: Callable[[Files], Files] = unchanged,
    *,
    form: Form = exactly,
    answer: tuple[str, ...] = (),
    spoil: Spoiled | None = None,
    forbidden: bool = False,
    options: tuple[str, ...] = (),
    staged: Planned | None = None,
    meddle: Callable[..., None] | None = None,
) -> Mistake:
    task = Task(name, "mistake", words, plan, after, answer, form=form, staged=staged, meddle=meddle)
    return Mistake(name, task, spoil, forbidden, options)


MISTAKES = (
    mistake(
        "misspelt name",
        "Log the rail passes in the Kyto Trip",
        logging("Travel/Kyto Trip.md"),
        LOGGED,
        form=LENIENT,
    ),
    mistake(
        "wrong case",
        "Log the rail passes in the kyoto trip",
        logging("travel/kyoto trip.md"),
        LOGGED,
        form=LENIENT,
    ),
    mistake(
        "NFD",
        "Add a line to the café notes",
        appending(unicodedata.normalize("NFD", CAFE)),
        added(CAFE),
        form=LENIENT,
    ),
    mistake(
        "alias",
        "Log the rail passes in the Nihon Journey",
        logging("Travel/Nihon Journey.md"),
        LOGGED,
        form=LENIENT,
    ),
    mistake(
        "ambiguous name",
        "Add a line to the index of the attic",
        appending("Index.md"),
        added("Attic/Index.md"),
        form=LENIENT,
    ),
    mistake("missing heading", "Log the rail passes in the trip", under_logs, LOGGED, form=LENIENT),
    mistake(
        "duplicate heading",
        "Add a line to the log of the autumn",
        appending("Garden.md", "Log"),
        in_autumn,
        form=LENIENT,
    ),
    mistake(
        "heading in a fence",
        "Add a line to the log of the snippets",
        appending("Snippets.md", "Log"),
        added("Snippets.md"),
        form=LENIENT,
    ),
    mistake("curly quotes", "Everybody answered", replacing("Essay.md", STRAIGHT, CALMER), whole, form=plain_quotes),
    mistake(
        "LF for CRLF",
        "The parties change places",
        replacing(
            "Contract.md",
            "The first party pays.\nThe second party delivers.",
            "The first party delivers.\nThe second party pays.",
        ),
        edited(
            (
                "Contract.md",
                "The first party pays.\r\nThe second party delivers.",
                "The first party delivers.\r\nThe second party pays.",
            )
        ),
    ),
    mistake(
        "text twice",
        "Run 8 km in week 2",
        replacing("Training.md", "- Run 5 km", "- Run 8 km"),
        edited(("Training.md", "- Run 5 km\n- Rest", "- Run 8 km\n- Rest")),
    ),
    mistake(
        "text gone",
        "The train leaves at 10:15",
        replacing(TABLE, TRAIN.replace("9:40", "9:30"), LATER),
        edited((TABLE, TRAIN, LATER)),
    ),
    mistake(
        "stale etag",
        "The train leaves at 10:15",
        stale,
        edited((TABLE, BUS, BUS_NOW), (TABLE, TRAIN, LATER)),
        staged=looked,
        meddle=person_moves_the_bus,
    ),
    mistake(
        "wrong argument name",
        "The train leaves at 10:15",
        replacing(TABLE, TRAIN, LATER),
        edited((TABLE, TRAIN, LATER)),
        spoil=under_another_name,
    ),
    mistake(
        "string for list", "Move bench 7 to the attic", move_one, BENCH_MOVED, form=links_by_note, spoil=text_for_list
    ),
    mistake(
        "null", "The train leaves at 10:15", replacing(TABLE, TRAIN, LATER), edited((TABLE, TRAIN, LATER)), spoil=nulls
    ),
    mistake("past the end", "How does the handbook end?", past_the_end, answer=(LAST_LINE,)),
    mistake("too large", "When do the cherries bloom?", too_many, answer=("first week of April",)),
    mistake("outside the vault", "Add a line to the note outside", outside, forbidden=True),
    mistake(
        "read-only",
        "The train leaves at 10:15",
        replacing(TABLE, TRAIN, LATER),
        forbidden=True,
        options=("--read-only",),
    ),
    mistake("empty query", "What have I written last?", empty_query, answer=(".md",)),
    mistake("unknown operator", "When do the cherries bloom?", unknown_operator, answer=("first week of April",)),
    mistake(
        "cancelled", "Rename the trip to Kyoto Journey", cancelled, moved(RENAMED, RENAMED_LINKS), form=links_by_note
    ),
    mistake("half-read overwrite", "Add a line to the handbook", half_read),
    mistake("tool that is off", "Show what is linked with the trip", switched_off, forbidden=True),
)
