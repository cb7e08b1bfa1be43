"""Six tasks that take back a change, or meet one that somebody else has made."""

from __future__ import annotations

from pathlib import Path

from agents.calls import Plan
from agents.notes import HANDBOOK_SENTENCE, TRIP
from agents.oracles import links_by_note
from agents.server import Server
from agents.tasks import Planned, Task, edited, unchanged
from agents.tidying import NEW_NAME

TRAIN, LATER = "The train leaves at 9:40 from platform 3.", "The train leaves at 10:15 from platform 3."
BUS, BUS_NOW = "The bus leaves at 8:05 from the church.", "The bus leaves at 8:25 from the bridge."
OTHER = "Visitors need not sign anything."
TABLE = "Timetable.md"


def replaced(path: str, old: str, new: str) -> Planned:
    def plan(server: Server) -> Plan[str]:
        yield from server.replace(path, old, new)
        return ""

    return plan


def renamed(server: Server) -> Plan[str]:
    yield from server.rename(TRIP, NEW_NAME)
    return ""


def deleted(server: Server) -> Plan[str]:
    yield from server.delete("Essay.md")
    return ""


def three_edits(server: Server) -> Plan[str]:
    yield from server.replace(TABLE, TRAIN, LATER)
    yield from server.replace("Handbook.md", HANDBOOK_SENTENCE, OTHER)
    yield from server.set_property("Projects/Aqueduct.md", "status", "done")
    return ""


def looked(server: Server) -> Plan[str]:
    server.memory["etag"] = (yield from server.etag(TABLE)) if server.has_etags else ""
    return ""


def mind_the_person(server: Server) -> Plan[str]:
    """With the etag of before, where there are etags: the server has to notice."""
    etag = server.memory["etag"]
    yield from server.replace_if(TABLE, TRAIN, LATER, etag) if etag else server.replace(TABLE, TRAIN, LATER)
    return ""


def rename_back(server: Server) -> Plan[str]:
    yield from server.undo() if server.undoes else server.rename(f"Travel/{NEW_NAME}.md", "Kyoto Trip")
    return ""


def restore(server: Server) -> Plan[str]:
    yield from server.undo() if server.undoes else server.undelete("Essay.md")
    return ""


def keep_the_persons(server: Server) -> Plan[str]:
    yield from server.undo_merging(TABLE) if server.undoes else server.replace(TABLE, LATER, TRAIN)
    return ""


def not_the_last(server: Server) -> Plan[str]:
    yield from server.undo_of(TABLE) if server.undoes else server.replace(TABLE, LATER, TRAIN)
    return ""


def all_of_it(server: Server) -> Plan[str]:
    if server.undoes:
        yield from server.undo_all()
    else:
        yield from server.replace(TABLE, LATER, TRAIN)
        yield from server.replace("Handbook.md", OTHER, HANDBOOK_SENTENCE)
        yield from server.set_property("Projects/Aqueduct.md", "status", "active")
    return ""


def person_moves_the_bus(root: Path) -> None:
    file = root / TABLE
    file.write_bytes(file.read_bytes().replace(BUS.encode(), BUS_NOW.encode()))


HAND = "I have edited the note by hand meanwhile; that must stay."
UNDOING = (
    Task("a conflict", "undo", f'In Timetable.md, replace "{TRAIN}" by "{LATER}". {HAND}', mind_the_person,
         edited((TABLE, BUS, BUS_NOW), (TABLE, TRAIN, LATER)), staged=looked, meddle=person_moves_the_bus,
         first=("obsidian_edit_note", "obsidian_read_note")),
    Task("undo a rename", "undo", f"Take back the renaming of {TRIP} with all its links.", rename_back, staged=renamed,
         form=links_by_note, first=("obsidian_undo_change", "obsidian_list_changes")),
    Task("undo a deletion", "undo", "Bring back the note Essay.md that you have just deleted.", restore, staged=deleted,
         first=("obsidian_undo_change", "obsidian_list_changes")),
    Task("undo beside a person", "undo", f"Take back your change in Timetable.md. {HAND}", keep_the_persons,
         edited((TABLE, BUS, BUS_NOW)), staged=replaced(TABLE, TRAIN, LATER), meddle=person_moves_the_bus,
         first=("obsidian_undo_change", "obsidian_list_changes")),
    Task("undo an older one", "undo", "Take back your change in Timetable.md, and only that one.", not_the_last,
         lambda files: edited(("Handbook.md", HANDBOOK_SENTENCE, OTHER),
                              ("Projects/Aqueduct.md", "status: active", "status: done"))(files),
         staged=three_edits, first=("obsidian_list_changes", "obsidian_undo_change")),
    Task("undo everything", "undo", "Take back everything that you have changed today.", all_of_it, unchanged,
         staged=three_edits, first=("obsidian_undo_change", "obsidian_list_changes")),
)  # fmt: skip
