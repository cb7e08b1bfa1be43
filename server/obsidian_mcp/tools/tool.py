"""How a tool is declared: one function, from which everything the model sees and the runtime needs is derived."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import json
import sys
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from types import MappingProxyType, ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic.fields import FieldInfo

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import BadArguments
from obsidian_mcp.protocol.clients import SMALL
from obsidian_mcp.protocol.results import Shown
from obsidian_mcp.tools.aliases import meant_by
from obsidian_mcp.tools.toolsets import Toolset
from obsidian_mcp.vault.path import BadPath
from obsidian_mcp.vaults import Opened


def _without_plugins() -> None:
    """pydantic looks into every installed package for plugins, for which it loads a mail parser, a zip reader and
    sockets: as much as all of our tools. None is wanted here."""
    none = ModuleType("pydantic.plugin._loader")
    vars(none)["get_plugins"] = tuple
    sys.modules.setdefault(none.__name__, none)


_without_plugins()


class Context(Opened):
    """What a tool may use: all that was opened with the vault, the call it is part of, how many bytes a result
    should have at most, the time, and what the vault is called."""

    __slots__ = ("call", "label", "now", "page")

    def __init__(
        self,
        opened: Opened,
        call: CallContext,
        page: int = SMALL,
        now: Callable[[], datetime] = datetime.now,
        label: str = "",
    ) -> None:
        super().__init__(opened.vault, opened.index, opened._contents, opened.app, opened.history)
        self.call = call
        self.page = page
        self.now = now
        self.label = label


class NamesNote:
    """Marks the type of a field by which a caller names a note: calls that name the same one keep their order."""


class ShownWith:
    """Marks an argument that a set brings to another set's tool: it exists only where that set is on."""

    def __init__(self, toolset: Toolset) -> None:
        self.toolset = toolset


@dataclasses.dataclass(frozen=True)
class WithContent:
    """A result with content that is not JSON, such as images. Hosts that find a structure show that alone, so such a
    tool declares none."""

    about: Any
    content: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class Effect(enum.Enum):
    """What a tool does to a vault, as MCP's hints: read-only, destructive, idempotent."""

    READS = (True, False, True)
    SHOWS = (True, False, False)
    ADDS = (False, False, False)
    CHANGES = (False, True, False)
    REMOVES = (False, True, True)

    @property
    def annotations(self) -> dict[str, bool]:
        read_only, destructive, idempotent = self.value
        return {
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": False,
        }


class Params(BaseModel):
    """Arguments are taken as they are or refused: nothing unknown is dropped, and nothing is coerced, but for the JSON
    text of an object or list, which some clients send.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)  # see Tool.build

    @model_validator(mode="before")
    @classmethod
    def _with_values(cls, arguments: Any) -> Any:
        structured = _structured(cls)
        if not structured or not isinstance(arguments, Mapping):
            return arguments
        return {name: _as_value(value, structured.get(name)) for name, value in arguments.items()}


@functools.cache
def _structured(params: type[Params]) -> dict[str, set[Any]]:
    """The arguments that are lists or objects, and which of the two: few tools have one."""
    return {name: kinds for name, field in params.model_fields.items() if (kinds := _kinds(field))}


def _kinds(field: FieldInfo) -> set[Any]:
    return {get_origin(kind) or kind for kind in (field.annotation, *get_args(field.annotation))} & {list, dict}


def _as_value(value: Any, wanted: set[Any] | None) -> Any:
    """Of a text for a list or an object, what it says in JSON; a text that says nothing is a list of one."""
    if not isinstance(value, str) or not wanted:
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if type(found) in wanted:
        return found
    return [value] if list in wanted and value else value


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    title: str
    description: str
    effect: Effect
    toolset: Toolset
    params: type[Params]
    result: type[Any]
    function: Callable[[Any, Context], Any]
    meta: Mapping[str, Any]
    whole_vault: bool = False

    @property
    def touches(self) -> list[str]:
        """The arguments that name notes, by the types of the fields."""
        return [name for name, field in self.params.model_fields.items() if _names_note(field)]

    @property
    def with_sets(self) -> dict[str, str]:
        """The arguments that other sets bring, with the names of those."""
        fields = self.params.model_fields.items()
        return {
            name: mark.toolset.name for name, field in fields for mark in field.metadata if isinstance(mark, ShownWith)
        }

    def build(self) -> None:
        """What checks its arguments, before there are any. Each tool's alone: together they take a tenth of a start."""
        self.params.model_rebuild()

    def parse(self, arguments: Mapping[str, Any]) -> Params:
        try:
            return self.params.model_validate(arguments)
        except ValidationError as error:
            known = self.params.model_fields
            problems = [_problem(detail, known) for detail in error.errors(include_url=False, include_input=False)]
            missing = [_name(detail) for detail in error.errors(include_input=False) if detail["type"] == "missing"]
            raise BadArguments(
                f"{self.name}: {'; '.join(text for _, text in problems)}.",
                f"Its arguments are {', '.join(known)}.",
                **_told(problems, missing),
            ) from None

    def run(self, params: Params, it: Context) -> dict[str, Any]:
        """The data of a success. What is not known is left out."""
        result = self.function(params, it)
        if isinstance(result, WithContent):
            return Shown(plain(result.about), result.content)
        found: dict[str, Any] = plain(result)
        return found

    def listing(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": slim(self.params.model_json_schema()),
            **({} if self.result is WithContent else {"outputSchema": self._output()}),
            "annotations": {"title": self.title, **self.effect.annotations},  # Claude Code shows this title
            **({"_meta": dict(self.meta)} if self.meta else {}),
        }

    def _output(self) -> dict[str, Any]:
        data = slim(inlined(TypeAdapter(self.result).json_schema()))
        return {
            "type": "object",
            "properties": {"success": {"type": "boolean"}, "data": data},
            "required": ["success", "data"],
        }


def tool(
    title: str,
    effect: Effect,
    toolset: Toolset,
    meta: Mapping[str, Any] = MappingProxyType({}),
    whole_vault: bool = False,
) -> Callable[[Callable[[Any, Context], Any]], Tool]:
    """Turn a function `(params, it) -> result` into a tool. Registers nothing. `meta` is for some hosts alone.

    `whole_vault`: it reads or writes any number of notes, so calls keep their order with it whatever they name.
    """

    def declare(function: Callable[[Any, Context], Any]) -> Tool:
        hints = get_type_hints(function)
        return Tool(
            name=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or "").replace("\n", " "),
            effect=effect,
            toolset=toolset,
            params=hints["params"],
            result=hints["return"],
            function=function,
            meta=meta,
            whole_vault=whole_vault,
        )

    return declare


_LEAVES = frozenset({str, int, float, bool})


def plain(value: Any) -> Any:
    """A result as JSON has it: dataclasses, at any depth, become objects without the fields that are None."""
    if type(value) in _LEAVES:
        return value
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None:
        return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value
    found = {}
    for name in fields:
        inner = getattr(value, name)
        if inner is not None:
            found[name] = inner if type(inner) in _LEAVES else plain(inner)
    return found


def _names_note(field: FieldInfo) -> bool:
    return any(isinstance(mark, NamesNote) for mark in field.metadata)


def _told(problems: list[tuple[str, str]], missing: list[str]) -> dict[str, Any]:
    """Which arguments are wrong, for programs."""
    told: dict[str, Any] = {"invalid": [{"name": name, "problem": text} for name, text in problems]}
    return {**told, "missing": missing} if missing else told


def _problem(detail: Mapping[str, Any], known: Collection[str]) -> tuple[str, str]:
    """A pydantic error as (argument, sentence)."""
    name = _name(detail)
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, BadPath):
        return name, f"{name} {cause}"
    if detail["type"] == "extra_forbidden":
        own = meant_by(name, known)
        if own is not None:
            return name, f"{name} is another word for {own}, so only one of them can be given"
        return name, f"there is no argument {name!r}"
    if detail["type"] == "missing":
        return name, f"{name} is missing"
    if detail["type"] in ("string_too_short", "too_short"):
        return name, f"{name} must not be empty"
    message = detail["msg"]
    return name, f"{name}: {message[0].lower()}{message[1:]}"


def _name(detail: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in detail["loc"])


def inlined(schema: dict[str, Any]) -> Any:
    """A schema without references, which strict clients don't follow, and without docstrings of dataclasses: whether
    they are there depends on the version of pydantic.
    """
    definitions = schema.get("$defs", {})

    def inline(part: Any) -> Any:
        if isinstance(part, list):
            return [inline(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inline(definitions[part["$ref"].rpartition("/")[2]])
        left_out = ("$defs", "description") if part.get("type") == "object" else ("$defs",)
        return {key: inline(value) for key, value in part.items() if key not in left_out}

    return inline(schema)


def slim(schema: Any) -> Any:
    """Drop what a model doesn't need: titles, the null of an optional value, what is default anyway."""
    if isinstance(schema, list):
        return [slim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema:
        (only,) = [item for item in schema["anyOf"] if item.get("type") != "null"]
        schema = {**only, **{key: value for key, value in schema.items() if key != "anyOf"}}
    kept = {key: value for key, value in schema.items() if key not in ("title", "default")}
    return {
        key: {name: slim(inner) for name, inner in value.items()} if key == "properties" else slim(value)
        for key, value in kept.items()
    }
