"""Random sequences of the tools on a random vault, against a model that is a dictionary."""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import re
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from obsidian_mcp.app import App
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import AlreadyExists, Conflict, Failure, InvalidArguments, NoteNotFound, ObsidianNotRunning
from obsidian_mcp.settings import load
from tests.support.world import World

# No two are one name in another case or Unicode form; each can be written in any.
NAMES = (
    "Note", "Über", "Cafe\u0301", "日本語",
    "👩‍👩‍👧‍👦", "עברית", "a.b.c", "CON", "aux", "nul.txt", "-rf", "--help", "path=x",
    "vault=y", "permanent", "100%", "it's", "“quoted”", "x" * 252, "ü" * 126, " leading", "e\u0323\u0302", "İ", "ſ",
    "\u200b", "tab\u2003wide", "Error: File \"x\" not found.", "(no output)", "=> 1", "$HOME", "`id`", "&&", ";",
)  # fmt: skip
FOLDERS = ("", "Deep/", "Deep/Deeper/", "Ordner mit Leerzeichen/", "日記/")
REFUSED = (
    "../out",
    "a/../../out",
    "/etc/passwd",
    ".hidden",
    "a/.b/c",
    "C:\\x",
    "a\\b",
    "",
    " ",
    "a//b",
    "x\x00y",
    "x" * 300,
)
TEXTS = (
    "", "\n", "\n\n\n", "no newline", "ends\n", "---\na: 1\n---", "---\na: 1\n---\n", "---\n", "---\n---\nbody\n",
    "\ufeffbom\n", "crlf\r\nline\r\n", "\\n \\t $\\nabla \\times$", "C:\\temp\\new", "tab\there", "\x00nul", "=> x",
    "Error: File \"x\" not found.", "content=evil overwrite", "# Head\n\n- [ ] task\n", "é" * 1000, "x" * 4000,
    "\u2028\x85", "tagged #alpha, not #alphabet\n",
)  # fmt: skip
WITH_TERMS = "---\nkey: 1\n---\n# Head\n\nkey Head #alpha, not #alphabet\n"
LINKING = "Linking.md"
TERMS = {"tag": ("alpha", "beta"), "property": ("key", "clue"), "heading": ("Head", "Tail")}
PATHS = st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)).map(lambda pair: f"{pair[0]}{pair[1]}.md")
QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_notes", {"query": "head"}),
    ("search_notes", {"query": "task-todo:task"}),
    ("list_folder", {"depth": 3}),
    ("outline_note", {"name": "{path}"}),
    ("list_links", {"kind": "outgoing", "name": "{path}"}),
    ("list_links", {"kind": "orphans"}),
    ("list_properties", {}),
    ("list_tasks", {}),
    ("list_tasks", {"within": "{path}"}),
    ("list_changes", {"name": "{path}"}),
    ("repair_links", {}),
    ("view_file", {"name": "{path}"}),
    ("show_graph", {"name": "{path}"}),
    ("query_base", {"name": "{path}"}),
    ("undo_change", {"dry_run": True}),
    ("edit_note", {"name": "{path}", "old_text": "x", "new_text": "y", "dry_run": True}),
    ("set_properties", {"name": "{path}", "set": {"a": 1}, "dry_run": True}),
    ("rename_term", {"kind": "tag", "old": "x", "new": "y", "dry_run": True}),
    ("replace_in_notes", {"query": "text", "old_text": "x", "new_text": "y", "dry_run": True}),
    ("move_notes", {"names": ["Note"], "to": "Deep", "dry_run": True}),
)
HUGE = "ten million bytes\n" * 580_000


def fold(path: str) -> str:
    """Written once more, so that a mistake of the server's is not made twice."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).lower().replace("ς", "σ"))


def etag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def unlinked(notes: dict[str, bytes]) -> dict[str, bytes]:
    """Without where their links lead, which a move may change."""
    return {path: re.sub(rb"\[\[[^][\n|]*", b"[[", text) for path, text in notes.items()}


def spelled(draw: st.DataObject, path: str) -> str:
    """The same path as another keyboard or file system would write it."""
    form = draw.draw(st.sampled_from(["as it is", "NFD", "upper"]))
    if form == "NFD":
        return unicodedata.normalize("NFD", path)
    stem = path.removesuffix(".md")
    return stem.upper() + ".md" if form == "upper" and fold(stem.upper()) == fold(stem) else path


@functools.cache
def served(backend: tuple[str, ...]) -> tuple[World, App]:
    """One server for all sequences, as a server lives on."""
    folder = tempfile.TemporaryDirectory(prefix="obsidian-mcp-model-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    world = World(Path(folder.name) / "world")
    (world.folder / "home").mkdir()
    given = {"vault": [str(world.vault)], "log-level": ["error"], "toolsets": ["all"]}
    given |= {"backend": list(backend)} if backend else {}
    return world, App(load(given, world.environment()))


class Vaults(RuleBasedStateMachine):
    """On the files. The model: what each path holds."""

    options: dict[str, list[str]] = {"backend": ["embedded"]}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.world, self.app = served(tuple(self.options.get("backend", ())))
        self.world.reset()  # behind the server's back, as a sync would
        (self.world.outside / "secret.md").write_text("secret")
        self.model: dict[str, bytes] = {}
        self.changes: list[tuple[str, dict[str, bytes]]] = []  # with what there was before each

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        done = self.app.tools.run(f"obsidian_{tool}", arguments, CallContext())
        if "change" in done and tool != "undo_change":
            self.changes.append((done["change"], dict(self.model)))
        return done

    def there(self, path: str) -> str | None:
        return next((other for other in self.model if fold(other) == fold(path)), None)

    @initialize(texts=st.dictionaries(PATHS, st.sampled_from(TEXTS), max_size=5))
    def some_notes(self, texts: dict[str, str]) -> None:
        for path, text in texts.items():
            if self.there(path) is None:
                self.world.put(path, text)
                self.model[path] = text.encode()

    @rule(path=PATHS, text=st.sampled_from(TEXTS), overwrite=st.booleans(), data=st.data())
    def create(self, path: str, text: str, overwrite: bool, data: st.DataObject) -> None:
        there = self.there(path)
        named = path if there is None else spelled(data, path)
        try:
            done = self.call("create_note", name=named, content=text, overwrite=overwrite)
        except AlreadyExists:
            assert there is not None
            assert not overwrite
            return
        except InvalidArguments:
            assert not _can_be_made(path)
            return
        assert there is None or overwrite
        assert there is not None or _can_be_made(path)
        assert (done["created"], done["overwritten"]) == (there is None, there is not None)
        assert fold(done["path"]) == fold(path)
        self.model[there or done["path"]] = text.encode()
        assert done["etag"] == etag(text.encode())

    @rule(path=PATHS, data=st.data())
    def read(self, path: str, data: st.DataObject) -> None:
        there = self.there(path)
        if there is None:
            with contextlib.suppress(NoteNotFound):
                raise AssertionError(self.call("read_note", name=path))
            return
        whole, line, char = "", 1, 1
        while line:
            name = spelled(data, path)
            done = self.call("read_note", name=name, start_line=line, start_char=char, max_lines=data.draw(LINES))
            whole += done["content"]
            assert done["etag"] == etag(self.model[there])
            line, char = done.get("next_line", 0), done.get("next_char", 1)
        assert whole.encode() == self.model[there]

    @rule(path=PATHS, text=st.sampled_from(TEXTS[3:]), end=st.booleans(), inline=st.booleans(), data=st.data())
    def add(self, path: str, text: str, end: bool, inline: bool, data: st.DataObject) -> None:
        there = self.there(path)
        tool = "append_note" if end else "prepend_note"
        if there is None:
            with contextlib.suppress(NoteNotFound):
                raise AssertionError(self.call(tool, name=path, content=text))
            return
        before = self.model[there]
        done = self.call(tool, name=spelled(data, path), content=text, inline=inline, if_match=etag(before))
        after = self.world.get(there)
        assert done["etag"] == etag(after)
        added = text.encode()
        assert added in after
        if end:
            assert after in (before + added, before + b"\n" + added)
        else:  # nothing of the note is lost, wherever the addition went
            rest = after.replace(added, b"", 1)
            assert rest in (before, before + b"\n", b"\n" + before) or rest.replace(b"\n", b"") == before.replace(
                b"\n", b""
            )
        self.model[there] = after

    @rule(path=PATHS, new=st.sampled_from(("", "x", "two\nlines", "- \\n", "---")), data=st.data())
    def edit(self, path: str, new: str, data: st.DataObject) -> None:
        """A piece of the note that stands once in it is replaced; any other edit is refused and changes nothing."""
        there = self.there(path)
        text = self.model[there].decode() if there is not None else "none"
        plain = text.replace("\r\n", "\n")
        begin = data.draw(st.integers(0, len(plain)))
        old = plain[begin : begin + data.draw(st.integers(1, 12))]
        places = [at for at in range(len(plain)) if old and plain.startswith(old, at)]
        try:
            done = self.call("edit_note", name=spelled(data, path), old_text=old, new_text=new)
        except Failure:
            assert there is None or len(places) != 1 or old == new or plain.lstrip("\ufeff").startswith("---")
            return
        assert there is not None
        assert len(places) == 1
        after = self.world.get(there)
        expected = plain[: places[0]] + new + plain[places[0] + len(old) :]
        assert after.decode().replace("\r\n", "\n") == expected.replace("\r\n", "\n")
        assert after.count(b"\r\n") >= min(1, text.count("\r\n")) * (text.count("\r\n") - old.count("\n"))
        assert (done["replaced"], done["etag"]) == (1, etag(after))
        self.model[there] = after

    @rule(path=PATHS, value=st.sampled_from(("x", "007", "a: b", [1, "#x"], True, None)), data=st.data())
    def set_a_property(self, path: str, value: object, data: st.DataObject) -> None:
        there = self.there(path)
        try:
            done = self.call("set_properties", name=spelled(data, path), set={"key": value})
        except Failure:
            return
        assert there is not None
        before, after = self.model[there], self.world.get(there)
        assert done["properties"].get("key") == value
        body = before.partition(b"\n---")[2].lstrip(b"\n") if before.startswith(b"---") else before
        assert after.endswith(body.removeprefix(b"\xef\xbb\xbf"))
        self.model[there] = after

    @rule()
    def undo_the_last_change(self) -> None:
        """Byte for byte, whatever it was: nothing else has changed anything since."""
        if not self.changes:
            return
        id, before = self.changes.pop()
        done = self.call("undo_change", id=id)
        assert done["undone"]
        self.model = before

    @rule(path=PATHS, mark=st.sampled_from(("done", "todo", "cancelled", "/")), data=st.data())
    def mark_a_task(self, path: str, mark: str, data: st.DataObject) -> None:
        there = self.there(path)
        try:
            self.call("set_task", name=spelled(data, path), task="task", mark=mark)
        except Failure:
            assert there is None or self.model[there].count(b"] task") != 1
            return
        assert there is not None
        before, after = self.model[there], self.world.get(there)
        assert before.partition(b"] task")[2] == after.partition(b"] task")[2]
        assert len(before.split(b"\n")) == len(after.split(b"\n"))
        self.model[there] = after

    @rule(paths=st.lists(PATHS, min_size=1, max_size=3, unique_by=fold), folder=st.sampled_from(FOLDERS))
    def move_several(self, paths: list[str], folder: str) -> None:
        """All of them or none."""
        try:
            self.call("move_notes", names=paths, to=folder or "/")
        except Failure:
            return
        moved = {self.there(path): f"{folder}{path.rpartition('/')[2]}" for path in paths}
        self.model = {moved.get(path, path): text for path, text in self.model.items()}
        assert {fold(path) for path in self.model} == {fold(path) for path in self.found()}
        assert sorted(unlinked(self.model).values()) == sorted(unlinked(self.found()).values())
        self.model = self.found()

    @rule(new=st.sampled_from(("ends2\n", "")), expected=st.none() | st.integers(0, 2))
    def replace_everywhere(self, new: str, expected: int | None) -> None:
        places = sum(text.count(b"ends\n") for text in self.model.values())
        more = {} if expected is None else {"expected": expected}
        try:
            self.call("replace_in_notes", query="ends", old_text="ends\n", new_text=new, **more)
        except Failure:
            return
        if expected is None:
            return  # it only counts
        assert expected == places
        self.model = {path: text.replace(b"ends\n", new.encode()) for path, text in self.model.items()}

    def _put(self, path: str, text: str) -> None:
        """Behind the server's back. What came before can't be taken back to a vault without it."""
        self.world.put(path, text)
        self.model[path] = text.encode()
        self.changes.clear()

    @rule(kind=st.sampled_from(sorted(TERMS)), path=PATHS, back=st.booleans())
    def rename_a_term(self, kind: str, path: str, back: bool) -> None:
        """Nothing changes but the term, and every place of it does."""
        if self.there(path) is None:
            self._put(path, WITH_TERMS)
        old, new = reversed(TERMS[kind]) if back else TERMS[kind]
        more = {"name": path} if kind == "heading" else {}
        try:
            done = self.call("rename_term", kind=kind, old=old, new=new, **more)
        except Failure:
            assert back or self.model.get(path) != WITH_TERMS.encode() or self._has(new)
            return
        found, one, other = self.found(), old.encode(), new.encode()
        changed = {path for path, text in found.items() if text != self.model.get(path)}
        assert changed == set(done["notes_changed"])
        assert changed
        for path, text in self.model.items():
            assert text.replace(one, other) == found[path].replace(one, other)
            if kind == "tag" and not back and text == WITH_TERMS.encode():
                assert found[path] == WITH_TERMS.replace("#alpha,", "#beta,").encode()
        self.model = found

    def _has(self, term: str) -> bool:
        return any(term.encode() in text for text in self.model.values())

    @rule(at=st.integers(0, 10))
    def repair_the_links_that_can_mean_one_note(self, at: int) -> None:
        notes = sorted(path for path in self.model if _can_be_made(path) and path != LINKING)
        if not notes:
            return
        name = notes[at % len(notes)].rpartition("/")[2].removesuffix(".md")
        self._put(LINKING, f"before [[nowhere/{name}]] after\n")
        done = self.call("repair_links", sure=True, name=LINKING)
        alike = [path for path in notes if fold(path.rpartition("/")[2]) == fold(f"{name}.md")]
        assert done["repaired"] == (len(alike) == 1)
        assert (self.found() != self.model) == bool(done["repaired"])
        self._adopt_links()

    def _adopt_links(self) -> None:
        assert unlinked(self.found()) == unlinked(self.model)
        self.model = self.found()

    @rule(asked=st.sampled_from(QUESTIONS), path=PATHS)
    def what_only_looks_changes_nothing(self, asked: tuple[str, dict[str, Any]], path: str) -> None:
        tool, arguments = asked
        with contextlib.suppress(Failure):
            self.call(tool, **{key: path if value == "{path}" else value for key, value in arguments.items()})

    @rule(path=PATHS)
    def a_search_finds_the_note_by_its_path(self, path: str) -> None:
        there = self.there(path)
        if there is None or not _can_be_made(there) or not self.options:
            return
        found = self.call("search_notes", query=f'path:"{there}"', limit=50)
        assert there in [hit["path"] for hit in found["notes"]]

    @rule(path=PATHS, text=st.sampled_from(TEXTS))
    def a_wrong_etag_changes_nothing(self, path: str, text: str) -> None:
        if self.there(path) is None:
            return
        refusals = (Conflict,) if _can_be_made(path) else (Conflict, InvalidArguments)
        for tool, more in (("append_note", {"content": "x"}), ("create_note", {"content": text, "overwrite": True}),
                           ("delete_note", {"permanent": True})):  # fmt: skip
            with contextlib.suppress(*refusals):
                raise AssertionError(self.call(tool, name=path, if_match="0123456789abcdef", **more))

    @rule(path=PATHS, permanent=st.booleans(), data=st.data())
    def delete(self, path: str, permanent: bool, data: st.DataObject) -> None:
        there = self.there(path)
        try:
            done = self.call("delete_note", name=spelled(data, path), permanent=permanent)
        except NoteNotFound:
            assert there is None
            return
        assert there is not None
        assert done["deleted"]
        del self.model[there]

    @rule(path=PATHS, folder=st.sampled_from(FOLDERS), data=st.data())
    def move(self, path: str, folder: str, data: st.DataObject) -> None:
        self._go(path, folder + path.rpartition("/")[2], "move_note", {"to": folder or "/"}, data)

    @rule(path=PATHS, name=st.sampled_from(NAMES), data=st.data())
    def rename(self, path: str, name: str, data: st.DataObject) -> None:
        target = f"{path.rpartition('/')[0]}/{name}.md".removeprefix("/")
        self._go(path, target, "rename_note", {"new_name": f"{name}.md"}, data)

    def _go(self, path: str, target: str, tool: str, where: dict[str, str], data: st.DataObject) -> None:
        there = self.there(path)
        taken = self.there(target)
        try:
            done = self.call(tool, name=spelled(data, path), **where)
        except NoteNotFound:
            assert there is None
        except AlreadyExists:
            assert taken is not None
        except InvalidArguments:
            assert not _can_be_made(target) or there == taken is not None  # it is there already
        else:
            assert there is not None
            assert taken in (None, there)
            self.model[done["path"]] = self.model.pop(there)
            assert fold(done["path"]) == fold(target)
            self._adopt_links()

    @rule(path=PATHS, data=st.data())
    def info(self, path: str, data: st.DataObject) -> None:
        there = self.there(path)
        try:
            done = self.call("file_info", name=spelled(data, path))
        except NoteNotFound:
            assert there is None
            return
        assert there is not None
        assert (done["size"], done["etag"]) == (len(self.model[there]), etag(self.model[there]))

    @rule(path=PATHS, data=st.data())
    def show(self, path: str, data: st.DataObject) -> None:
        try:
            done = self.call("open_note", name=spelled(data, path))
        except NoteNotFound:
            assert self.there(path) is None
        except ObsidianNotRunning:
            assert self.there(path) is not None
            assert self.options  # without the app there is nobody to show it
        else:
            assert done["path"] == self.there(path)
            assert not self.options

    @rule(name=st.sampled_from(REFUSED), tool=st.sampled_from(["read", "append", "create", "delete", "rename", "move"]))
    def bad_names_are_refused(self, name: str, tool: str) -> None:
        more = {
            "append": {"content": "x"},
            "create": {"content": "x"},
            "rename": {"new_name": "y"},
            "move": {"to": "z"},
        }
        try:
            done = self.call(f"{tool}_note", name=name, **more.get(tool, {}))
        except Failure:
            return
        raise AssertionError(done)

    def found(self) -> dict[str, bytes]:
        found = {}
        for file in self.world.vault.rglob("*"):
            path = file.relative_to(self.world.vault).as_posix()
            if file.is_file() and not path.startswith(".trash/"):
                found[path] = file.read_bytes()
        return found

    @invariant()
    def the_vault_is_what_the_model_says(self) -> None:
        assert self.found() == self.model
        assert [file.name for file in self.world.outside.iterdir()] == ["secret.md"]


LINES = st.none() | st.integers(1, 3)


def _can_be_made(path: str) -> bool:
    if path.rpartition("/")[2] in ("CON.md", "aux.md", "nul.txt.md", "\u200b.md"):
        return False
    return not set(path) & set('*"\\<>:|?#^[]') and all(len(part.encode()) <= 255 for part in path.split("/"))


class AppVaults(Vaults):
    """The same through the command line, which the stand-in answers."""

    options: dict[str, list[str]] = {}  # noqa: RUF012


LONGER = int(os.environ.get("OBSIDIAN_MCP_LONGER", "1"))  # `make fuzz` sets it
MANY = settings(
    max_examples=LONGER * 200, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
FEW = settings(max_examples=LONGER * 40, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck))
TestOnTheFiles = pytest.mark.timeout(900)(Vaults.TestCase)
TestOnTheFiles.settings = MANY
TestThroughTheApp = pytest.mark.timeout(900)(AppVaults.TestCase)
TestThroughTheApp.settings = FEW
del Vaults, AppVaults


@pytest.mark.parametrize("backend", ["embedded", "obsidian"])
def test_a_note_of_ten_megabytes_is_written_read_moved_and_kept(own_world: World, backend: str) -> None:
    given = {"vault": [str(own_world.vault)], "backend": [backend], "log-level": ["error"]}
    app = App(load(given, own_world.environment()))

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        return app.tools.run(f"obsidian_{tool}", arguments, CallContext())

    assert call("create_note", name="Huge", content=HUGE)["size"] == len(HUGE)
    call("append_note", name="Huge", content="the end")
    call("edit_note", name="Huge", old_text="the end", new_text="The end")
    call("set_properties", name="Huge", set={"a": 1})
    call("set_properties", name="Huge", set={"a": None})
    call("edit_note", name="Huge", old_text="The end", new_text="the end")
    call("move_note", name="Huge", to="Deep")
    assert own_world.get("Deep/Huge.md") == HUGE.encode() + b"the end"
    last = call("read_note", name="Huge", start_line=HUGE.count("\n") + 1)
    assert last["content"] == "the end"
