"""What people who carry on find: pages, hooks and an editor's settings that are true."""

from __future__ import annotations

import configparser
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "PRIVACY.md", ".github/ISSUE_TEMPLATE/bug.md"]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", PAGES)
def test_links_and_commands_of_a_page_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert [link for link in LINK.findall(text) if not (ROOT / link).exists()] == []
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= TARGETS
    assert "@" not in text, "an address that may not exist"
    assert "http" not in text


def test_contributing_is_ten_lines() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert [line.partition(".")[0] for line in lines[2:]] == [str(number) for number in range(1, 11)]


def test_the_template_has_what_a_host_shows_first() -> None:
    _, head, body = (ROOT / ".github/ISSUE_TEMPLATE/bug.md").read_text(encoding="utf-8").split("---\n", 2)
    assert {"name", "about"} <= set(yaml.safe_load(head))
    assert "obsidian-mcp doctor" in body


def test_the_editor_is_told_what_the_formatter_enforces() -> None:
    told = configparser.ConfigParser()
    told.read_string("[top]\n" + (ROOT / ".editorconfig").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert told["top"]["root"] == "true"
    assert int(told["*.py"]["max_line_length"]) == project["tool"]["ruff"]["line-length"]
    assert told["Makefile"]["indent_style"] == "tab"


def hooks() -> list[dict[str, object]]:
    configured = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in configured["repos"]] == ["local"], "nothing is downloaded"
    return [hook for repo in configured["repos"] for hook in repo["hooks"]]


def test_the_hooks_pass_on_this_tree() -> None:
    for hook in hooks():
        assert (hook["language"], hook["pass_filenames"]) == ("system", False)
        done = subprocess.run(str(hook["entry"]).split(), cwd=ROOT, capture_output=True, timeout=110, check=False)
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def test_the_hooks_are_part_of_make_check() -> None:
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^check: lint\b", rules, re.MULTILINE)
    assert {hook["entry"] for hook in hooks()} == {"make lint"}
