"""For pytest: every server that a test starts runs in the Windows Python and finds an Obsidian.com: `make windows`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import pytest

from tests.support import process
from tests.support.world import STANDIN, VAULT_ID, World
from tests.windows.machine import Machine
from tests.windows.making import cache, windows_path

# Promises that Wine can't judge, or that Windows can't keep. `tests/backends/files/test_windows.py` has the answers of
# Windows for most of the first.
LEFT_OUT = {
    "test_a_symbolic_link_": "Wine shows a link of this side as a plain file or folder",
    "test_a_place_on_the_disk_": "it names the folder as this side does",
    "test_only_the_case_can_change": "a rename that changes the case alone does nothing under Wine",
    "test_a_note_that_has_such_a_name_": "Windows can't hold such names",
}
# With the app every command costs a start of Python, so there some are chosen.
WITH_APP = """
    test_another_case_is_the_same_note test_text_that_the_command_cannot_carry_arrives_whole
    test_a_new_name_is_written_as_obsidian_would test_if_match_guards_an_overwrite
    test_appending_starts_a_line_and_changes_nothing_else test_what_the_command_cannot_carry_is_appended_whole
    test_inline_adds_no_newline test_adding_never_creates test_a_note_that_pretends_to_be_a_reply_is_read_as_a_note
    test_a_file_is_described test_opening_shows_the_note test_a_note_moves_to_a_folder
    test_a_destination_with_an_extension_is_the_whole_path test_a_rename_keeps_folder_and_extension
    test_nothing_is_ever_moved_over_another_note test_delete_goes_to_the_trash test_a_picture_can_be_deleted
    test_a_name_that_looks_like_the_commands_own_words_is_a_name test_a_missing_note_comes_with_the_three_nearest
    test_an_edit_leaves_foreign_bytes_alone
""".split()
MACHINE = Machine(cache())


def start(
    environment: Mapping[str, str], words: Sequence[str], stdin: int = subprocess.PIPE, **how: Unpack[process.How]
) -> subprocess.Popen[bytes]:
    started = MACHINE.start(environment, words, how.get("first", ""))
    if stdin == subprocess.DEVNULL and started.stdin:
        started.stdin.close()
    return started


def install(world: World) -> None:
    """Obsidian.com, and beside it how the stand-in is started."""
    command = world.command.with_name("Obsidian.com")
    shutil.copy(MACHINE.folder / "Obsidian.com", command)
    line = f'"{windows_path(MACHINE.python)}" -IS "{windows_path(STANDIN)}"'
    command.with_suffix(".line").write_text(line, encoding="utf-8")


_register = World.register


def register(world: World, vaults: Mapping[str, Path], opened: str = VAULT_ID) -> None:
    """The list of vaults as the app writes it there."""
    _register(world, {key: Path(windows_path(path)) for key, path in vaults.items()}, opened)


def pytest_configure() -> None:
    process.elsewhere = start
    setattr(World, "install", install)  # noqa: B010  # methods, for the whole run
    setattr(World, "register", register)  # noqa: B010


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    chosen: set[str] = set()
    items[:] = [item for item in items if "promises" not in item.path.parts or _is_chosen(item, chosen)]
    items.sort(key=lambda item: not _is_with_app(item))  # together, so that one worker needs a server for them
    for item in items:
        for begins, reason in LEFT_OUT.items():
            if item.name.startswith(begins):
                item.add_marker(pytest.mark.skip(reason=reason))


def _is_chosen(item: pytest.Item, before: set[str]) -> bool:
    """All on the files; with the app, the first of each that is wanted."""
    name = item.name.partition("[")[0]
    if _is_with_app(item) and name in WITH_APP and name not in before:
        before.add(name)
        return True
    return "embedded" in _grounds(item)


def _is_with_app(item: pytest.Item) -> bool:
    return "near" in _grounds(item)


def _grounds(item: pytest.Item) -> list[object]:
    parameters = getattr(item, "callspec", None)
    return [] if parameters is None else list(parameters.params.values())
