"""Flags and environment → one frozen object.

The options are declared once, here. The quick start reads them from this table
with nothing but the interpreter loaded; the commands for people hand the same
table to typer.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFIX = "OBSIDIAN_MCP_"
LEVELS = ("debug", "info", "warning", "error")
TRUE, FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


class UsageError(Exception):
    """A command line or an environment that cannot be used; one line says why."""


class Option:
    """One option: `--name VALUE` on the command line, OBSIDIAN_MCP_NAME outside it."""

    __slots__ = ("_variable", "choices", "default", "help", "many", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        default: str = "",
        choices: tuple[str, ...] = (),
        many: bool = False,
        variable: str = "",
    ) -> None:
        self.name = name
        self._variable = variable
        self.help = help
        self.metavar = metavar or "|".join(choices)
        self.default = default
        self.choices = choices
        self.many = many

    @property
    def flag(self) -> bool:
        """Flags take no value on the command line, and true or false in the environment."""
        return not self.metavar

    @property
    def key(self) -> str:
        return self.name.replace("-", "_")

    @property
    def variable(self) -> str:
        return PREFIX + (self._variable or self.key.upper())


OPTIONS = (
    Option(
        "vault", "The vault to serve; repeat it to serve several, the first is the default.", "NAME|ID|PATH", many=True
    ),
    Option(
        "backend",
        "What answers: the Obsidian app, or the files themselves.",
        default="auto",
        choices=("auto", "obsidian", "embedded"),
    ),
    Option("obsidian-bin", "The Obsidian command, if it is not in one of the usual places.", "PATH"),
    Option("timeout", "Time limit for one call.", "SECONDS", default="30"),
    Option("timeout-for", "Another limit for one tool; may be repeated.", "TOOL=SECONDS", many=True),
    Option(
        "errors",
        "How failures of a tool are sent: as JSON-RPC errors, or as results.",
        default="rpc",
        choices=("rpc", "result"),
    ),
    Option("read-only", "Offer only the tools that change nothing."),
    Option("toolsets", "The sets of tools to offer: names, or default, or all.", "NAME,...", many=True),
    Option("tools", "Single tools to add, or with - before the name to leave out.", "NAME,...", many=True),
    Option("history", "Whether changes are kept, so that they can be undone.", default="on", choices=("on", "off")),
    Option("history-days", "How many days they are kept.", "DAYS", default="90"),
    Option("history-mb", "How many megabytes a vault's changes may take; the oldest go first.", "MB", default="200"),
    Option(
        "permanent-delete",
        "Whether notes may be deleted for good: after asking, where the client can ask, or never.",
        default="ask",
        choices=("ask", "never"),
    ),
    Option("prompts", "The folder whose notes are your own prompts.", "FOLDER", default="Prompts"),
    Option("log-level", "What to log, on stderr.", default="info", choices=LEVELS),
    Option("log-format", "How to log it.", default="json", choices=("json", "console")),
)
BY_NAME = {option.name: option for option in OPTIONS}
HTTP_OPTIONS = (
    Option("host", "The address to listen on; one that others can reach needs a token.", "HOST", default="127.0.0.1"),
    Option("port", "The port; 0 lets the system choose.", "PORT", default="3000"),
    Option("token", "What a client must send as a bearer token, or as X-Api-Key.", "TEXT"),
    Option("allow-host", "Another name under which clients reach the server; may be repeated.", "HOST", many=True),
    Option(
        "allow-origin",
        "Web pages that may use the server, such as http://localhost:8080; * is all.",
        "ORIGIN",
        many=True,
    ),
)
REMOTE_OPTIONS = (
    Option("host", "Where the other server is.", "HOST", default="127.0.0.1"),
    Option("port", "The port on which it listens.", "PORT", default="3000"),
    Option("token", "The token that it asks for.", "TEXT"),
)
IDE_OPTIONS = (Option("port", "The port; 0 lets the system choose.", "PORT", default="0", variable="IDE_PORT"),)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Settings:
    """What the program was asked to do. Never changes after it is made."""

    __slots__ = (
        "_frozen",
        "backend",
        "environ",
        "errors",
        "history",
        "history_days",
        "history_mb",
        "log_format",
        "log_level",
        "obsidian_bin",
        "permanent_delete",
        "prompts",
        "read_only",
        "timeout",
        "timeouts",
        "tools",
        "toolsets",
        "vaults",
    )

    def __init__(self, values: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.vaults = tuple(dict.fromkeys(values["vault"]))
        self.backend = values["backend"][-1]
        self.obsidian_bin = values["obsidian-bin"][-1] if values["obsidian-bin"] else ""
        self.timeout = float(values["timeout"][-1])
        self.timeouts = {_full_name(tool): float(limit) for tool, _, limit in _pairs(values["timeout-for"])}
        self.errors = values["errors"][-1]
        self.read_only = values["read-only"][-1:] == ["true"]
        self.toolsets = _listed(values["toolsets"])
        self.tools = _listed(values["tools"])
        self.history = values["history"][-1] == "on"
        self.history_days = float(values["history-days"][-1])
        self.history_mb = int(values["history-mb"][-1])
        self.permanent_delete = values["permanent-delete"][-1]
        self.prompts = values["prompts"][-1].strip().replace("\\", "/").strip("/")  # as Windows writes folders, too
        self.log_level = values["log-level"][-1]
        self.log_format = values["log-format"][-1]
        self._frozen = True

    def __setattr__(self, name: str, value: object) -> None:
        if hasattr(self, "_frozen"):
            raise AttributeError(f"settings are frozen: {name}")
        object.__setattr__(self, name, value)

    def limit_for(self, tool: str) -> float:
        return self.timeouts.get(tool, self.timeout)


class Http:
    """Where a server listens, or is to be found, and who may come."""

    __slots__ = ("host", "hosts", "origins", "port", "token")

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self.host = values["host"][-1].strip("[]")
        self.port = int(values["port"][-1])
        self.token = values["token"][-1] if values["token"] else ""
        own = () if self.host in LOOPBACK else (f"[{self.host}]" if ":" in self.host else self.host,)
        self.hosts = (*own, *values["allow-host"])
        self.origins = tuple(value.lower().rstrip("/") for value in values["allow-origin"])


def variables() -> frozenset[str]:
    """Every name that means something in the environment."""
    return frozenset(option.variable for option in (*OPTIONS, *HTTP_OPTIONS, *REMOTE_OPTIONS, *IDE_OPTIONS))


def split(argv: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The options at the head of a command line, and the words from the first other one on."""
    given: dict[str, list[str]] = {}
    words = list(argv)
    while words and words[0].startswith("--") and words[0] not in ("--help", "--version"):
        name, equals, value = words[0][2:].partition("=")
        option = BY_NAME.get(name)
        if option is None:
            if name in ("install-completion", "show-completion"):
                break
            raise UsageError(f"unknown option --{name}")
        words.pop(0)
        if option.flag:
            value = value if equals else "true"
        elif not equals:
            if not words:
                raise UsageError(f"--{name} needs a value: {option.metavar}")
            value = words.pop(0)
        given.setdefault(name, []).append(value)
    return given, words


def load(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> Settings:
    """The command line wins over the environment, which wins over the defaults."""
    return Settings(_values(OPTIONS, given, environ), environ)


def load_remote(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> Http:
    """Where another server is to be found."""
    _refuse_empty_token(given, {})
    remote = Http({**_values(HTTP_OPTIONS, {}, {}), **_values(REMOTE_OPTIONS, given, environ)})
    if not remote.port:
        raise UsageError("--port must be the port on which the other server listens, from 1 to 65535")
    return remote


def names_server_alone(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> bool:
    """Whether the environment says where a server is, and nothing says that a vault of our own is to be served.

    A setting such as --read-only would not hold for another's tools: it speaks for a vault of our own.
    """
    ours = [option for option in OPTIONS if not option.name.startswith("log-")]
    if any(_found(option, given, environ)[0] for option in ours):
        return False
    return any(_found(option, {}, environ)[0] for option in REMOTE_OPTIONS if option.name in ("host", "port"))


def load_ide_port(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> int:
    return int(_values(IDE_OPTIONS, given, environ)["port"][-1])


def load_http(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> Http:
    """Where to listen."""
    _refuse_empty_token(given, environ)
    http = Http(_values(HTTP_OPTIONS, given, environ))
    if http.host not in LOOPBACK and not http.token:
        raise UsageError(
            f"--host {http.host} can be reached from other machines, so any program there could read and delete notes; "
            f"set a token with --token or {PREFIX}TOKEN"
        )
    if http.host not in LOOPBACK and "*" in http.origins:
        raise UsageError(f"--allow-origin '*' is for a server on this machine alone, not for --host {http.host}")
    return http


def _refuse_empty_token(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> None:
    """A script whose secret is missing would open the server to every program, and believe it closed."""
    flags, variable = given.get("token", ()), f"{PREFIX}TOKEN"
    empty = "--token" if any(not value.strip() for value in flags) else ""
    if not flags and variable in environ and not environ[variable].strip():
        empty = variable
    if empty:
        raise UsageError(f"{empty} is empty, so no token would be asked for; give one, or leave it out")


def _values(
    options: tuple[Option, ...], given: Mapping[str, Sequence[str]], environ: Mapping[str, str]
) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for option in options:
        found, source = _found(option, given, environ)
        for value in found:
            _check(option, source, value)
        values[option.name] = [_flag(value) for value in found] if option.flag else found or _default(option)
    return values


def origins(given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> list[tuple[Option, list[str], str]]:
    """Every option, its values in force and their source."""
    found = []
    for option in OPTIONS:
        values, source = _found(option, given, environ)
        found.append((option, values, source) if values else (option, _default(option), "default"))
    return found


def is_given(name: str, given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> bool:
    """Whether an option has been said anything for, in either place."""
    return bool(_found(BY_NAME[name], given, environ)[0])


def looks_like_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.startswith("~") or text in (".", "..")


def at_home(path: str, environ: Mapping[str, str]) -> str:
    """A path with ~ for one's home, by the environment we were given."""
    home = environ.get("HOME") or environ.get("USERPROFILE")
    return home + path[1:] if home and (path == "~" or path.startswith(("~/", "~\\"))) else path


def _found(option: Option, given: Mapping[str, Sequence[str]], environ: Mapping[str, str]) -> tuple[list[str], str]:
    """What was said for an option, and where."""
    found = [value for value in given.get(option.name, ()) if not is_unset(value)]
    source = f"--{option.name}" if found else option.variable
    found = found or _from_environment(option, environ.get(option.variable, ""))
    return [value.lower() for value in found] if option.choices else found, source


def _default(option: Option) -> list[str]:
    return [option.default] if option.default else []


def _from_environment(option: Option, text: str) -> list[str]:
    """A repeatable option has one value per line there; commas separate the limits too."""
    if option.name == "timeout-for":
        text = text.replace(",", "\n")
    parts = text.split("\n") if option.many else [text]
    return [part.strip() for part in parts if not is_unset(part)]


def is_unset(value: str) -> bool:
    """An optional setting of a bundle that was not filled in arrives as its placeholder."""
    return not value.strip() or value.strip().startswith("${user_config.")


def _check(option: Option, source: str, value: str) -> None:
    allowed = option.choices or (TRUE + FALSE if option.flag else ())
    if allowed and (value.lower() if option.flag else value) not in allowed:
        raise UsageError(f"{source} must be one of {', '.join(allowed)}, not {value!r}")
    if option.name == "port" and not (value.isascii() and value.isdecimal() and int(value) < 65536):
        raise UsageError(f"{source} must be a number from 0 to 65535, not {value!r}")
    if option.name == "allow-origin" and not _is_origin(value):
        raise UsageError(f"{source} must read http://HOST:PORT or *, not {value!r}")
    if option.name == "history-mb" and not (value.isascii() and value.isdecimal() and 0 < int(value) <= 1_000_000):
        raise UsageError(f"{source} must be a whole number of megabytes from 1 to 1000000, not {value!r}")
    if option.name == "history-days":
        _check_days(source, value)
    if option.name == "timeout":
        _check_seconds(source, value)
    if option.name == "timeout-for":
        tool, equals, seconds = value.partition("=")
        if not (tool.strip() and equals):
            raise UsageError(f"{source} must read TOOL=SECONDS, not {value!r}")
        _check_seconds(f"{source} {tool.strip()}", seconds)


def _is_origin(value: str) -> bool:
    scheme, separator, authority = value.removesuffix("/").partition("://")
    return value == "*" or bool(scheme and separator and authority and not set(authority) & set("/?#@ "))


def _flag(value: str) -> str:
    return "true" if value.lower() in TRUE else "false"


def _check_seconds(source: str, value: str) -> None:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise UsageError(f"{source} must be a number of seconds above 0 and at most 86400, not {value!r}")


def _check_days(source: str, value: str) -> None:
    try:
        days = float(value)
    except ValueError:
        days = 0.0
    if not 0 < days <= 36_500:
        raise UsageError(f"{source} must be a number of days above 0 and at most 36500, not {value!r}")


def _full_name(tool: str) -> str:
    return tool.strip() if tool.strip().startswith("obsidian_") else f"obsidian_{tool.strip()}"


def _listed(values: Sequence[str]) -> tuple[str, ...]:
    """Names between commas, each once."""
    names = (name.strip() for value in values for name in value.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _pairs(values: Sequence[str]) -> list[tuple[str, str, str]]:
    return [value.partition("=") for value in values]
