"""Writes manifest.json from what is declared elsewhere: the tools, the version, the addresses.

make manifest
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp import __version__
from obsidian_mcp.hosts import extension
from obsidian_mcp.hosts.known import ERRORS_AS_RESULTS
from obsidian_mcp.tools import catalogue
from obsidian_mcp.tools.toolsets import TOOLSETS

ROOT = Path(__file__).parents[1]
FILE = ROOT / "manifest.json"

LONG = """Lets Claude find, read and change the notes of your Obsidian vault: search it, follow links, read and write \
notes, set properties, move and rename notes with every link to them. Every change can be undone.

Choose the folder of your vault below, and ask, for example: "What did I write about the garden?", "Put a summary of \
this conversation into today's daily note" or "What did you change in my notes today? Undo the last change."

With Obsidian on this machine it works through Obsidian's own command line interface, if that is switched on \
(Settings, General, Advanced) and Obsidian is running. Without Obsidian it works on the files themselves.

Every write is checked before it is called a success. A deleted note goes to the trash. Nothing outside the vault can \
be read or changed, and nothing is sent anywhere but to Claude. The privacy policy is the file PRIVACY.md in this \
extension.

The first start downloads its Python packages, which takes a minute."""

TITLE = "Obsidian notes"
# What each set that is not on by itself is called in the form.
SETS = {
    "tasks": "Tasks",
    "tidy": "Changes to many notes at once",
    "media": "Images, PDFs and canvases",
    "graph": "How notes are linked",
    "bases": "Bases",
}


def switch(title: str, description: str) -> dict[str, Any]:
    return {"type": "boolean", "title": title, "description": description, "required": False, "default": False}


# There is no list to choose from in such a form: whatever is a choice is a switch, so that no word can be wrong.
USER_CONFIG: dict[str, Any] = {
    "vault": {
        "type": "directory",
        "title": extension.VAULTS,
        "description": "The folder of your vault, or of several. May stay empty if Obsidian knows just one vault.",
        "multiple": True,
        "required": False,
        "default": [],
    },
    "read_only": switch("Read only", "Claude can look at notes, and change nothing."),
    **{
        f"toolset_{each.name}": switch(f"More tools: {SETS[each.name]}", each.description)
        for each in TOOLSETS.values()
        if not each.on_by_default
    },
    "history_days": {
        "type": "number",
        "title": "Days to keep changes",
        "description": "For how many days a change can be undone. With 0 nothing is kept.",
        "required": False,
        "default": 90,
        "min": 0,
        "max": 3650,
    },
    "files_only": switch(
        "Without the Obsidian app", "Work on the files themselves, even where Obsidian could be asked."
    ),
}
# Each address that a project may have, and the field that shows it.
FIELDS = {"Homepage": "homepage", "Documentation": "documentation", "Issues": "support"}


def project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


def manifest() -> dict[str, Any]:
    declared = project()
    return {
        "manifest_version": "0.4",
        "name": declared["name"],
        "display_name": TITLE,
        "version": __version__,
        "description": "Find, read, write, move and open the notes of an Obsidian vault.",
        "long_description": LONG,
        "author": {"name": declared["authors"][0]["name"]},
        **addresses(declared.get("urls", {})),
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
                    "${user_config.vault}",  # last: it may become several words
                ],
                "env": {
                    extension.TITLE: TITLE,
                    **{
                        f"{extension.PREFIX}{key.upper()}": f"${{user_config.{key}}}"
                        for key in USER_CONFIG
                        if key != "vault"
                    },
                },
            },
        },
        "tools": [{"name": tool["name"], "description": tool["description"]} for tool in catalogue.load().listing()],
        "keywords": declared["keywords"],
        "license": declared["license"],
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": declared["requires-python"]},
        },
        "user_config": USER_CONFIG,
    }


def addresses(urls: Mapping[str, str]) -> dict[str, Any]:
    """Those that the project has; what has no address is not named."""
    found: dict[str, Any] = {field: urls[name] for name, field in FIELDS.items() if name in urls}
    if "Repository" in urls:
        found["repository"] = {"type": "git", "url": urls["Repository"]}
    if "Privacy" in urls:
        found["privacy_policies"] = [urls["Privacy"]]
    return found


def file_name() -> str:
    """What the bundle is called."""
    return f"{project()['name']}-{__version__}.mcpb"


def text() -> str:
    return json.dumps(manifest(), ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
