"""Our own commands as a person can paste them into a shell."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys

NAME = "obsidian-mcp"
_PLAIN = re.compile(r"[\w@%+=:,./\\~-]+", re.ASCII)  # PowerShell takes it as one word


def command_line(*words: str, platform: str = sys.platform) -> str:
    """By its name; where a shell would not find it, or another program of that name, by its full path."""
    program = _program()
    if platform != "win32":
        return shlex.join([program, *words])
    called = " ".join(map(_quoted, (program, *words)))
    return f"& {called}" if called.startswith("'") else called


def quoted(word: str, platform: str = sys.platform) -> str:
    return _quoted(word) if platform == "win32" else shlex.quote(word)


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "''") + "'"


def _program() -> str:
    script = os.path.abspath(sys.argv[0])
    if os.path.basename(script).lower() not in (NAME, f"{NAME}.exe") or not os.path.exists(script):
        return NAME
    found = shutil.which(NAME)
    return NAME if found and os.path.samefile(found, script) else script
