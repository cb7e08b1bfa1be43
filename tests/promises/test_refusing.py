"""Bad input never changes anything, and nothing leads out of the vault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.promises.ground import Ground

ESCAPES = [
    "..",
    "../x",
    "a/../../x",
    "a/..",
    "./x",
    "/etc/passwd",
    "//host/share",
    "\\\\host\\share",
    "..\\x",
    "a\\..\\x",
    "C:/x",
    "c:x",
    "C:\\x",
    "a//b",
    "a/",
    "x\x00y",
    "x\ny",
    "x\x1by",
    "x\x7f",
    "\x85",
    ".obsidian/app.json",
    ".obsidian/app",
    "a/.trash/x",
    ".hidden",
    "",
    "   ",
    " / ",
]
TOOLS: dict[str, dict[str, Any]] = {
    "create_note": {"content": "x", "overwrite": True},
    "read_note": {},
    "append_note": {"content": "x"},
    "prepend_note": {"content": "x"},
    "delete_note": {"permanent": True},
    "move_note": {"to": "Elsewhere"},
    "rename_note": {"new_name": "Other"},
    "open_note": {},
    "file_info": {},
    "edit_note": {"old_text": "x", "new_text": "y"},
    "set_properties": {"set": {"a": 1}},
    "set_task": {"task": "x"},
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_path_that_leads_elsewhere_is_refused_before_anything_runs(ground: Ground, tool: str) -> None:
    ground.put(".obsidian/app.json" if not ground.prefix else "x.md", "{}")
    for name in ESCAPES:
        failure = ground.fails(tool, name=name, **TOOLS[tool])
        assert (failure.code, failure.error_code) == (-32602, "INVALID_ARGUMENTS"), name


WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "no name": ("read_note", {}),
    "a name of another type": ("read_note", {"name": 7}),
    "null as name": ("read_note", {"name": None}),
    "an unknown argument": ("read_note", {"name": "A.md", "path": "B.md"}),
    "vault where there is one": ("read_note", {"name": "A.md", "vault": "Vault"}),
    "a word for a boolean": ("delete_note", {"name": "A.md", "permanent": "yes"}),
    "a number for a boolean": ("delete_note", {"name": "A.md", "permanent": 1}),
    "true for a number": ("read_note", {"name": "A.md", "start_line": True}),
    "text for a number": ("read_note", {"name": "A.md", "start_line": "1"}),
    "a fraction for a number": ("read_note", {"name": "A.md", "max_lines": 1.5}),
    "line zero": ("read_note", {"name": "A.md", "start_line": 0}),
    "a negative count": ("read_note", {"name": "A.md", "max_lines": -1}),
    "no content": ("append_note", {"name": "A.md"}),
    "empty content": ("append_note", {"name": "A.md", "content": ""}),
    "content of another type": ("append_note", {"name": "A.md", "content": ["x"]}),
    "half a character": ("append_note", {"name": "A.md", "content": "a\ud800b"}),
    "half a character in a new note": ("create_note", {"name": "B.md", "content": "a\ud800b"}),
    "half a character in a path": ("read_note", {"name": "x/a\ud800.md"}),
    "half a character as etag": ("delete_note", {"name": "A.md", "if_match": "\ud800"}),
    "half a character as name": ("create_note", {"name": "a\udfff", "content": "x"}),
    "an etag of another type": ("delete_note", {"name": "A.md", "if_match": 1}),
    "no destination": ("move_note", {"name": "A.md"}),
    "no new name": ("rename_note", {"name": "A.md"}),
}


@pytest.mark.parametrize(("tool", "arguments"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused_and_named(ground: Ground, tool: str, arguments: dict[str, Any]) -> None:
    path = ground.put("A.md", "a")
    if arguments.get("name") == "A.md":
        arguments = {**arguments, "name": path}
    failure = ground.fails(tool, **arguments)
    assert (failure.code, failure.error_code) == (-32602, "INVALID_ARGUMENTS")
    assert all(problem["name"] in failure.message for problem in failure.data["invalid"])


@pytest.mark.parametrize("tool", TOOLS)
def test_a_symbolic_link_out_of_the_vault_is_not_followed(near: Ground, tool: str) -> None:
    outside = near.folder.parent / "obsidian-mcp-outside"
    outside.mkdir(exist_ok=True)
    try:
        secret = outside / "Secret.md"
        secret.write_text("secret")
        near.put("Note.md", "x")
        (near.folder / near.at("link")).symlink_to(outside)
        (near.folder / near.at("Linked.md")).symlink_to(secret)
        for name in ("link/Secret", "Linked", "link/New"):
            if tool != "create_note" and name == "link/New":
                continue
            failure = near.fails(tool, name=near.at(name), **TOOLS[tool])
            assert (failure.code, failure.error_code) == (-32005, "PERMISSION_DENIED"), name
        assert near.fails("move_note", name=near.at("Note.md"), to=near.at("link")).code == -32005
        assert [(file.name, file.read_text()) for file in outside.iterdir()] == [("Secret.md", "secret")]
    finally:
        for file in outside.iterdir():
            file.unlink()
        outside.rmdir()


def test_a_symbolic_link_into_a_hidden_folder_is_not_followed(near: Ground) -> None:
    near.put(".hidden-zq/app.md", "settings")
    (near.folder / near.at("link")).symlink_to(near.folder / near.at(".hidden-zq"))
    assert near.fails("read_note", name=near.at("link/app")).code == -32005


def test_a_symbolic_link_within_the_vault_is_fine(near: Ground) -> None:
    near.put("Real.md", "text")
    (near.folder / near.at("Alias.md")).symlink_to(near.folder / near.at("Real.md"))
    assert near.call("read_note", name=near.at("Alias.md"))["content"] == "text"
    near.call("append_note", name=near.at("Alias.md"), content="\\nu")
    assert near.get(near.at("Real.md")) == b"text\n\\nu"
    assert (near.folder / near.at("Alias.md")).is_symlink()


@pytest.mark.parametrize("name", ["path=Other", "vault=Other", "--help", "permanent", "file=", "-"])
def test_a_name_that_looks_like_the_commands_own_words_is_a_name(ground: Ground, name: str) -> None:
    path = ground.call("create_note", name=ground.at(name), content="overwrite")["path"]
    assert (path, ground.get(path)) == (ground.at(f"{name}.md"), b"overwrite")
    assert ground.call("delete_note", name=path)["path"] == path
