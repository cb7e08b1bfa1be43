"""`setup`, as a person at a terminal meets it, in an empty home."""

from __future__ import annotations

import io
import json
import sys
import threading
from pathlib import Path

import pytest

from obsidian_mcp.cli import show
from obsidian_mcp.setup import places, trial
from tests.hosts.test_configure import SCRIPT, Home
from tests.support.client import PATIENCE, run
from tests.support.inside import run_inside
from tests.support.terminal import Terminal
from tests.support.world import World, measuring

VAULT, HOST = "Which vault?", "Which one should use it?"


class Person(Home):
    """With one vault among their documents, and two programs."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.vault.rmdir()
        self.vault = self.make_vault("Documents/Garden notes")
        (self.vault / "Beds").mkdir()
        for note in ("Roses.md", "Beds/Herbs.md"):
            (self.vault / note).write_text("Pruned in March.\n", encoding="utf-8")
        (folder / ".cursor").mkdir()
        (folder / ".config/Code/User").mkdir(parents=True)

    def make_vault(self, path: str) -> Path:
        (self.folder / path / ".obsidian").mkdir(parents=True)
        return self.folder / path

    def environment(self, **more: str) -> dict[str, str]:
        return super().environment(**measuring(), **more)

    def sit_down(self, *words: str) -> Terminal:
        return Terminal([str(SCRIPT), "setup", *words], self.environment(), self.folder)


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_two_answers_set_up_a_host_that_works(person: Person) -> None:
    with person.sit_down() as terminal:
        terminal.wait_for("1  Garden notes  ~/Documents/Garden notes\n")
        terminal.answer(VAULT, "")
        terminal.wait_for("1  Cursor   ~/.cursor/mcp.json\n")
        terminal.wait_for("2  VS Code  ~/.config/Code/User/mcp.json\n")
        terminal.answer(HOST, "")
        terminal.wait_for(f'+        "{person.vault}"')
        terminal.wait_for("it works: it offers 18 tools, and sees 2 notes.")
        terminal.wait_for("Next: Switch obsidian on in Cursor's settings, under MCP.")
        terminal.wait_for("Then type in a new chat, in Agent mode: What is in my Obsidian vault?")
        assert terminal.finish() == 0
    entry = person.entry("cursor")
    assert entry is not None
    assert entry["args"] == ["--errors", "result", "--vault", str(person.vault)]
    assert not person.file("vscode").exists()
    assert not (person.folder / ".local").exists()


def test_two_hosts_and_a_second_vault_at_once_and_all_of_it_goes_again(person: Person) -> None:
    before = person.everything()
    work = person.make_vault("Work")
    with person.sit_down("--read-only") as terminal:
        terminal.answer(VAULT, "2,1")
        terminal.answer(HOST, "1, 2")
        terminal.wait_for("Cursor would start it, it works")
        terminal.wait_for("VS Code would start it, it works")
        assert terminal.finish() == 0
    for host in ("cursor", "vscode"):
        entry = person.entry(host)
        assert entry is not None
        vaults = ["--vault", str(person.vault), "--vault", str(work)]
        assert entry["args"] == ["--errors", "result", *vaults, "--read-only"]
        assert person.run("uninstall", host).returncode == 0
    assert person.everything() == before


def test_a_host_that_has_a_vault_gets_another_and_that_one_is_tried(person: Person) -> None:
    person.run("install", "cursor", "--vault", str(person.vault))
    work = person.make_vault("Work")
    (work / "Plan.md").write_text("x", encoding="utf-8")
    with person.sit_down("cursor") as terminal:
        terminal.answer(VAULT, "work")
        terminal.wait_for(f"Cursor keeps the vault {person.vault};")
        terminal.wait_for("sees 1 note.")
        assert terminal.finish() == 0


NONSENSE = {
    "a number that is not there": ("7", "'7' is neither a number from the list nor the path of a folder."),
    "a word": ("what?", "'what?' is neither a number from the list nor the path of a folder."),
    "a folder that is not there": ("~/nowhere", "There is no folder "),
    "the home folder": ("~", "is your home folder, not a vault"),
    "the whole disk": ("/", "/ is the whole disk, not a vault"),
}


@pytest.mark.parametrize(("answer", "told"), NONSENSE.values(), ids=NONSENSE)
def test_an_answer_that_means_nothing_is_asked_for_again(person: Person, answer: str, told: str) -> None:
    with person.sit_down("--dry-run") as terminal:
        terminal.answer(VAULT, answer)
        terminal.wait_for(told)
        terminal.answer(VAULT, "1")
        terminal.answer(HOST, "0")
        terminal.wait_for("'0' is not a number from 1 to 2.")
        terminal.answer(HOST, "vs code")
        terminal.wait_for(f"Would change {person.file('vscode')}:")
        assert terminal.finish() == 0
    assert not person.file("vscode").exists()


@pytest.mark.parametrize("way", ["{}", "'{}'", '"{}"', "{}/", "~/Notes here", "escaped"])
def test_another_folder_is_typed_or_dropped_on_the_terminal(person: Person, way: str) -> None:
    other = person.folder / "Notes here"
    other.mkdir()
    answer = str(other).replace(" ", "\\ ") if way == "escaped" else way.format(other)
    with person.sit_down("cursor", "--dry-run") as terminal:
        terminal.answer(VAULT, answer)
        terminal.wait_for(f'+        "{other}"')
        assert terminal.finish() == 0


LEAVING: dict[str, tuple[str, int]] = {"Ctrl-C": ("\x03", 130), "Ctrl-D": ("\x04", 1)}


@pytest.mark.parametrize(("key", "code"), LEAVING.values(), ids=LEAVING)
@pytest.mark.parametrize("question", [VAULT, HOST])
def test_leaving_at_a_question_changes_nothing_and_says_so(person: Person, key: str, code: int, question: str) -> None:
    before = person.everything()
    with person.sit_down() as terminal:
        if question == HOST:
            terminal.answer(VAULT, "1")
        terminal.wait_for(question)
        terminal.type(key)
        terminal.wait_for("obsidian-mcp: ended before it was done; nothing was changed")
        assert terminal.finish() == code
        assert "Traceback" not in terminal.shown
    assert person.everything() == before


def test_without_a_vault_the_folder_is_asked_for(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / ".cursor").mkdir()
    with Terminal([str(SCRIPT), "setup", "--dry-run"], home.environment(), tmp_path) as terminal:
        terminal.wait_for("No vault was found, in Obsidian's list or in your home folder.")
        terminal.answer("In which folder are your notes?", "")
        terminal.answer("In which folder are your notes?", "~/notes")
        terminal.answer(HOST, "")
        assert terminal.finish() == 0


def test_without_a_host_all_are_offered_and_none_is_suggested(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with Terminal([str(SCRIPT), "setup", "--vault", "notes"], home.environment(), tmp_path) as terminal:
        terminal.wait_for("None of these programs was found here:")
        terminal.wait_for("6  Zed")
        terminal.answer("Which one do you use?: ", "")
        terminal.answer("Which one do you use?: ", "2")
        terminal.wait_for("Then type in that session: ")
        assert terminal.finish() == 0
    assert home.entry("claude-code") is not None


def test_without_a_terminal_it_says_what_to_run(person: Person) -> None:
    before = person.everything()
    done = run(person.environment(), "setup")
    assert done.returncode == 2
    assert b"`obsidian-mcp setup --yes`" in done.stderr
    assert b"`obsidian-mcp setup HOST --vault FOLDER --yes`" in done.stderr
    assert person.everything() == before


def test_yes_takes_the_suggested_answers(person: Person) -> None:
    done = person.run("setup", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"Using {person.vault}\n" in done.stdout
    assert "Using Cursor\n" in done.stdout
    assert "it works" in done.stdout
    again = person.run("setup", "--yes")
    assert "Nothing was changed" in again.stdout
    assert "it works" in again.stdout


def test_a_vault_that_was_moved_gives_way_to_the_one_that_is_there(person: Person) -> None:
    person.run("setup", "cursor", "--yes")
    moved = person.vault.rename(person.vault.with_name("Garden"))
    done = person.run("setup", "cursor", "--yes")
    assert f"There is no folder {person.vault} any more, so it is left out.\n" in done.stdout
    args = json.loads((person.folder / ".cursor/mcp.json").read_text())["mcpServers"]["obsidian"]["args"]
    assert (str(moved) in args, str(person.vault) in args) == (True, False)


def test_an_option_that_stays_is_told_and_can_be_dropped(person: Person) -> None:
    person.run("setup", "cursor", "--yes", "--read-only")
    kept = person.run("setup", "cursor", "--yes")
    assert "Cursor keeps --read-only; with --replace it would not.\n" in kept.stdout
    assert "it offers 18 tools" in person.run("setup", "cursor", "--yes", "--replace").stdout


MISSING: dict[str, tuple[tuple[str, ...], str]] = {
    "no vault": ((), "obsidian-mcp setup --vault FOLDER --yes"),
    "no host": (("--vault", "notes"), "obsidian-mcp setup HOST --yes"),
}


@pytest.mark.parametrize(("words", "told"), MISSING.values(), ids=MISSING)
def test_what_is_not_found_and_cannot_be_asked_for_is_told(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = Home(tmp_path).run("setup", "--yes", *words)
    assert done.returncode == 1
    assert told in done.stderr
    assert not list(tmp_path.rglob("*.json"))


def test_a_wrong_option_or_vault_is_told_before_any_question(person: Person) -> None:
    for words in (("--timeout-for", "fly=3"), ("--vault", "nope"), ("emacs",), ("--toolsets", "x")):
        assert person.run("setup", "--yes", *words).returncode == 2, words
    assert not list(person.folder.rglob("mcp.json"))


def test_a_broken_configuration_is_left_and_the_other_host_set_up(person: Person) -> None:
    person.put("cursor", "{")
    with person.sit_down() as terminal:
        terminal.answer(VAULT, "1")
        terminal.wait_for("(its configuration is broken)")
        terminal.answer(HOST, "all")
        terminal.wait_for("is broken")
        terminal.wait_for("VS Code would start it, it works")
        assert terminal.finish() == 1
    assert person.file("cursor").read_text(encoding="utf-8") == "{"


def test_a_rivals_entry_of_our_name_stays_and_ours_gets_another(person: Person) -> None:
    person.put("cursor", '{"mcpServers": {"obsidian": {"command": "npx", "args": ["-y", "obsidian-mcp", "/v"]}}}')
    done = person.run("setup", "cursor", "--yes")
    assert done.returncode == 1
    assert "choose another name with --name" in done.stderr
    done = person.run("setup", "cursor", "--yes", "--name", "notes")
    assert done.returncode == 0
    assert "uninstall cursor --name notes" in done.stdout
    assert (person.entry("cursor") or {})["command"] == "npx"


def test_a_home_folder_that_is_named_is_warned_of(person: Person) -> None:
    done = person.run("setup", "cursor", "--dry-run", "--yes", "--vault", str(person.folder))
    assert done.returncode == 0
    assert "is your home folder, not a vault" in done.stdout


def test_an_app_that_is_closed_is_told_though_the_entry_is_right(own_world: World) -> None:
    own_world.mood("not-running")
    own_world.put("One/Two/Note.md", "x")
    done = run_inside(own_world.environment(), "setup", "cursor", "--yes", "--vault", "Vault", program=str(SCRIPT))
    assert done.returncode == 1
    assert b"it does not work yet: " in done.stdout
    assert b"Obsidian is not running" in done.stdout
    assert b"doctor --vault Vault" in done.stdout


def test_a_folder_that_obsidian_does_not_know_is_served_without_the_app(own_world: World) -> None:
    folder = own_world.folder / "Elsewhere"
    folder.mkdir()
    done = run_inside(own_world.environment(), "setup", "cursor", "--yes", "--vault", str(folder), program=str(SCRIPT))
    assert done.returncode == 0, done.stdout + done.stderr
    entry = json.loads((own_world.folder / "home/.cursor/mcp.json").read_bytes())["mcpServers"]["obsidian"]
    assert entry["args"][-4:] == ["--vault", str(folder), "--backend", "embedded"]


def test_vaults_come_with_the_likeliest_first(own_world: World) -> None:
    home = own_world.folder / "home"
    other, around, far = (home / name for name in ("Other", "a/b/Around", "a/b/c/d/e/f/Far"))
    for vault in (other, around, far, other / "Inner", home / "Library/Lost", home / ".hidden/Vault"):
        (vault / ".obsidian").mkdir(parents=True)
    own_world.register({"a": own_world.outside, "b": own_world.vault, "c": own_world.folder / "gone"}, opened="b")
    found = places.candidates(own_world.environment(), str(around))
    assert [(each.path, each.note) for each in found] == [
        (str(around), "you are in it"),
        (str(own_world.vault), "open in Obsidian"),
        (str(own_world.outside), "in Obsidian"),
        (str(other), ""),
    ]


def test_the_clouds_of_macos_are_looked_into(tmp_path: Path) -> None:
    cloud = tmp_path / "Library/Mobile Documents/iCloud~md~obsidian/Documents/Vault"
    (cloud / ".obsidian").mkdir(parents=True)
    found = places.candidates({"HOME": str(tmp_path)}, "/", platform="darwin")
    assert [each.path for each in found] == [str(cloud)]


def test_the_search_for_vaults_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(9):
        (tmp_path / f"{number}/Vault/.obsidian").mkdir(parents=True)
    roots = [(str(tmp_path), places.DEPTH)]
    assert len(list(places.walk(roots, lambda: 0.0))) == 9
    times = iter(range(100))
    monkeypatch.setattr(places, "LONGEST", 12)
    assert len(list(places.walk(roots, lambda: float(next(times))))) == 1
    monkeypatch.setattr(places, "MOST_FOLDERS", 12)
    assert len(list(places.walk(roots, lambda: 0.0))) == 2


SERVERS = {
    "a command that is not there": (["/nope/obsidian-mcp"], "cannot be started"),
    "one that ends at once": ([sys.executable, "-c", "raise SystemExit('no luck')"], "initialize: no luck"),
    "one that says nothing": ([sys.executable, "-c", "pass"], "it said nothing"),
    "one that does not answer": ([sys.executable, "-c", "import sys; sys.stdin.read()"], "within 0.5 s"),
    "an option that is none": ([str(SCRIPT), "--valut", "x"], "unknown option --valut"),
    "a vault that is not there": ([str(SCRIPT), "--vault", "/nope"], "There is no vault '/nope'"),
}


@pytest.mark.parametrize(("command", "why"), SERVERS.values(), ids=SERVERS)
def test_an_entry_that_does_not_work_is_told_with_the_reason(person: Person, command: list[str], why: str) -> None:
    entry = {"command": command[0], "args": command[1:]}
    with pytest.raises(trial.Failed, match=why):
        trial.attempt(entry, person.environment(), limit=0.5 if "within" in why else trial.LIMIT)


def test_a_host_hands_on_neither_our_settings_nor_pythons() -> None:
    environ = {"HOME": "/h", "OBSIDIAN_MCP_VAULT": "x", "PYTHONPATH": "y", "VIRTUAL_ENV": "z"}
    assert trial.as_a_host(environ, {"env": {"OBSIDIAN_MCP_TIMEOUT": "5"}}) == {
        "HOME": "/h",
        "OBSIDIAN_MCP_TIMEOUT": "5",
    }


def test_without_a_tool_that_lists_it_is_enough_that_the_tools_are_offered(person: Person) -> None:
    done = person.run("setup", "cursor", "--yes", "--toolsets", "notes")
    assert "it works: it offers 9 tools." in done.stdout


class Screen(io.StringIO):
    """A terminal's stderr that tells when something is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.lit = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.lit.set()


def test_what_takes_long_is_told_on_a_terminal_and_the_line_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(show, "A_MOMENT", 0.001)
    with show.waiting("Looking"):
        assert screen.lit.wait(PATIENCE)
    assert screen.getvalue().startswith("\rLooking … 1 s")
    assert screen.getvalue().endswith("\r\x1b[K")
