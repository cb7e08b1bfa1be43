"""Every sentence of the doors' contracts has an id, and a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SPECS = Path(__file__).parents[3] / "specs"
TESTS = Path(__file__).parents[2]


@pytest.mark.parametrize("spec", ["http.md", "history-page.md", "ide-door.md"])
def test_every_id_is_named_by_a_test(spec: str) -> None:
    ids = re.findall(r"^- \*\*([A-Z]\d+)\*\* ", (SPECS / spec).read_text(encoding="utf-8"), re.MULTILINE)
    assert ids
    names = set()
    for file in TESTS.rglob("test_*.py"):
        for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf-8")):
            names |= set(name.split("_"))
    assert [id for id in ids if id.lower() not in names] == []
