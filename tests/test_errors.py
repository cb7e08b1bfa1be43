from __future__ import annotations

from obsidian_mcp import errors
from obsidian_mcp.errors import Hint, NoteNotFound
from obsidian_mcp.operations import editing, unfound


def kinds() -> list[type[errors.Failure]]:
    return [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.Failure) and value is not errors.Failure
    ]


def test_every_failure_has_a_row_of_its_own_or_that_of_its_kind() -> None:
    assert set(errors.ERRORS) <= set(kinds())
    question = errors.Question("It failed?", "", "")
    made = [errors.NeedsAnswer(question) if kind is errors.NeedsAnswer else kind("It failed.") for kind in kinds()]
    assert all(errors.spec_of(failure) for failure in made)


def test_the_codes_are_those_of_the_contract() -> None:
    codes = {spec.error_code: spec.rpc for spec in errors.ERRORS.values()}
    assert codes == {
        "PARSE_ERROR": -32700,
        "INVALID_REQUEST": -32600,
        "METHOD_NOT_FOUND": -32601,
        "INVALID_PARAMS": -32602,
        "UNKNOWN_TOOL": -32602,
        "INVALID_ARGUMENTS": -32602,
        "UNSUPPORTED_PROTOCOL_VERSION": -32022,
        "INTERNAL_ERROR": -32603,
        "ALREADY_EXISTS": -32000,
        "CONFLICT": -32000,
        "CLI_FAILED": -32000,
        "BRIDGE_FAILED": -32000,
        "HEADER_MISMATCH": -32020,
        "UNKNOWN_SESSION": -32600,
        "CLI_DISABLED": -32000,
        "FILE_FAILED": -32000,
        "NOT_TEXT": -32000,
        "TOO_LARGE": -32000,
        "CANCELLED": -32000,
        "NOT_CONFIRMED": -32000,
        "OBSIDIAN_NOT_RUNNING": -32001,
        "VAULT_NOT_FOUND": -32002,
        "FILE_NOT_FOUND": -32003,
        "RESOURCE_NOT_FOUND": -32002,
        "RESOURCE_TOO_LARGE": -32602,
        "AMBIGUOUS_NAME": -32004,
        "PERMISSION_DENIED": -32005,
        "TIMEOUT": -32006,
    }


def test_no_failure_ends_a_shell_command_as_a_success() -> None:
    assert all(spec.shell > 0 and spec.envelope > 0 for spec in errors.ERRORS.values())


def test_a_message_is_what_happened_then_the_vaults_state_then_what_to_do() -> None:
    failure = errors.NoteNotFound("It is gone.", "Look elsewhere.", errors.UNTOUCHED)
    assert failure.message == "It is gone. Nothing was changed. Look elsewhere."
    assert errors.NoteNotFound("It is gone.").message == "It is gone."


def test_each_audience_has_its_own_words_for_what_to_do() -> None:
    failure = errors.NoteNotFound("It is gone.", errors.Hint("Call a tool.", "Give a flag.", ""))
    assert [failure.told_to(who) for who in (errors.MODEL, errors.SHELL, errors.DOCTOR)] == [
        "It is gone. Call a tool.",
        "It is gone. Give a flag.",
        "It is gone.",
    ]


def test_a_part_of_a_larger_fact_keeps_its_kind_its_hint_and_its_data() -> None:
    inner = errors.Conflict("A.md has changed.", "Read it again.", path="A.md")
    outer = inner.within("While it was checked", errors.UNKNOWN)
    assert (type(outer), outer.data, outer.vault) == (errors.Conflict, {"path": "A.md"}, errors.UNKNOWN)
    assert outer.message.startswith("While it was checked: A.md has changed. It may have taken effect")
    assert outer.message.endswith("Read it again.")


def test_every_state_but_reading_has_a_sentence() -> None:
    assert [state for state in errors.STATES if not state.sentence] == [errors.READ]


def test_a_hint_names_no_tool_that_is_switched_off() -> None:
    hint = Hint("Make it with obsidian_create_note.", needs="obsidian_create_note", without="Give another name.")
    assert NoteNotFound("Gone.", hint).among(["obsidian_create_note"]).message.endswith("obsidian_create_note.")
    assert NoteNotFound("Gone.", hint).among([]).message == "Gone. Give another name."
    assert NoteNotFound("Gone.", "Look again.").among([]).message == "Gone. Look again."


def test_every_hint_that_names_a_tool_says_that_it_needs_it() -> None:
    """What a model is told is written in few places, and a tool that is off must not be among it."""
    for module in (unfound, editing):
        for hint in (value for value in vars(module).values() if isinstance(value, Hint)):
            assert hint.needs
            assert "obsidian_" not in hint.without
