from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.backends.obsidian import argv, replies
from obsidian_mcp.vault.active import Active, Place, Unreadable, from_app, from_workspace
from obsidian_mcp.vault.path import VaultPath

KEYS = ["base", "path", "text", "from", "to", "head", "line", "character", "main", "active", "type", "children"]
KEYS += ["state", "file", "id", "currentTab"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(KEYS), inner),
)


def leaf(file: str | None, id: str = "x") -> dict[str, Any]:
    return {"id": id, "type": "leaf", "state": {"type": "markdown", "state": {"file": file}}}


def tabs(*leaves: dict[str, Any], current: int = 0) -> dict[str, Any]:
    return {"type": "tabs", "children": list(leaves), "currentTab": current}


def test_what_the_app_says_is_taken_over() -> None:
    said = {"base": "/v", "path": "a/b.md", "mode": "source", "text": "x", "head": {"line": 4, "character": 1}}
    said |= {"from": {"line": 3, "character": 0}, "to": {"line": 4, "character": 1}}
    expected = Active(VaultPath("a/b.md"), "x", Place(3, 0), Place(4, 1), Place(4, 1))
    assert from_app(json.dumps(said)) == ("/v", expected)


def test_without_a_note_there_is_nothing_active() -> None:
    assert from_app('{"base":"/v","path":null}') == ("/v", None)


@pytest.mark.parametrize(
    "said",
    ["", "{", "7", "{}", '{"base":7}', '{"base":"/v","path":"../x"}', '{"base":"/v","path":7}',
     '{"base":"/v","path":"a.md","text":7}', '{"base":"/v","path":"a.md","from":{"line":-1,"character":0}}',
     '{"base":"/v","path":"a.md","from":{"line":true,"character":0}}', '{"base":"/v","path":"a.md","to":3}'],
)  # fmt: skip
def test_what_the_app_should_not_say_is_refused(said: str) -> None:
    with pytest.raises(Unreadable):
        from_app(said)


@given(JSON)
def test_no_answer_is_too_odd(said: Any) -> None:
    with contextlib.suppress(Unreadable):
        from_app(json.dumps(said))
    from_workspace(said)


def test_the_active_tab_is_the_active_note() -> None:
    main = {"type": "split", "children": [tabs(leaf("a.md", "1"), leaf("b.md", "2")), tabs(leaf("c.md", "3"))]}
    found = from_workspace({"main": main, "active": "2"})
    assert found.active == VaultPath("b.md")
    assert found.opened == (VaultPath("a.md"), VaultPath("b.md"), VaultPath("c.md"))


def test_from_a_side_pane_the_note_is_the_one_that_is_shown() -> None:
    main = {"type": "split", "children": [tabs(leaf("a.md", "1"), leaf("b.md", "2"), current=1)]}
    assert from_workspace({"main": main, "active": "outline"}).active == VaultPath("b.md")


@pytest.mark.parametrize("file", [None, "../x.md", "/etc/passwd", ".obsidian/app.json", ""])
def test_a_tab_without_a_note_is_none(file: str | None) -> None:
    assert from_workspace({"main": tabs(leaf(file, "1")), "active": "1"}).opened == ()


def test_the_console_before_the_value_does_not_count() -> None:
    assert replies.evaluated('said\n=> no\n=> {"a":1}\n') == '{"a":1}'
    assert replies.evaluated("Error: no") is None


OBSIDIAN = """
const editor = {getSelection: () => 'sel', getCursor: (which) => ({line: {from: 1, to: 2, head: 2}[which], ch: 3})};
const view = {file: {path: 'a/b.md'}, editor, getMode: () => MODE};
const app = {
  vault: {getName: () => 'V', adapter: {getBasePath: () => '/v'}},
  workspace: {activeEditor: ACTIVE, getMostRecentLeaf: () => LEAF, getActiveFile: () => null},
};
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="the expression is JavaScript, and there is no node here")
@pytest.mark.parametrize(
    ("active", "recent", "mode", "path", "text"),
    [
        ("view", "null", "source", "a/b.md", "sel"),
        ("null", "({view})", "source", "a/b.md", "sel"),
        ("view", "null", "preview", "a/b.md", ""),
        ("null", "null", "source", None, ""),
        ("null", "({view: {}})", "source", None, ""),
    ],
)
def test_the_expression_is_javascript_that_tells_the_selection(
    active: str, recent: str, mode: str, path: str | None, text: str
) -> None:
    """Against objects shaped as Obsidian's are documented: not against Obsidian."""
    (_, code) = argv.active()
    mocked = OBSIDIAN.replace("ACTIVE", active).replace("LEAF", recent).replace("MODE", json.dumps(mode))
    script = f"{mocked}\nconsole.log(eval({json.dumps(code.removeprefix('code='))}))"
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=60)
    base, found = from_app(done.stdout)
    assert base == "/v"
    assert (found.path.value if found else None) == path
    if found and text:
        assert found == Active(VaultPath("a/b.md"), "sel", Place(1, 3), Place(2, 3), Place(2, 3))
    elif found:
        assert found == Active(VaultPath("a/b.md"))
