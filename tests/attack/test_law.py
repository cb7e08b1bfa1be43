from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack.law import Reading, law


def vault(folder: Path) -> Path:
    notes = {
        "A/n.md": "[[Topic]] and [x](../B/sub/Topic.md)\n- item\n```\n[[Topic]]\n```\n[[n]]",
        "A/sub/Topic.md": '---\nup: "[[n]]"\n---\n| a |\n|---|\n| [[B/sub/Topic\\|b]] |',
        "B/sub/Topic.md": "> [[A/n|x]]\n\n![p](../p.png)",
        "B/p.png": "",
        "C.canvas": '{"nodes":[{"type":"file","file":"A/n.md"}]}',
    }
    for path, text in notes.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_random_moves_break_no_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert law(vault(tmp_path / "Vault"), 12, 3) == 0
    assert "0 broken" in capsys.readouterr().out


def test_a_link_that_breaks_is_noticed(tmp_path: Path) -> None:
    reading = Reading(vault(tmp_path / "Vault"))
    reading.look()
    before = reading.lead()
    assert before["A/n.md"] == ["A/sub/Topic.md", "B/sub/Topic.md", "A/n.md"]
    (tmp_path / "Vault/A/sub/Topic.md").rename(tmp_path / "Vault/A/sub/Other.md")
    reading.look()
    assert reading.lead()["A/n.md"] != before["A/n.md"]
