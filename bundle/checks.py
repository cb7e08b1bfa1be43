"""What must be true of a bundle before anybody installs it. Stricter than `mcpb validate`."""

from __future__ import annotations

import io
import json
import re
import struct
import tomllib
import zipfile
import zlib
from pathlib import Path
from typing import Any

from bundle import manifest

LARGEST = 300_000
PROJECT = "obsidian-notekeeper-extension"  # the project that uv runs; ours is one of its packages
# Whatever else a tree may hold: keys, caches, tests, notes of somebody's.
ALLOWED = re.compile(
    r"manifest\.json|pyproject\.toml|uv\.lock|README\.md|PRIVACY\.md|LICENSE|bundle/icon\.png|server/main\.py"
    r"|server/[a-z_]+-[0-9.]+-py3-none-any\.whl"
)
IN_WHEEL = re.compile(r"obsidian_mcp/(?!tests/)(?:[a-z_]+/)*[a-z_0-9]+\.(?:py|json)|[a-z_]+-[0-9.]+\.dist-info/[A-Z]+")
PNG = b"\x89PNG\r\n\x1a\n"


class BadBundle(Exception):
    """One sentence on what is wrong with it."""


def check(file: Path) -> None:
    """Raise BadBundle for the first thing that is wrong."""
    try:
        _check(file)
    except (KeyError, TypeError, ValueError, struct.error, zlib.error, zipfile.BadZipFile) as error:
        raise BadBundle(f"it is malformed ({type(error).__name__}: {error})") from None


def _check(file: Path) -> None:
    _need(file.stat().st_size < LARGEST, f"it has {file.stat().st_size} bytes, and {LARGEST} are allowed")
    check_zip(file)
    with zipfile.ZipFile(file) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    _need("manifest.json" in files, "manifest.json is missing")
    for name in files:
        _need(bool(ALLOWED.fullmatch(name)), f"{name} has no business in it")
    files |= _in_wheel(files)
    check_content(json.loads(files["manifest.json"]), files)
    _need(files["manifest.json"] == manifest.text().encode(), "its manifest is not the generated one")


def _in_wheel(files: dict[str, bytes]) -> dict[str, bytes]:
    """The package's files, by their paths in it; each as its record says."""
    wheels = [name for name in files if name.endswith(".whl")]
    _need(len(wheels) == 1, f"it has {len(wheels)} wheels")
    with zipfile.ZipFile(io.BytesIO(files[wheels[0]])) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    for name in found:
        _need(bool(IN_WHEEL.fullmatch(name)), f"{name} has no business in its wheel")
    return found


def check_zip(file: Path) -> None:
    """A plain zip: what one reader finds, every other does. Desktop's reader is strict."""
    data = file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        _need(archive.testzip() is None, "a checksum is wrong")
        _need(archive.comment == b"", "the archive has a comment")
    names = [entry.filename for entry in entries]
    _need(len({name.lower() for name in names}) == len(names), "two files have one name")
    at = 0
    for entry in entries:
        name = entry.filename
        parts = name.split("/")
        safe = not name.startswith("/") and "\\" not in name and ":" not in name and not {"", ".", ".."} & set(parts)
        _need(safe, f"{name} is not a plain relative path")
        _need(entry.external_attr == 0o100644 << 16, f"{name} is not a plain file that everybody may read")
        _need(entry.flag_bits & ~0x800 == 0, f"{name} has flags that some readers do not know")
        _need(not entry.extra, f"{name} has an extra field")
        _need(entry.header_offset == at, f"there is something before {name} that no reader expects")
        signature, _, flags, method, _, _, crc, packed, size, length, extra = struct.unpack_from(
            "<IHHHHHIIIHH", data, at
        )
        same = (signature, flags, method, crc, packed, size, extra) == (
            0x04034B50,
            entry.flag_bits,
            entry.compress_type,
            entry.CRC,
            entry.compress_size,
            entry.file_size,
            0,
        )
        _need(same, f"the two headers of {name} differ")
        at += 30 + length + packed
    _need(data[at : at + 4] == b"PK\x01\x02", "there is something between the files and their list")
    _need(data[-22:-18] == b"PK\x05\x06", "there is something behind its end")


def check_content(declared: dict[str, Any], files: dict[str, bytes]) -> None:
    server = declared["server"]
    _need(server["entry_point"] in files, f"the entry point {server['entry_point']} is not in it")
    _need(server["entry_point"] in server["mcp_config"]["args"], "the command does not start the entry point")
    _need(declared["icon"] in files, f"the icon {declared['icon']} is not in it")
    icon = files[declared["icon"]]
    whole = icon.startswith(PNG) and icon.endswith(b"IEND\xaeB`\x82")
    _need(whole and struct.unpack(">II", icon[16:24]) == (512, 512), "the icon is no 512×512 PNG")
    _check_versions(declared["version"], files)
    tools = json.loads(files["obsidian_mcp/tools/listings.json"]).values()
    offered = {tool["name"]: tool["description"] for tool in declared["tools"]}
    _need(offered == {tool["name"]: tool["description"] for tool in tools}, "the tools differ from the catalogue's")
    for name, option in declared["user_config"].items():
        _need(option["required"] or "default" in option, f"{name} is optional and has no default")
    wanted = set(re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(server["mcp_config"])))
    _need(wanted == set(declared["user_config"]), "what is asked of the user is not what is passed on")


def _check_versions(version: str, files: dict[str, bytes]) -> None:
    own = re.search(rb"__version__ = [\"']([^\"']+)", files["obsidian_mcp/__init__.py"])
    lock = tomllib.loads(files["uv.lock"].decode("utf-8"))
    urls = set(re.findall(r'"([a-z]+)://', files["uv.lock"].decode("utf-8")))
    _need(urls <= {"https"}, "the lock names places that are not https")
    locked = {package["name"]: package["version"] for package in lock["package"]}
    project = tomllib.loads(files["pyproject.toml"].decode("utf-8"))["project"]
    _need(own is not None and own[1].decode() == version, "the package has another version than the manifest")
    versions = {project["version"], locked[PROJECT], locked[manifest.project()["name"]]}
    _need(versions == {version}, "the lock has another version than the manifest")


def _need(true: bool, otherwise: str) -> None:
    if not true:
        raise BadBundle(otherwise)
