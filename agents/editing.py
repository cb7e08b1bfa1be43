"""Eight tasks that change one note."""

from __future__ import annotations

from agents.calls import Plan
from agents.notes import CONTRACT, DAILY, DAILY_TEXT, HANDBOOK_SENTENCE, LOG_END, TRIP
from agents.oracles import in_any_order, without_blank_lines
from agents.server import Server
from agents.tasks import Task, edited
from agents.vault import Files

LOG_LINE = "- 18 Nov: the rail passes are ordered"
NEW_SENTENCE = "Visitors must sign the red book at gate nine."
STRAIGHT = '"The sea," she wrote, "isn\'t calm." Nobody answered.'
CALMER = '"The sea," she wrote, "isn\'t calm." Everybody answered.'
NEW_PLAN = "New plan, line one.\nNew plan, line two."
THOUGHTS = "- read the letter\n- wrote to Ana\n- mended the chair\n- baked bread\n- slept early"


def log_line(server: Server) -> Plan[str]:
    yield from server.append(TRIP, LOG_LINE, "Log")
    return ""


def sentence(server: Server) -> Plan[str]:
    yield from server.replace("Handbook.md", HANDBOOK_SENTENCE, NEW_SENTENCE)
    return ""


def second_line(server: Server) -> Plan[str]:
    yield from server.replace("Training.md", "- Run 5 km", "- Run 8 km", "Week 2", "## Week 2\n\n")
    return ""


def one_property(server: Server) -> Plan[str]:
    yield from server.set_property("Projects/Lighthouse.md", "status", "done")
    return ""


def tick(server: Server) -> Plan[str]:
    yield from server.tick("Shopping.md", "Buy green tea")
    return ""


def quotes(server: Server) -> Plan[str]:
    yield from server.replace("Essay.md", STRAIGHT, CALMER)
    return ""


def five_lines(server: Server) -> Plan[str]:
    yield from server.append(DAILY, THOUGHTS)
    return ""


def windows_section(server: Server) -> Plan[str]:
    old = CONTRACT.partition("## Plan\r\n\r\n")[2].partition("\r\n\r\n")[0].replace("\r\n", "\n")
    yield from server.replace_section("Contract.md", "Plan", old, NEW_PLAN)
    return ""


def with_new_plan(files: Files) -> Files:
    old, new = "Old plan, line one.\r\nOld plan, line two.", NEW_PLAN.replace("\n", "\r\n")
    return edited(("Contract.md", old, new))(files)


def plain_quotes(content: bytes) -> bytes:
    """The person gave straight quotes: both kinds are what was asked for."""
    return content.replace("“".encode(), b'"').replace("”".encode(), b'"').replace("’".encode(), b"'")


def whole(files: Files) -> Files:
    return {**files, "Essay.md": plain_quotes(files["Essay.md"]).replace(b"Nobody", b"Everybody")}


EDITING = (
    Task("a log line", "edit", f'Add the line "{LOG_LINE}" under the heading Log of {TRIP}.', log_line,
         edited((TRIP, LOG_END, f"{LOG_END}{LOG_LINE}\n")), form=without_blank_lines, common=True,
         first=("obsidian_append_note",)),
    Task("a sentence", "edit", f'In Handbook.md, replace "{HANDBOOK_SENTENCE}" by "{NEW_SENTENCE}".', sentence,
         edited(("Handbook.md", HANDBOOK_SENTENCE, NEW_SENTENCE)), common=True, first=("obsidian_edit_note",)),
    Task("the second of two", "edit", 'In Training.md, change "- Run 5 km" of Week 2 to "- Run 8 km".', second_line,
         edited(("Training.md", "- Run 5 km\n- Rest", "- Run 8 km\n- Rest")), common=True,
         first=("obsidian_edit_note", "obsidian_read_note")),
    Task("a property", "edit", "Set the property status of Projects/Lighthouse.md to done.", one_property,
         edited(("Projects/Lighthouse.md", "status: active", "status: done")), common=True,
         first=("obsidian_set_properties",)),
    Task("a tick", "edit", 'Tick the task "Buy green tea" in Shopping.md.', tick,
         edited(("Shopping.md", "- [ ] Buy green tea", "- [x] Buy green tea")), common=True,
         first=("obsidian_set_task", "obsidian_edit_note")),
    Task("curly quotes", "edit", f"In Essay.md, replace {STRAIGHT} by {CALMER}", quotes, whole, form=plain_quotes,
         common=True, first=("obsidian_edit_note",)),
    Task("five lines", "edit", f"Add these lines at the end of {DAILY}:\n{THOUGHTS}", five_lines,
         lambda files: {**files, DAILY: f"{DAILY_TEXT}{THOUGHTS}\n".encode()}, form=in_any_order,
         first=("obsidian_append_note",)),
    Task("a section with CRLF", "edit", f"Replace the text of the section Plan in Contract.md by:\n{NEW_PLAN}",
         windows_section, with_new_plan, first=("obsidian_edit_note",)),
)  # fmt: skip
