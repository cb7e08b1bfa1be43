"""Fills in the generated parts of the specs: the tools in tools.md, the failures in errors.md.

make specs
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bundle import readme
from obsidian_mcp import errors
from obsidian_mcp.tools import catalogue

SPECS = Path(__file__).parents[1] / "specs"

Schema = Mapping[str, Any]

HINTS = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open world",
}
LIMITS = {
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "minLength": "length ≥ {}",
    "maxLength": "length ≤ {}",
    "minItems": "items ≥ {}",
    "maxItems": "items ≤ {}",
}


def tool_tables() -> str:
    """What the model is told, in a form for people."""
    listing = catalogue.load().listing()
    rows = [
        [f"[`{tool['name']}`](#{tool['name']})", tool["title"], *(_yes(tool["annotations"][hint]) for hint in HINTS)]
        for tool in listing
    ]
    return "\n\n".join([table(["tool", "title", *HINTS.values()], rows), *map(_section, listing)])


def _section(tool: Schema) -> str:
    taken = tool["inputSchema"]
    required = taken.get("required", ())
    rows = [
        [f"`{name}`", type_of(field), _yes(name in required), field.get("description", "")]
        for name, field in taken["properties"].items()
    ]
    arguments = table(["argument", "type", "required", "meaning"], rows)
    schema = tool.get("outputSchema")
    result = _result(schema["properties"]["data"]) if schema else "Result: text, and images as images."
    return "\n\n".join([f"### `{tool['name']}`", tool["description"], arguments, result])


def _result(schema: Schema) -> str:
    fields = {name: f"`{name}` ({type_of(field)})" for name, field in schema["properties"].items()}
    always = [words for name, words in fields.items() if name in schema.get("required", ())]
    known = [words for words in fields.values() if words not in always]
    return f"Result: {', '.join(always)}" + (f"; optional {', '.join(known)}." if known else ".")


def type_of(schema: Schema) -> str:
    """A JSON schema in a few words: `integer, ≥ 1`."""
    limits = [words.format(schema[key]) for key, words in LIMITS.items() if key in schema]
    return ", ".join([_kind(schema), *limits])


def _kind(schema: Schema) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(map(type_of, schema["anyOf"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"array of {type_of(schema['items'])}"
    if "properties" in schema:
        return f"object of {', '.join(f'`{name}` ({type_of(field)})' for name, field in schema['properties'].items())}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {type_of(schema['additionalProperties'])}"
    return str(schema.get("type", "anything"))


def error_table() -> str:
    """Each kind of failure, as each kind of caller sees it."""
    rows = [
        [f"`{spec.error_code}`", str(spec.rpc), str(spec.http), str(spec.envelope), str(spec.shell), _meaning(kind)]
        for kind, spec in errors.ERRORS.items()
    ]
    return table(["`errorCode`", "JSON-RPC", "HTTP", "envelope", "shell", "meaning"], rows)


def _meaning(kind: type[errors.Failure]) -> str:
    return " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def _yes(true: bool) -> str:
    return "yes" if true else "no"


PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "tools.md": {"generated: tools": tool_tables},
    "errors.md": {"generated: errors": error_table},
}


def generated() -> dict[Path, str]:
    """Every page with generated parts, as it should be."""
    pages = {SPECS / name: parts for name, parts in PAGES.items()}
    return {page: readme.filled(page.read_text(encoding="utf-8"), parts) for page, parts in pages.items()}


if __name__ == "__main__":
    for page, text in generated().items():
        page.write_text(text, encoding="utf-8")
