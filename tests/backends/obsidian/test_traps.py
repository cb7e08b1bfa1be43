"""The traps of the Obsidian CLI, each as the stand-in sets it."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.client import Server, ToolFailed
from tests.support.world import World

CALLS: dict[str, dict[str, Any]] = {
    "create_note": {"name": "Folder/New", "content": "x"},
    "read_note": {"name": "Note"},
    "append_note": {"name": "Note", "content": "x"},
    "prepend_note": {"name": "Note", "content": "x"},
    "delete_note": {"name": "Note"},
    "move_note": {"name": "Note", "to": "Folder"},
    "rename_note": {"name": "Note", "new_name": "Other"},
    "open_note": {"name": "Note"},
    "file_info": {"name": "Note"},
}
WRITES = [tool for tool in CALLS if tool not in ("read_note", "open_note", "file_info")]
COMMANDS = {tool: tool.partition("_")[0] for tool in WRITES}
every_tool = pytest.mark.parametrize("tool", CALLS)
every_write = pytest.mark.parametrize("tool", WRITES)


@pytest.fixture(scope="session")
def impatient_server(shared_world: World) -> Iterator[Server]:
    """For commands that hang at once: a busy machine makes no difference to them."""
    with Server(shared_world.environment(), "--vault", "Vault", "--timeout", "0.3") as server:
        yield server.initialize()


@pytest.fixture(scope="session")
def hasty_server(shared_world: World) -> Iterator[Server]:
    with Server(shared_world.environment(), "--vault", "Vault", "--timeout", "3") as server:
        yield server.initialize()


def failure(server: Server, tool: str, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        server.call(tool, **(arguments or CALLS[tool]))
    return caught.value


@pytest.fixture
def vault(world: World) -> World:
    world.put("Note.md", "text\n")
    world.put("Folder/Other note.md", "other\n")
    return world


@every_tool
@pytest.mark.parametrize("mood", ["not-running", "not-running-old"])
def test_an_app_that_is_not_running_is_told_from_everything_else(
    vault: World, server: Server, tool: str, mood: str
) -> None:
    before = vault.tree()
    vault.mood(mood)
    failed = failure(server, tool)
    assert (failed.code, failed.error_code) == (-32001, "OBSIDIAN_NOT_RUNNING")
    assert vault.tree() == before


@every_tool
def test_a_command_line_that_is_switched_off_says_where_to_switch_it_on(
    vault: World, server: Server, tool: str
) -> None:
    vault.mood("disabled")
    failed = failure(server, tool)
    assert (failed.code, failed.error_code) == (-32000, "CLI_DISABLED")
    assert "Settings" in failed.message


@every_tool
def test_a_vault_whose_window_is_closed_is_asked_once_more(vault: World, server: Server, tool: str) -> None:
    vault.mood("closed")
    assert server.call(tool, **CALLS[tool])
    words = vault.commands()
    assert words[0] == words[1]
    assert all(one != other for one, other in itertools.pairwise(words[1:]))


def test_a_command_that_does_not_exist_is_asked_for_twice_and_no_more(vault: World, server: Server) -> None:
    vault.mood("unknown")
    assert failure(server, "append_note", name="Note.md", content="x").error_code == "CLI_FAILED"
    assert [words[0] for words in vault.commands()] == ["append", "append"]


@every_tool
@pytest.mark.parametrize("mood", ["noise", "crlf"])
def test_noise_before_a_reply_is_no_part_of_it(vault: World, server: Server, tool: str, mood: str) -> None:
    vault.mood(mood)
    done = server.call(tool, **CALLS[tool])
    assert done.get("content", "text\n") == "text\n"


@every_write
def test_a_success_that_did_not_happen_is_a_failure(vault: World, server: Server, tool: str) -> None:
    vault.mood("lying")
    before = vault.tree()
    failed = failure(server, tool)
    assert (failed.code, failed.error_code) == (-32000, "CLI_FAILED")
    assert vault.tree() == before


@every_write
def test_a_permission_that_the_app_lacks_is_named(vault: World, server: Server, tool: str) -> None:
    vault.mood("denied")
    failed = failure(server, tool)
    assert (failed.code, failed.error_code) == (-32005, "PERMISSION_DENIED")


@every_tool
@pytest.mark.parametrize("mood", ["type-error", "crash", "die"])
def test_a_command_that_breaks_is_a_failure(vault: World, server: Server, tool: str, mood: str) -> None:
    vault.mood(mood)
    failed = failure(server, tool)
    assert (failed.code, failed.error_code) == (-32000, "CLI_FAILED")


@every_write
def test_a_write_that_dies_half_way_is_not_repeated(vault: World, server: Server, tool: str) -> None:
    vault.mood("die-after", commands=[COMMANDS[tool]])
    failed = failure(server, tool)
    assert failed.error_code == "CLI_FAILED"
    assert "may have taken effect" in failed.message
    assert [words[0] for words in vault.commands()].count(COMMANDS[tool]) == 1


@every_tool
def test_a_command_that_hangs_is_ended_with_all_it_started(vault: World, impatient_server: Server, tool: str) -> None:
    vault.mood("hang-with-child")
    failed = failure(impatient_server, tool)
    assert (failed.code, failed.error_code) == (-32006, "TIMEOUT")
    vault.wait_until_all_are_gone()


@every_write
def test_a_write_that_times_out_may_still_happen_and_is_not_repeated(
    vault: World, hasty_server: Server, tool: str
) -> None:
    vault.mood("hang-after", commands=[COMMANDS[tool]])
    failed = failure(hasty_server, tool)
    assert failed.code == -32006
    assert "may still take effect" in failed.message
    assert [words[0] for words in vault.commands()].count(COMMANDS[tool]) == 1


def test_the_limit_is_for_the_whole_call(vault: World, hasty_server: Server) -> None:
    vault.mood("slow", seconds=1.6)
    assert failure(hasty_server, "read_note").code == -32006
    assert len(vault.commands()) == 2


def test_a_flood_is_ended_and_not_held(own_world: World) -> None:
    own_world.put("Note.md", "text")
    own_world.mood("flood")
    with Server(own_world.environment(), "--vault", "Vault", forked=False) as server:
        assert failure(server.initialize(), "read_note").error_code == "CLI_FAILED"
        own_world.wait_until_all_are_gone()
        assert server.peak_mb() < 200  # a stand-in writes more than that in a second


def test_a_command_that_says_nothing_is_not_believed(vault: World, server: Server) -> None:
    vault.mood("empty", commands=["files"])
    assert failure(server, "read_note", name="Note").error_code == "CLI_FAILED"


def test_a_child_that_closes_its_pipes_and_lives_on_is_ended(vault: World, server: Server) -> None:
    vault.mood("close-pipes")
    assert server.call("read_note", name="Note.md")["content"] == "text\n"
    vault.wait_until_all_are_gone()


def test_pipes_that_something_else_holds_open_do_not_hold_up_the_call(vault: World, server: Server) -> None:
    vault.mood("leave-pipes-open")
    try:
        assert server.call("read_note", name="Note.md")["content"] == "text\n"
    finally:
        for record in vault.records():
            if record["phase"] == "child":
                os.kill(record["child"], signal.SIGKILL)
    vault.wait_until_all_are_gone()


def test_a_note_that_appears_at_the_last_moment_is_not_overwritten(vault: World, server: Server) -> None:
    vault.mood("race")
    failed = failure(server, "create_note", name="Late", content="mine")
    assert "Late 1.md" in failed.message
    assert vault.get("Late.md") == b"made by somebody else"


def test_no_argument_is_ever_longer_than_windows_can_carry(vault: World, server: Server) -> None:
    vault.mood("argument-limit")
    for size in (2900, 3100, 4000, 200_000):
        server.call("create_note", name=f"N{size}", content="x" * size)
        server.call("append_note", name=f"N{size}", content="y" * size)
        assert vault.get(f"N{size}.md") == b"x" * size + b"\n" + b"y" * size
    assert max(len(word.encode()) for words in vault.commands() for word in words) < 3500


@every_tool
def test_every_command_names_the_vault_first_and_a_path_that_is_not_empty(
    vault: World, server: Server, tool: str
) -> None:
    vault.state(active="Folder/Other note.md")
    server.call(tool, **CALLS[tool])
    for record in vault.records():
        first, command, *rest = record["argv"]
        assert first == "vault=Vault"
        assert command == "files" or (rest[0].startswith("path=") and rest[0] != "path=")
        assert not any(word.startswith(("vault=", "file=")) for word in rest)


@pytest.mark.parametrize("tool", [tool for tool in CALLS if tool != "create_note"])
def test_the_note_that_happens_to_be_open_is_never_meant(vault: World, server: Server, tool: str) -> None:
    vault.put("Open.md", "open")
    vault.state(active="Open.md")
    assert failure(server, tool, **{**CALLS[tool], "name": "Missing"}).code == -32003
    assert vault.get("Open.md") == b"open"


def test_the_app_gets_time_to_notice_a_file_that_was_written_beside_it(vault: World, server: Server) -> None:
    vault.mood(None, notices_after=4)
    assert server.call("create_note", name="Latex", content="\\nu")["created"] is True
    assert vault.get("Latex.md") == b"\\nu"


def test_an_app_that_never_notices_is_reported(vault: World, server: Server) -> None:
    vault.mood(None, notices_after=1_000_000)
    failed = failure(server, "create_note", name="Latex", content="\\nu")
    assert (failed.code, failed.error_code) == (-32000, "CLI_FAILED")
    assert "is on disk" in failed.message
    assert vault.get("Latex.md") == b"\\nu"


@pytest.mark.parametrize("mood", ["not-running", "disabled", "hang"])
def test_nothing_is_written_beside_an_app_that_does_not_answer(
    vault: World, server: Server, impatient_server: Server, mood: str
) -> None:
    before = vault.tree()
    vault.mood(mood)
    for tool, arguments in (
        ("create_note", {"name": "Latex", "content": "\\nu"}),
        ("append_note", {"name": "Note.md", "content": "\\nu"}),
        ("create_note", {"name": "Note.md", "content": "\\nu", "overwrite": True}),
    ):
        failure(impatient_server if mood == "hang" else server, tool, **arguments)
    assert vault.tree() == before


def test_the_variable_that_breaks_the_old_binary_is_not_passed_on(own_world: World) -> None:
    own_world.put("Note.md", "x")
    environment = own_world.environment(ELECTRON_RUN_AS_NODE="1")
    with Server(environment, "--vault", "Vault") as server:
        server.initialize().call("read_note", name="Note")
    assert {record.get("electron") for record in own_world.records()} == {None}


def test_without_the_folder_in_reach_text_that_cannot_be_carried_is_refused(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood(None, far=True)
    before = own_world.tree()
    with Server(own_world.far_environment(), "--vault", "Vault") as server:
        server.initialize()
        for tool in ("append_note", "prepend_note"):
            assert failure(server, tool, name="Note", content="\\nu").error_code == "CLI_FAILED"
        assert failure(server, "create_note", name="New", content="\\nu").error_code == "CLI_FAILED"
        assert failure(server, "move_note", name="Note", to="No such folder").error_code == "CLI_FAILED"
    assert own_world.tree() == before


def test_what_the_app_loses_when_it_shows_a_note_is_taken_from_the_file(vault: World, server: Server) -> None:
    vault.mood("lossy")
    for data in (b"\xef\xbb\xbfx\r\ny\r\n", b"\xef\xbb\xbfVault not found.", b"\xef\xbb\xbfError: hello"):
        vault.put("Lossy.md", data)
        assert server.call("read_note", name="Lossy.md")["content"].encode() == data
    vault.put("Latin.md", b"TypeError: caf\xe9")
    assert failure(server, "read_note", name="Latin.md").error_code == "NOT_TEXT"


def test_what_the_app_would_lose_is_not_given_to_it(vault: World, server: Server) -> None:
    vault.mood("lossy")
    for data in (b"\xef\xbb\xbfx\n", b"x\r\n"):
        vault.put("Lossy.md", data)
        server.call("append_note", name="Lossy.md", content="y")
        assert vault.get("Lossy.md") == data + b"y"


def test_another_text_than_the_files_is_not_taken_for_the_note(vault: World, server: Server) -> None:
    vault.mood("empty", commands=["read"])
    assert failure(server, "read_note", name="Note.md").error_code == "CLI_FAILED"


def test_a_move_that_leaves_the_old_note_is_a_failure(vault: World, server: Server) -> None:
    vault.mood("copying")
    assert failure(server, "move_note").error_code == "CLI_FAILED"


def test_a_failed_move_takes_its_new_folders_back(vault: World, server: Server) -> None:
    vault.mood("denied")
    failure(server, "move_note", name="Note", to="New/Deep")
    assert not (vault.vault / "New").exists()


@every_write
def test_a_success_with_more_to_it_than_is_known_may_have_happened(vault: World, server: Server, tool: str) -> None:
    vault.mood("chatty", commands=[COMMANDS[tool]])
    failed = failure(server, tool)
    assert failed.error_code == "CLI_FAILED"
    assert "may have taken effect" in failed.message


def test_a_note_edited_at_the_last_moment_is_read_again_not_overwritten(vault: World, server: Server) -> None:
    vault.mood("meddling")
    server.call("append_note", name="Note.md", content="\\nu")
    assert vault.get("Note.md") == b"text\nmeddled\n\\nu"


def test_a_description_of_another_file_is_not_taken(vault: World, server: Server) -> None:
    vault.mood("other-path", path="Folder/Other note.md")
    assert failure(server, "file_info", name="Note.md").error_code == "CLI_FAILED"


def test_an_app_that_dies_after_the_write_does_not_ask_for_another(vault: World, server: Server) -> None:
    """Its `file` answers once before the write, and no more after it."""
    vault.mood("not-running", commands=["file"], from_call=2)
    failed = failure(server, "append_note", name="Note.md", content="\\nu")
    assert failed.code == -32001
    assert "may have taken effect" in failed.message
    assert vault.get("Note.md") == b"text\n\\nu"


def test_an_error_of_several_lines_is_not_a_list_of_notes(vault: World, server: Server) -> None:
    vault.mood("multi-line-error", commands=["files"])
    assert failure(server, "read_note", name="Note").error_code == "CLI_FAILED"


def test_a_note_whose_name_looks_like_noise_is_found(vault: World, server: Server) -> None:
    vault.put("App is up to date.md", "x")
    vault.put("Checking for updates.md", "y")
    assert server.call("read_note", name="App is up to date")["content"] == "x"
    assert server.call("read_note", name="Checking for updates")["content"] == "y"


@pytest.mark.parametrize("mood", ["empty", "chatty"])
def test_a_vault_that_does_not_say_where_it_is_is_out_of_reach(own_world: World, mood: str) -> None:
    """Never the folder that the server happens to run in."""
    own_world.put("Note.md", "x")
    own_world.mood(mood, commands=["vault"])
    before = own_world.tree()
    with Server(own_world.far_environment(), "--vault", "Vault") as server:
        server.initialize()
        assert failure(server, "append_note", name="Note.md", content="\\nu").error_code == "CLI_FAILED"
        assert server.call("append_note", name="Note.md", content="y")["appended"] is True
    assert before != own_world.tree()


def test_a_lying_delete_is_noticed_out_of_reach_too(own_world: World) -> None:
    own_world.put("Note.md", "x")
    own_world.mood("lying", far=True)
    with Server(own_world.far_environment(), "--vault", "Vault") as server:
        server.initialize()
        for tool in ("delete_note", "rename_note"):
            more = {"new_name": "Other"} if tool == "rename_note" else {}
            assert failure(server, tool, name="Note.md", **more).error_code == "CLI_FAILED"


def test_what_the_command_started_lives_on_after_a_success(vault: World, server: Server) -> None:
    """Older installers start the app that way."""
    vault.mood("leave-pipes-open", commands=["open"])
    server.call("open_note", name="Note.md")
    (child,) = [record["child"] for record in vault.records() if record["phase"] == "child"]
    os.kill(child, signal.SIGKILL)
    vault.wait_until_all_are_gone()


def test_an_app_that_refuses_to_show_a_note_is_believed(vault: World, server: Server) -> None:
    vault.mood("denied", commands=["open"])
    assert failure(server, "open_note", name="Note.md").error_code == "PERMISSION_DENIED"


def test_a_note_that_only_the_app_sees_is_not_written_past_it(vault: World, server: Server) -> None:
    vault.mood("other-path", path="Note.md")
    told = failure(server, "create_note", name="New.md", content="\\new")
    assert told.code == -32000
    assert "not in the vault's folder as it is seen from here" in told.message
    assert not vault.has("New.md")
