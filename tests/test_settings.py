from __future__ import annotations

import pytest

from obsidian_mcp import settings


def load(*argv: str, **environ: str) -> settings.Settings:
    given, words = settings.split(argv)
    assert words == []
    return settings.load(given, {f"OBSIDIAN_MCP_{key}": value for key, value in environ.items()})


def test_the_defaults() -> None:
    plain = load()
    assert (plain.vaults, plain.backend, plain.obsidian_bin) == ((), "auto", "")
    assert (plain.timeout, plain.timeouts, plain.errors, plain.read_only) == (30.0, {}, "rpc", False)
    assert (plain.toolsets, plain.tools) == ((), ())
    assert (plain.log_level, plain.log_format) == ("info", "json")


FLAGS = {
    "vaults": (("--vault", "A", "--vault=B", "--vault", "A"), {"VAULT": "A\nB\n"}, ("A", "B")),
    "backend": (("--backend", "obsidian"), {"BACKEND": "obsidian"}, "obsidian"),
    "obsidian_bin": (("--obsidian-bin", "/x y"), {"OBSIDIAN_BIN": "/x y"}, "/x y"),
    "timeout": (("--timeout", "2.5"), {"TIMEOUT": "2.5"}, 2.5),
    "timeouts": (
        ("--timeout-for", "a=1", "--timeout-for", "b=2"),
        {"TIMEOUT_FOR": "a=1, obsidian_b=2"},
        {"obsidian_a": 1.0, "obsidian_b": 2.0},
    ),
    "errors": (("--errors", "result"), {"ERRORS": "result"}, "result"),
    "permanent_delete": (("--permanent-delete", "never"), {"PERMANENT_DELETE": "never"}, "never"),
    "prompts": (("--prompts", "My/Prompts/"), {"PROMPTS": "My\\Prompts"}, "My/Prompts"),
    "read_only": (("--read-only",), {"READ_ONLY": "true"}, True),
    "toolsets": (("--toolsets", "notes,find", "--toolsets=notes"), {"TOOLSETS": "notes, find"}, ("notes", "find")),
    "tools": (("--tools", "read_note,-open_note"), {"TOOLS": "read_note,-open_note"}, ("read_note", "-open_note")),
    "history": (("--history", "off"), {"HISTORY": "off"}, False),
    "history_days": (("--history-days", "0.5"), {"HISTORY_DAYS": "0.5"}, 0.5),
    "history_mb": (("--history-mb", "7"), {"HISTORY_MB": "7"}, 7),
    "log_level": (("--log-level", "debug"), {"LOG_LEVEL": "debug"}, "debug"),
    "log_format": (("--log-format", "console"), {"LOG_FORMAT": "console"}, "console"),
}


@pytest.mark.parametrize("name", FLAGS)
def test_every_option_is_a_flag_and_a_variable(name: str) -> None:
    argv, environ, expected = FLAGS[name]
    assert getattr(load(*argv), name) == expected
    assert getattr(load(**environ), name) == expected


def test_no_option_is_forgotten_here() -> None:
    plural = {"vault": "vaults", "timeout_for": "timeouts"}
    assert {plural.get(option.key, option.key) for option in settings.OPTIONS} == set(FLAGS)


def test_the_command_line_wins_over_the_environment() -> None:
    assert load("--timeout", "5", TIMEOUT="7").timeout == 5.0
    assert load("--vault", "A", VAULT="B").vaults == ("A",)


@pytest.mark.parametrize("value", ["${user_config.x}", "", "  ", "${user_config.vault_folder}"])
def test_what_nobody_filled_in_counts_as_unset(value: str) -> None:
    plain = load(VAULT=value, BACKEND=value, TIMEOUT=value, READ_ONLY=value, OBSIDIAN_BIN=value, TIMEOUT_FOR=value)
    assert (plain.vaults, plain.backend, plain.timeout, plain.read_only) == ((), "auto", 30.0, False)
    assert load(f"--vault={value}").vaults == ()


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("1", True), ("ON", True), ("false", False), ("0", False)]
)
def test_a_flag_in_the_environment_says_true_or_false(text: str, expected: bool) -> None:
    assert load(READ_ONLY=text).read_only is expected


@pytest.mark.parametrize("text", ["Embedded", "EMBEDDED", "embedded"])
def test_a_choice_may_be_written_in_any_case(text: str) -> None:
    assert load("--backend", text).backend == load(BACKEND=text).backend == "embedded"
    assert load("--log-level", "Debug", ERRORS="Result").log_level == "debug"


BAD = {
    "an unknown option": ("--bogus",),
    "a value that is missing": ("--vault",),
    "a backend that does not exist": ("--backend", "cloud"),
    "a limit that is no number": ("--timeout", "soon"),
    "a limit of nothing": ("--timeout", "0"),
    "a negative limit": ("--timeout", "-1"),
    "no limit at all": ("--timeout", "inf"),
    "not a number": ("--timeout", "nan"),
    "a limit for nothing": ("--timeout-for", "5"),
    "a limit for a tool that is no number": ("--timeout-for", "x=y"),
    "a log level that does not exist": ("--log-level", "loud"),
    "a flag that says maybe": ("--read-only=maybe",),
}


@pytest.mark.parametrize("argv", BAD.values(), ids=BAD)
def test_a_bad_value_is_one_line_that_names_the_option(argv: tuple[str, ...]) -> None:
    with pytest.raises(settings.UsageError) as caught:
        load(*argv)
    assert "\n" not in str(caught.value)
    assert argv[0].partition("=")[0] in str(caught.value)


def test_a_bad_value_in_the_environment_names_the_variable() -> None:
    with pytest.raises(settings.UsageError, match="OBSIDIAN_MCP_BACKEND"):
        load(BACKEND="cloud")


def test_a_bad_limit_in_the_environment_names_the_variable_too() -> None:
    with pytest.raises(settings.UsageError, match="OBSIDIAN_MCP_TIMEOUT "):
        load(TIMEOUT="soon")


def test_options_end_at_the_first_other_word() -> None:
    given, words = settings.split(["--vault", "A", "call", "--vault", "B"])
    assert (given, words) == ({"vault": ["A"]}, ["call", "--vault", "B"])


def test_settings_never_change() -> None:
    with pytest.raises(AttributeError):
        load().timeout = 5


@pytest.mark.parametrize("empty", ["", " "])
def test_a_server_without_the_token_that_was_meant_does_not_listen(empty: str) -> None:
    for given, environ in (({"token": [empty]}, {}), ({}, {"OBSIDIAN_MCP_TOKEN": empty})):
        with pytest.raises(settings.UsageError, match="is empty"):
            settings.load_http(given, environ)
    assert settings.load_http({"token": ["x"]}, {"OBSIDIAN_MCP_TOKEN": empty}).token == "x"
    assert settings.load_http({}, {}).token == ""


def test_a_client_whose_host_passes_an_empty_token_sends_none() -> None:
    assert settings.load_remote({}, {"OBSIDIAN_MCP_TOKEN": ""}).token == ""
    with pytest.raises(settings.UsageError, match="--token is empty"):
        settings.load_remote({"token": [""]}, {})
