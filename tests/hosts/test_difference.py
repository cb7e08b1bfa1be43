"""A change is shown by lines, and shows nothing of what stands around it."""

from __future__ import annotations

import pytest

from obsidian_mcp.hosts.difference import LONGEST_LINE, unified

CASES = {
    "a line that comes": ("a\nc\n", "a\nb\nc\n", ["@@ -1,0 +2 @@", "+b"]),
    "a line that goes": ("a\nb\nc\n", "a\nc\n", ["@@ -2 +1,0 @@", "-b"]),
    "a line that changes": ('"x": 1\n"y": 2\n', '"x": 1\n"z": 2\n', ["@@ -2 +2 @@", '-"y…', '+"z…']),
    "a comma after another's line": (
        '{\n  "key": "secret"\n}\n',
        '{\n  "key": "secret",\n  "s": 1\n}\n',
        ["@@ -2 +2,2 @@", "-  …", "+  …,", '+  "s": 1'],
    ),
    "one line": ('{"key": "secret"}', '{"key": "secret", "s": 1}', ["@@ -1 +1 @@", "-…}", '+…, "s": 1}']),
    "two places, and what stays between them": (
        '"a": 1,\n"env": "secret",\n"b": 1\n',
        '"a": 2,\n"env": "secret",\n"b": 2\n',
        ["@@ -1 +1 @@", '-"a": 1,', '+"a": 2,', "@@ -3 +3 @@", '-"b": 1', '+"b": 2'],
    ),
    "Windows line ends": ("a\r\n", "a\r\nb\r\n", ["@@ -1,0 +2 @@", "+b"]),
    "no end of the last line": ("{}", "{}\nb", ["@@ -1,0 +2 @@", "+b"]),
}


@pytest.mark.parametrize(("before", "after", "shown"), CASES.values(), ids=CASES)
def test_the_lines_that_change_are_shown_and_no_other(before: str, after: str, shown: list[str]) -> None:
    found = unified("/f", before, after, {"a", "b", "x", "s"})
    assert found[:2] == ["--- /f", "+++ /f"]
    assert found[2:] == shown


def test_a_file_that_comes_or_goes_is_nowhere_before_or_after() -> None:
    assert unified("/f", None, "{}\n") == ["--- /dev/null", "+++ /f", "@@ -0,0 +1 @@", "+{}"]
    assert unified("/f", "{}\n", None) == ["--- /f", "+++ /dev/null", "@@ -1 +0,0 @@", "-{}"]


def test_nothing_is_shown_of_no_change() -> None:
    assert unified("/f", "{}", "{}") == []


def test_a_long_line_is_cut() -> None:
    assert len(unified("/f", None, "x" * 1000)[-1]) == LONGEST_LINE + 3
