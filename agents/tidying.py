"""Four tasks that change many notes."""

from __future__ import annotations

from agents.calls import Plan
from agents.notes import TRIP
from agents.oracles import links_by_note
from agents.server import Server
from agents.tasks import Task, everywhere, moved

NEW_NAME = "Kyoto Journey"
RENAMED = {TRIP: f"Travel/{NEW_NAME}.md"}
RENAMED_LINKS = {
    "[[Kyoto Trip": f"[[{NEW_NAME}",
    "Kyoto%20Trip": "Kyoto%20Journey",
    "[[Travel/Kyoto Trip": f"[[Travel/{NEW_NAME}",
}
BENCHES = [f"Workshop/Bench {number}.md" for number in range(1, 9)]
MOVED = {path: f"Archive/{path}" for path in BENCHES}
PLACES = 9


def rename(server: Server) -> Plan[str]:
    yield from server.rename(TRIP, NEW_NAME)
    return ""


def move(server: Server) -> Plan[str]:
    yield from server.move(BENCHES, "Archive", "Workshop")
    return ""


def rename_tag(server: Server) -> Plan[str]:
    yield from server.rename_tag("projekt", "project")
    return ""


def company(server: Server) -> Plan[str]:
    yield from server.replace_everywhere("Acme GmbH", "Acme AG", PLACES)
    return ""


TIDYING = (
    Task("a rename", "tidy", f"Rename {TRIP} to {NEW_NAME}; every link to it must still lead there.", rename,
         moved(RENAMED, RENAMED_LINKS), form=links_by_note, common=True, first=("obsidian_rename_note",)),
    Task("a folder", "tidy", "Move the folder Workshop with all its notes into the folder Archive, links included.",
         move, moved(MOVED, {"[[Workshop/Bench": "[[Archive/Workshop/Bench"}), form=links_by_note,
         first=("obsidian_move_notes", "obsidian_list_folder")),
    Task("a tag", "tidy", "Rename the tag projekt, with the tags below it, to project in the whole vault.", rename_tag,
         everywhere("#projekt", "#project"), first=("obsidian_rename_term",)),
    Task("a company", "tidy", 'Write "Acme AG" for "Acme GmbH" in every note; it stands in nine places.', company,
         everywhere("Acme GmbH", "Acme AG"), first=("obsidian_replace_in_notes",)),
)  # fmt: skip
