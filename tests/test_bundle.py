"""The bundle: what is in it, what may not be, and that it starts as Claude Desktop starts it."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from bundle import build, checks, icon, lock, manifest, wheel
from obsidian_mcp import __version__
from tests.support.client import MODERN_META, READING, TOOLS, Server

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build.build(tmp_path_factory.mktemp("dist"))


def test_the_manifest_is_the_generated_one() -> None:
    assert (ROOT / "manifest.json").read_text(encoding="utf-8") == manifest.text(), "run make manifest"


def test_the_icon_is_the_drawn_one() -> None:
    with Image.open(ROOT / manifest.manifest()["icon"]) as stored:
        assert stored.size == (512, 512)
        difference = ImageChops.difference(stored.convert("RGBA"), icon.draw().convert("RGBA"))
    assert difference.getbbox(alpha_only=False) is None, "run make icon"


def test_version_1_0_0_is_the_same_everywhere() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d\S*)", changelog, re.MULTILINE)  # what is not released has no number
    assert newest is not None
    assert newest[1] == json.loads((ROOT / "manifest.json").read_bytes())["version"] == __version__


def test_the_program_has_a_name_that_nobody_else_has() -> None:
    """The command keeps its own, which packages of others have on PyPI and npm."""
    declared = manifest.project()
    assert declared["name"] == "obsidian-notekeeper" == manifest.manifest()["name"]
    assert list(declared["scripts"]) == ["obsidian-mcp"]
    assert metadata.version("obsidian-notekeeper") == __version__


def test_no_placeholder_stands_for_an_address() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    shown = [name for name in listed.split("\0") if name and not name.startswith("tests/")]
    assert [name for name in shown if b"example.com" in (ROOT / name).read_bytes()] == []


def test_every_address_comes_from_the_projects_list() -> None:
    assert manifest.addresses({}) == {}
    urls = {name: f"https://notes.test/{name}" for name in (*manifest.FIELDS, "Repository", "Privacy", "Funding")}
    shown = manifest.addresses(urls)
    assert shown["homepage"] == urls["Homepage"]
    assert shown["repository"] == {"type": "git", "url": urls["Repository"]}
    assert shown["privacy_policies"] == [urls["Privacy"]]
    own = {name: value for name, value in manifest.manifest().items() if name in shown}
    assert own == manifest.addresses(manifest.project().get("urls", {}))


def test_two_builds_are_equal_byte_for_byte(built: Path, tmp_path: Path) -> None:
    assert build.build(tmp_path).read_bytes() == built.read_bytes()


def in_wheel(files: Mapping[str, bytes]) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(files[f"server/{wheel.file_name()}"]))


def test_it_holds_what_it_needs_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with in_wheel(files) as package:
        inside = {name for name in package.namelist() if ".dist-info/" not in name}
    assert set(files) == {*build.SHIPPED, *build.MADE}
    assert {"manifest.json", "server/main.py", "README.md", "PRIVACY.md", "LICENSE", "bundle/icon.png"} <= set(files)
    assert inside == set(wheel.modules())
    packages = {package["name"] for package in tomllib.loads(files["uv.lock"].decode())["package"]}
    assert {"pydantic", "pillow"} <= packages
    assert not {"pytest", "typer", "uvicorn"} & packages


def test_it_is_small(built: Path) -> None:
    assert built.stat().st_size < 300_000


def test_the_privacy_policy_is_in_it(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        assert b"privacy policy" in archive.read("PRIVACY.md").lower()
        assert b"(PRIVACY.md)" in archive.read("README.md")


def imported(source: bytes) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_every_module_in_it_can_be_reached_from_its_entry(built: Path) -> None:
    """Tools are loaded by their names in the catalogue."""
    with zipfile.ZipFile(built) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with in_wheel(files) as package:
        names = [name for name in package.namelist() if name.endswith(".py")]
        modules = {name.removesuffix(".py").replace("/", "."): imported(package.read(name)) for name in names}
    seen = {name for name in modules if name.endswith("__init__") or name.startswith("obsidian_mcp.tools.")}
    todo = [*seen, *imported(files["server/main.py"])]
    while todo:
        name = todo.pop()
        for known in (name, name.rpartition(".")[0]):
            if known in modules and (known not in seen or known == name):
                seen.add(known)
                todo += modules.pop(known)
    assert set(modules) - seen == set()


def test_nothing_in_it_begins_with_what_was_left_out() -> None:
    """What other doors need is imported by functions that the entry never calls."""
    gone = tuple(f"obsidian_mcp.{part.removesuffix('.py').rstrip('/').replace('/', '.')}" for part in wheel.LEFT_OUT)
    for name in (each for each in wheel.modules() if each.endswith(".py")):
        tree = ast.parse((ROOT / "server" / name).read_text(encoding="utf-8"))
        top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        assert not [each for each in imported(ast.unparse(top).encode()) if each.startswith(gone)], name


LEAN = {
    "a docstring": ('def f():\n    """Why."""\n    return 1', "def f():\n    return 1\n"),
    "nothing but a docstring": ('class A:\n    """Why."""', "class A:\n    pass\n"),
    "a comment": ("x = 1  # why", "x = 1\n"),
    "types of a function": ("def f(a: int, *b: str) -> int: return a", "def f(a, *b):\n    return a\n"),
    "imports for types": ("if TYPE_CHECKING:\n    import os\nx = 1", "x = 1\n"),
    "imports for types, and others instead": (
        "if TYPE_CHECKING:\n    import a\nelse:\n    import b",
        "if TYPE_CHECKING:\n    import a\nelse:\n    import b\n",
    ),
    "a field": ("class A:\n    a: int = 1", "class A:\n    a: int = 1\n"),
}


@pytest.mark.parametrize(("source", "left"), LEAN.values(), ids=LEAN)
def test_a_module_is_packed_without_what_only_readers_need(source: str, left: str) -> None:
    assert wheel.lean(source) == left


def test_the_types_that_declare_a_tool_stay() -> None:
    assert wheel.lean("def f(a: int) -> int: return a", keep_types=True) == "def f(a: int) -> int:\n    return a\n"


FOREIGN = {
    "regex-1-cp311-cp311-macosx_11_0_arm64.whl": False,
    "regex-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl": False,
    "regex-1-cp314-cp314-win_amd64.whl": False,
    "regex-1-py3-none-any.whl": False,
    "regex-1-cp311-cp311-musllinux_1_2_x86_64.whl": True,
    "regex-1-cp314-cp314t-win_amd64.whl": True,
    "regex-1-cp311-cp311-win32.whl": True,
    "regex-1-pp311-pypy311_pp73-win_amd64.whl": True,
    "regex-1-cp311-cp311-manylinux2014_s390x.manylinux_2_17_s390x.whl": True,
}


@pytest.mark.parametrize(("name", "foreign"), FOREIGN.items(), ids=FOREIGN)
def test_the_lock_names_wheels_for_desktops_machines(name: str, foreign: bool) -> None:
    line = f'    {{ url = "https://files.test/{name}", hash = "sha256:0", upload-time = "2026" }},\n'
    text = f'sdist = {{ url = "https://files.test/regex-1.tar.gz", hash = "sha256:0" }}\nwheels = [\n{line}]\n'
    kept = line.replace(', upload-time = "2026"', "")
    assert lock.trimmed(text) == f"wheels = [\n{'' if foreign else kept}]\n"


def repacked(built: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(built) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, wheel.DATE)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target


def in_package(name: str, data: bytes) -> Callable[[dict[str, bytes]], None]:
    """A file of the wheel, put there or changed."""

    def change(files: dict[str, bytes]) -> None:
        with in_wheel(files) as package:
            inside = {each: package.read(each) for each in package.namelist()}
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as package:
            for each, content in {**inside, name: data}.items():
                package.writestr(each, content)
        files[f"server/{wheel.file_name()}"] = made.getvalue()

    return change


def in_manifest(**changes: Any) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        whole = json.loads(files["manifest.json"])
        files["manifest.json"] = json.dumps({**whole, **changes}).encode()

    return change


def without(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.__delitem__(name)


BAD: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "no entry point": (without("server/main.py"), "entry point"),
    "no manifest": (without("manifest.json"), "manifest.json is missing"),
    "no icon": (without("bundle/icon.png"), "icon"),
    "an icon that is none": (lambda files: files.update({"bundle/icon.png": b"GIF"}), "PNG"),
    "another version": (in_manifest(version="9.9.9"), "version"),
    "other tools": (in_manifest(tools=[]), "tools"),
    "an optional without default": (in_manifest(user_config={"vault": {"required": False}}), "no default"),
    "an option that goes nowhere": (
        in_manifest(user_config={**manifest.USER_CONFIG, "x": {"required": True}}),
        "passed on",
    ),
    "a test inside": (lambda files: files.update({"tests/x.py": b""}), "no business"),
    "a key inside": (lambda files: files.update({"server/id_rsa": b""}), "no business"),
    "a compiled file": (in_package("obsidian_mcp/x.pyc", b""), "no business"),
    "a file beside the package": (in_package("x.py", b""), "no business"),
    "no wheel": (without(f"server/{wheel.file_name()}"), "0 wheels"),
    "an icon cut short": (lambda files: files.update({"bundle/icon.png": files["bundle/icon.png"][:30]}), "PNG"),
    "a manifest that is no JSON": (lambda files: files.update({"manifest.json": b"{"}), "malformed"),
    "no lock": (without("uv.lock"), "malformed"),
    "a lock by http": (
        lambda files: files.update({"uv.lock": files["uv.lock"].replace(b"https://", b"http://", 1)}),
        "not https",
    ),
    "another lock": (
        lambda files: files.update({"uv.lock": files["uv.lock"].replace(f'"{__version__}"'.encode(), b'"0"')}),
        "the lock has another version",
    ),
    "another package": (
        in_package("obsidian_mcp/__init__.py", b'__version__ = "0"'),
        "the package has another version",
    ),
    "another name": (in_manifest(name="x"), "not the generated one"),
    "another entry point": (
        in_manifest(server={"entry_point": "README.md", "mcp_config": {"args": ["server/main.py"]}}),
        "does not start the entry point",
    ),
    "a path out of it": (lambda files: files.update({"../x": b""}), "plain relative path"),
    "two spellings of one name": (lambda files: files.update({"README.MD": b""}), "one name"),
    "too much": (lambda files: files.update({"noise": os.urandom(checks.LARGEST)}), "allowed"),
}


@pytest.mark.parametrize(("change", "why"), BAD.values(), ids=BAD)
def test_a_bad_bundle_is_refused(built: Path, tmp_path: Path, change: Any, why: str) -> None:
    checks.check(repacked(built, tmp_path / "good.mcpb", lambda files: None))
    with pytest.raises(checks.BadBundle, match=re.escape(why)):
        checks.check(repacked(built, tmp_path / "bad.mcpb", change))


def test_a_zip_that_readers_could_disagree_on_is_refused(built: Path, tmp_path: Path) -> None:
    data = built.read_bytes()
    for name, bad in {
        "before": b"x" + data,
        "comment": data[:-2] + b"\x01\x00x",
        "behind": data + b"junk",
        "between": data.replace(b"PK\x01\x02", b"xPK\x01\x02", 1),
        "header": data[:14] + b"\0\0\0\0" + data[18:],
    }.items():
        file = tmp_path / name
        file.write_bytes(bad)
        with pytest.raises((checks.BadBundle, zipfile.BadZipFile)):
            checks.check_zip(file)


def one_entry(**changes: Any) -> bytes:
    """A zip with one file that is odd in one way."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("a.txt", wheel.DATE)
        entry.external_attr = 0o100644 << 16
        for name, value in changes.items():
            setattr(entry, name, value)
        archive.writestr(entry, b"x")
    return made.getvalue()


ODD = {
    "an executable": {"external_attr": 0o100755 << 16},
    "a link": {"external_attr": 0o120777 << 16},
    "an extra field": {"extra": b"\x99\x99\x00\x00"},
    "an absolute path": {"filename": "/a.txt"},
    "a drive": {"filename": "C:a.txt"},
    "a backslash": {"filename": "a\\b.txt"},
}


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_an_odd_file_in_a_zip_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    file = tmp_path / "x.zip"
    file.write_bytes(one_entry())
    checks.check_zip(file)
    file.write_bytes(one_entry(**changes))
    with pytest.raises(checks.BadBundle):
        checks.check_zip(file)


def test_a_refused_bundle_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LARGEST", 1)
    with pytest.raises(checks.BadBundle):
        build.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


class Desktop:
    """What the app does with a bundle: unpack it, fill in the variables, start it from / with little around it."""

    def __init__(self, bundle: Path, folder: Path) -> None:
        self.folder = folder / "extension"
        self.home = folder / "home"
        self.home.mkdir()
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(self.folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_bytes())

    def start(self, **answers: Any) -> Server:
        config = self.manifest["server"]["mcp_config"]
        defaults = {
            key: option["default"] for key, option in self.manifest["user_config"].items() if "default" in option
        }
        values = {"__dirname": str(self.folder), "HOME": str(self.home), "/": "/"}
        values |= {f"user_config.{key}": value for key, value in {**defaults, **answers}.items()}
        arguments = [each for word in config["args"] for each in self.expanded(word, values)]
        environment = {name: self.filled(word, values) for name, word in config["env"].items()}
        return Server({**self.surroundings(), **environment}, *arguments, command=self.command())

    def command(self) -> list[str]:
        """The app ignores `command` and uses a uv of its own; its working directory is /."""
        uv = str(Path(sys.executable).with_name("uv"))
        return ["/bin/sh", "-c", 'cd / && exec "$0" "$@"', uv]

    def surroundings(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in ("SSL_CERT_FILE", "UV_INDEX_URL") if name in os.environ}
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "UV_PYTHON": sys.executable, **passed}

    @classmethod
    def expanded(cls, word: str, values: Mapping[str, Any]) -> list[str]:
        """An argument that is a variable and nothing else becomes as many as it has values; an empty one stays."""
        alone = re.fullmatch(r"\$\{(user_config\.[^}]+)\}", word)
        known = values.get(alone[1]) if alone else None
        if isinstance(known, list):
            return known
        return [word] if alone and known in (None, "") else [cls.filled(word, values)]

    @staticmethod
    def filled(word: str, values: Mapping[str, Any]) -> str:
        """A variable without a value stays as it is written, and so does one with several."""

        def value(found: re.Match[str]) -> str:
            known = values.get(found[1], found[0])
            if isinstance(known, list):
                return found[0]
            return str(known).lower() if isinstance(known, bool) else str(known)

        return re.sub(r"\$\{([^}]+)\}", value, word)


@pytest.fixture(scope="module")
def desktop(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Desktop:
    return Desktop(built, tmp_path_factory.mktemp("desktop"))


def test_the_bundle_serves_both_eras_as_desktop_starts_it(desktop: Desktop, tmp_path: Path) -> None:
    (tmp_path / "Note.md").write_text("$\\nabla$\n", encoding="utf-8")
    with desktop.start(vault=str(tmp_path)) as server:
        reply = server.request("server/discover", {"_meta": MODERN_META})
        assert reply["result"]["supportedVersions"] == ["2026-07-28"]
        server.initialize()
        assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == TOOLS
        assert server.call("read_note", name="Note")["content"] == "$\\nabla$\n"
        server.call("create_note", name="New", content="x")
        missing = {"name": "obsidian_read_note", "arguments": {"name": "Nope"}}
        assert server.request("tools/call", missing)["result"]["isError"] is True
        assert server.finish() == 0
    assert (tmp_path / "New.md").read_text(encoding="utf-8") == "x"


def test_read_only_is_passed_on(desktop: Desktop, tmp_path: Path) -> None:
    with desktop.start(vault=[str(tmp_path)], read_only=True, files_only=True) as server:
        server.initialize()
        assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == READING


def test_it_starts_with_the_default_sets_and_switches_add_more(desktop: Desktop, tmp_path: Path) -> None:
    more = {"toolset_tasks": True, "toolset_media": True, "history_days": 0}
    with desktop.start(vault=[str(tmp_path)], **more) as server:
        server.initialize()
        names = {tool["name"] for tool in server.request("tools/list")["result"]["tools"]}
    assert names - set(TOOLS) == {"obsidian_list_tasks", "obsidian_set_task", "obsidian_view_file"}
    assert set(TOOLS) - names == {"obsidian_list_changes", "obsidian_undo_change"}


def test_several_folders_are_several_vaults(desktop: Desktop, tmp_path: Path) -> None:
    folders = [tmp_path / "My notes", tmp_path / "Wörk"]
    for folder in folders:
        folder.mkdir()
        (folder / "Note.md").write_text(folder.name, encoding="utf-8")
    with desktop.start(vault=[str(folder) for folder in folders]) as server:
        server.initialize()
        for folder in folders:
            assert server.call("read_note", name="Note", vault=folder.name)["content"] == folder.name


def test_images_and_pdfs_need_nothing_else(desktop: Desktop, tmp_path: Path) -> None:
    Image.new("RGB", (3000, 3000)).save(tmp_path / "a.bmp")
    with desktop.start(vault=[str(tmp_path)], toolset_media=True) as server:
        server.initialize()
        shown = server.request("tools/call", {"name": "obsidian_view_file", "arguments": {"name": "a.bmp"}})["result"]
    assert [part["type"] for part in shown["content"] if part["type"] == "image"] == ["image"]


EMPTY: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "placeholders": {key: f"${{user_config.{key}}}" for key in manifest.USER_CONFIG},
    "empty texts": dict.fromkeys(manifest.USER_CONFIG, ""),
    "what nobody would write": {key: "null" for key in manifest.USER_CONFIG if key != "vault"},
}


@pytest.mark.parametrize("answers", EMPTY.values(), ids=EMPTY)
def test_a_form_that_is_not_filled_in_means_the_defaults(desktop: Desktop, tmp_path: Path, answers: Any) -> None:
    vault = tmp_path / "Only"
    vault.mkdir()
    listed = desktop.home / ".config/obsidian/obsidian.json"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(json.dumps({"vaults": {"0123456789abcdef": {"path": str(vault), "open": True}}}))
    with desktop.start(**answers) as server:
        server.initialize()
        assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == TOOLS
        server.call("create_note", name="New", content="x", overwrite=True)
    assert (vault / "New.md").exists()
    listed.unlink()


@pytest.mark.parametrize("vault", ["", [], "${user_config.vault}", ["/nowhere/at/all"]])
def test_without_a_vault_every_call_says_what_to_do_in_desktop(desktop: Desktop, vault: Any) -> None:
    with desktop.start(vault=vault) as server:
        server.initialize()
        assert len(server.request("tools/list")["result"]["tools"]) == len(TOOLS)
        failed = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Note"}})["result"]
    assert failed["isError"] is True
    said = failed["content"][0]["text"]
    assert "Settings > Extensions > Obsidian notes > Configure" in said
    assert manifest.USER_CONFIG["vault"]["title"] in said
    assert "--vault" not in said
