"""Tokens as a model counts them, by npm's `gpt-tokenizer`, whose ranks are in the package."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.rivals import ROOT

INSTALLED = ROOT / "build" / "agents"
PACKAGE = "gpt-tokenizer@4.0.0"
LIMIT = 300


def count(texts: Sequence[str]) -> list[int] | None:
    """Of each text; None where there is no Node."""
    if not _is_installed():
        return None
    done = subprocess.run(
        ["node", "tokens.mjs"], cwd=INSTALLED, input=json.dumps(texts), capture_output=True, text=True, timeout=LIMIT,
        check=False,
    )  # fmt: skip
    if done.returncode:
        return None
    found: list[int] = json.loads(done.stdout)
    return found


def _is_installed() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    INSTALLED.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("tokens.mjs"), INSTALLED / "tokens.mjs")
    if (INSTALLED / "node_modules" / "gpt-tokenizer").is_dir():
        return True
    words = ["npm", "install", "--prefix", str(INSTALLED), "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
    return subprocess.run(words, capture_output=True, timeout=LIMIT, check=False).returncode == 0
