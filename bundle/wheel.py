"""The package as the bundle carries it: one wheel, which uv installs beside the other packages.

A zip compresses each file by itself. The wheel's own files are not compressed, and the bundle compresses the wheel as
a whole: what modules have in common is then stored once, which saves a quarter.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import subprocess
import zipfile
from pathlib import Path

from bundle import manifest
from obsidian_mcp import __version__

ROOT = Path(__file__).parents[1]
PACKAGE = "obsidian_mcp"
DATE = (1980, 1, 1, 0, 0, 0)
# Desktop comes in by stdio alone, and has a form instead of commands.
LEFT_OUT = (
    "backends/files/census.py",
    "cli/",
    "demo.py",
    "doctor/",
    "doors/http/",
    "doors/ide/",
    "features/changes.py",
    "hosts/command.py",
    "hosts/configure.py",
    "hosts/difference.py",
    "hosts/jsonc.py",
    "hosts/known.py",
    "hosts/options.py",
    "hosts/tree.py",
    "hosts/writing.py",
    "operations/comparing.py",
    "protocol/addresses.py",
    "protocol/bridge.py",
    "protocol/envelope.py",
    "protocol/streamable.py",
    "servers/ide/",
    "servers/relay/",
    "setup/",
    "vault/census.py",
    "vaults/reader.py",
)
READ_AT_RUN_TIME = f"{PACKAGE}/tools/"  # the types there: a tool is declared by them
# What only that needs.
NOT_NEEDED = ("typer", "rich", "starlette", "uvicorn", "h11", "websockets")


def file_name() -> str:
    return f"{_stem()}-py3-none-any.whl"


def _stem() -> str:
    return f"{manifest.project()['name'].replace('-', '_')}-{__version__}"


def modules() -> list[str]:
    """The tracked files of the package that belong into it, by their paths from its parent."""
    listed = subprocess.run(["git", "ls-files", "-z", f"server/{PACKAGE}"], cwd=ROOT, capture_output=True, check=True)
    names = [name.removeprefix("server/") for name in listed.stdout.decode("utf-8").split("\0") if name]
    return sorted(name for name in names if not name.removeprefix(f"{PACKAGE}/").startswith(LEFT_OUT))


def write(target: Path) -> None:
    files = {name: _content(name) for name in modules()} | _metadata()
    record = f"{_stem()}.dist-info/RECORD"
    files[record] = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items()).encode()
    files[record] += f"{record},,\n".encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)


def _content(name: str) -> bytes:
    file = ROOT / "server" / name
    if not name.endswith(".py"):
        return file.read_bytes()
    return lean(file.read_text(encoding="utf-8"), keep_types=name.startswith(READ_AT_RUN_TIME)).encode()


def lean(source: str, keep_types: bool = False) -> str:
    """A module without what only its readers need: comments, docstrings, and the types of parameters and results."""
    return f"{ast.unparse(_Lean(keep_types).visit(ast.parse(source)))}\n"


class _Lean(ast.NodeTransformer):
    def __init__(self, keep_types: bool) -> None:
        self._keep_types = keep_types

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:]
            node.body = [each for each in node.body if not _is_for_types(each)]
            if not node.body and not isinstance(node, ast.Module):
                node.body = [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not self._keep_types:
            node.returns = None
        if isinstance(node, ast.arg) and not self._keep_types:
            node.annotation = None
        return super().generic_visit(node)


def _is_for_types(node: ast.stmt) -> bool:
    """Imports that only a type checker sees, and nothing instead of them."""
    if not isinstance(node, ast.If) or node.orelse:
        return False
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _metadata() -> dict[str, bytes]:
    """What makes a zip a wheel. The packages that it needs are named by the bundle's project file."""
    declared = manifest.project()
    lines = ["Metadata-Version: 2.1", f"Name: {declared['name']}", f"Version: {__version__}"]
    lines += [f"Requires-Python: {declared['requires-python']}", ""]
    about = ["Wheel-Version: 1.0", "Generator: obsidian-notekeeper", "Root-Is-Purelib: true", "Tag: py3-none-any", ""]
    found = {"METADATA": lines, "WHEEL": about}
    return {f"{_stem()}.dist-info/{name}": "\n".join(text).encode() for name, text in found.items()}


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")
