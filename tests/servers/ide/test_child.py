"""The program that an IDE door is opened for, as Windows has to be told to start it. `make windows` starts one."""

from __future__ import annotations

import shutil

import pytest

from obsidian_mcp.servers.ide.child import command_line

ENVIRON = {"PATH": "C:\\npm", "COMSPEC": "C:\\Windows\\cmd.exe"}


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    places: dict[str, str] = {}
    monkeypatch.setattr(shutil, "which", lambda name, path: places.get(name))
    return places


def test_a_program_is_started_from_where_it_is(found: dict[str, str]) -> None:
    found["claude"] = "C:\\npm\\claude.EXE"
    assert command_line(["claude", "a b"], ENVIRON, "win32") == ["C:\\npm\\claude.EXE", "a b"]


def test_every_word_for_a_batch_file_stands_in_quotes(found: dict[str, str]) -> None:
    found["claude"] = "C:\\npm\\claude.cmd"
    line = command_line(["claude", "a&b", 'say "x"'], ENVIRON, "win32")
    assert line == '"C:\\Windows\\cmd.exe" /d /s /c ""C:\\npm\\claude.cmd" "a&b" "say ""x""""'


def test_one_that_is_not_found_is_left_to_the_system(found: dict[str, str]) -> None:
    assert command_line(["claude"], ENVIRON, "win32") == ["claude"]


def test_elsewhere_the_words_are_as_they_were(found: dict[str, str]) -> None:
    assert command_line(["claude", "x"], ENVIRON, "linux") == ["claude", "x"]
