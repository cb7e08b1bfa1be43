"""The bundle: what is in it, what may not be, and that it starts as Claude Desktop starts it."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from bundle import build, checks, icon, manifest
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


def test_every_address_comes_from_the_projects_list() -> None:
    urls = set(manifest.project()["urls"].values())
    for file in build.wanted():
        if file.endswith((".py", ".md", ".json", ".toml")):
            found = set(re.findall(r"https?://example\.com[\w./-]*", (ROOT / file).read_text(encoding="utf-8")))
            assert found <= urls, file


def test_two_builds_are_equal_byte_for_byte(built: Path, tmp_path: Path) -> None:
    assert build.build(tmp_path).read_bytes() == built.read_bytes()


def test_it_holds_tracked_files_and_what_was_made_for_it(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = set(archive.namelist())
        lock = tomllib.loads(archive.read("uv.lock").decode("utf-8"))
    assert names == {*build.wanted(), "uv.lock"}
    assert {"manifest.json", "server/main.py", "README.md", "LICENSE", "bundle/icon.png"} <= names
    assert "pytest" not in {package["name"] for package in lock["package"]}


def repacked(built: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    with zipfile.ZipFile(built) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, build.DATE)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target


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
    "a compiled file": (lambda files: files.update({"server/obsidian_mcp/x.pyc": b""}), "no business"),
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
        lambda files: files.update({"server/obsidian_mcp/__init__.py": b'__version__ = "0"'}),
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
        entry = zipfile.ZipInfo("a.txt", build.DATE)
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
        arguments = [self.filled(word, values) for word in config["args"]]
        environment = {name: self.filled(word, values) for name, word in config["env"].items()}
        return Server({**self.surroundings(), **environment}, *arguments, command=self.command())

    def command(self) -> list[str]:
        """The app ignores `command` and uses a uv of its own; its working directory is /."""
        uv = str(Path(sys.executable).with_name("uv"))
        return ["/bin/sh", "-c", 'cd / && exec "$0" "$@"', uv]

    def surroundings(self) -> dict[str, str]:
        passed = {name: os.environ[name] for name in ("SSL_CERT_FILE", "UV_INDEX_URL") if name in os.environ}
        return {"PATH": "/usr/bin:/bin", "HOME": str(self.home), "UV_PYTHON": sys.executable, **passed}

    @staticmethod
    def filled(word: str, values: Mapping[str, Any]) -> str:
        """A variable without a value stays as it is written."""

        def value(found: re.Match[str]) -> str:
            known = values.get(found[1], found[0])
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
    with desktop.start(vault=str(tmp_path), read_only=True, backend="embedded") as server:
        server.initialize()
        assert [tool["name"] for tool in server.request("tools/list")["result"]["tools"]] == READING


def test_unset_optionals_are_the_defaults(desktop: Desktop, tmp_path: Path) -> None:
    vault = tmp_path / "Only"
    vault.mkdir()
    listed = desktop.home / ".config/obsidian/obsidian.json"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_text(json.dumps({"vaults": {"0123456789abcdef": {"path": str(vault), "open": True}}}))
    for answers in ({}, {"vault": "${user_config.vault}", "backend": "${user_config.backend}"}):
        with desktop.start(**answers) as server:
            server.initialize()
            server.call("create_note", name="New", content="x", overwrite=True)
    assert (vault / "New.md").exists()
    listed.unlink()


def test_without_any_vault_every_call_says_what_to_do(desktop: Desktop) -> None:
    with desktop.start(vault="") as server:
        server.initialize()
        assert len(server.request("tools/list")["result"]["tools"]) == len(TOOLS)
        failed = server.request("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Note"}})["result"]
        assert failed["isError"] is True
        assert "settings of the extension" in failed["content"][0]["text"]
