from __future__ import annotations

from obsidian_mcp import errors


def kinds() -> list[type[errors.Failure]]:
    return [
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, errors.Failure) and value is not errors.Failure
    ]


def test_every_failure_has_a_face() -> None:
    assert set(kinds()) == set(errors.ERRORS)


def test_the_codes_are_those_of_the_contract() -> None:
    codes = {face.error_code: face.rpc for face in errors.ERRORS.values()}
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
        "OBSIDIAN_NOT_RUNNING": -32001,
        "VAULT_NOT_FOUND": -32002,
        "FILE_NOT_FOUND": -32003,
        "AMBIGUOUS_NAME": -32004,
        "PERMISSION_DENIED": -32005,
        "TIMEOUT": -32006,
    }


def test_no_failure_ends_a_shell_command_as_a_success() -> None:
    assert all(face.shell > 0 and face.envelope > 0 for face in errors.ERRORS.values())
