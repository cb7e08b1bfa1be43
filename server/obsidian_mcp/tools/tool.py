"""How a tool is declared: one function, from which everything the model sees is derived."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.path import BadPath
from obsidian_mcp.vault.port import Vault


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
    """Arguments are taken as they are or refused: nothing is coerced, nothing unknown is dropped."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    title: str
    description: str
    effect: Effect
    params: type[Params]
    result: type[Any]
    function: Callable[[Any, Vault], Any]
    fields: tuple[str, ...]  # of the result

    def parse(self, arguments: Mapping[str, Any]) -> Params:
        try:
            return self.params.model_validate(arguments)
        except ValidationError as error:
            problems = [_problem(detail) for detail in error.errors(include_url=False, include_input=False)]
            known = ", ".join(self.params.model_fields)
            missing = [_name(detail) for detail in error.errors(include_input=False) if detail["type"] == "missing"]
            raise InvalidArguments(
                f"{self.name}: {'; '.join(text for _, text in problems)}. "
                f"Nothing was changed. Its arguments are {known}.",
                invalid=[{"name": name, "problem": text} for name, text in problems],
                **({"missing": missing} if missing else {}),
            ) from None

    def run(self, params: Params, vault: Vault) -> dict[str, Any]:
        """The data of a success. What is not known is left out."""
        result = self.function(params, vault)
        found = {field: getattr(result, field) for field in self.fields}
        return {key: value for key, value in found.items() if value is not None}

    def listing(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        data = slim(TypeAdapter(self.result).json_schema())
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": slim(self.params.model_json_schema()),
            "outputSchema": {
                "type": "object",
                "properties": {"success": {"type": "boolean"}, "data": data},
                "required": ["success", "data"],
            },
            "annotations": self.effect.annotations,
        }


def tool(title: str, effect: Effect) -> Callable[[Callable[[Any, Vault], Any]], Tool]:
    """Access a function `(params, vault) -> result` into a tool. Registers nothing."""

    def declare(function: Callable[[Any, Vault], Any]) -> Tool:
        hints = get_type_hints(function)
        return Tool(
            name=function.__name__,
            title=title,
            description=inspect.cleandoc(function.__doc__ or "").replace("\n", " "),
            effect=effect,
            params=hints["params"],
            result=hints["return"],
            function=function,
            fields=tuple(field.name for field in dataclasses.fields(hints["return"])),
        )

    return declare


def _problem(detail: Mapping[str, Any]) -> tuple[str, str]:
    """A pydantic error as (argument, sentence)."""
    name = _name(detail)
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, BadPath):
        return name, f"{name} {cause}"
    if detail["type"] == "extra_forbidden":
        return name, f"there is no argument {name!r}"
    if detail["type"] == "missing":
        return name, f"{name} is missing"
    if detail["type"] in ("string_too_short", "too_short"):
        return name, f"{name} must not be empty"
    message = detail["msg"]
    return name, f"{name}: {message[0].lower()}{message[1:]}"


def _name(detail: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in detail["loc"])


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
