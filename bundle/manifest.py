"""Writes manifest.json from what is declared elsewhere: the tools, the version, the addresses.

make manifest
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from obsidian_mcp import __version__
from obsidian_mcp.hosts.known import ERRORS_AS_RESULTS
from obsidian_mcp.tools import catalogue

ROOT = Path(__file__).parents[1]
FILE = ROOT / "manifest.json"

LONG = """Lets Claude find, read and change the notes of your Obsidian vault: search, list folders, \
links, tags and properties; create, read, append, prepend, delete, move, rename, open and describe.

With Obsidian on this machine it works through the official command line interface, which has to be switched on \
(Settings, General, Advanced) while Obsidian is running. Without Obsidian it does the same on the files themselves, \
and mends every link when a note is moved.

Every write is checked before it is called a success. A deleted note goes to the trash. Nothing outside the vault can \
be reached, and nothing is sent anywhere but to Claude.

The first start downloads its Python packages. If it does not work, look at its log in Claude's settings: errors say \
what happened and what to do."""

USER_CONFIG: dict[str, Any] = {
    "vault": {
        "type": "directory",
        "title": "Vault folder",
        "description": "The folder of your vault. May stay empty if Obsidian is installed and knows one vault.",
        "required": False,
        "default": "",
    },
    "read_only": {
        "type": "boolean",
        "title": "Read only",
        "description": "Offer only the tools that change nothing.",
        "required": False,
        "default": False,
    },
    "toolsets": {
        "type": "string",
        "title": "Tools",
        "description": "default, all, or names of sets between commas: notes, find.",
        "required": False,
        "default": "default",
    },
    "backend": {
        "type": "string",
        "title": "Backend",
        "description": "auto, obsidian (through the app) or embedded (on the files themselves).",
        "required": False,
        "default": "auto",
    },
}


def project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


def manifest() -> dict[str, Any]:
    declared = project()
    urls, author = declared["urls"], declared["authors"][0]["name"]
    return {
        "manifest_version": "0.4",
        "name": declared["name"],
        "display_name": "Obsidian notes",
        "version": __version__,
        "description": "Find, read, write, move and open the notes of an Obsidian vault.",
        "long_description": LONG,
        "author": {"name": author, "url": urls["Homepage"]},
        "repository": {"type": "git", "url": urls["Repository"]},
        "homepage": urls["Homepage"],
        "documentation": urls["Documentation"],
        "support": urls["Issues"],
        "icon": "bundle/icon.png",
        "server": {
            "type": "uv",
            "entry_point": "server/main.py",
            "mcp_config": {
                "command": "uv",
                "args": [
                    "run",
                    "--frozen",
                    "--no-dev",
                    "--directory",
                    "${__dirname}",
                    "server/main.py",
                    *ERRORS_AS_RESULTS,
                ],
                "env": {f"OBSIDIAN_MCP_{key.upper()}": f"${{user_config.{key}}}" for key in USER_CONFIG},
            },
        },
        "tools": [{"name": tool["name"], "description": tool["description"]} for tool in catalogue.load().listing()],
        "keywords": declared["keywords"],
        "license": declared["license"],
        "privacy_policies": [urls["Privacy"]],
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": declared["requires-python"]},
        },
        "user_config": USER_CONFIG,
    }


def text() -> str:
    return json.dumps(manifest(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
