"""What the door tells, and how it comes to know: the ids are those of specs/ide-door.md."""

from __future__ import annotations

import json

import pytest

from tests.support.ide import DoorProcess, Talk, mention, talking
from tests.support.world import World


def selection(talk: Talk) -> tuple[str, str, tuple[int, int], tuple[int, int], bool]:
    """The next one: note, text, from, to, whether it is empty."""
    told = talk.notice("selection_changed")
    found = told["selection"]
    ends = [(found[end]["line"], found[end]["character"]) for end in ("start", "end")]
    return told["filePath"].rpartition("/")[2], told["text"], ends[0], ends[1], found["isEmpty"]


Seen = tuple[str, str, tuple[int, int], tuple[int, int], bool]


def changed(talk: Talk, before: Seen) -> Seen:
    """The next one that says something else."""
    while (found := selection(talk)) == before:
        pass
    return found


def test_i22_a_selection_is_told_with_absolute_paths_and_places_from_0(talk: Talk, world: World) -> None:
    world.editor(path="Deep/Ä b.md", text="x 😀", **{"from": [2, 0], "to": [3, 4]})
    while (told := talk.notice("selection_changed"))["text"] != "x 😀":
        pass
    file = world.vault / "Deep" / "Ä b.md"
    assert told == {
        "text": "x 😀",
        "filePath": str(file),
        "fileUrl": file.as_uri(),
        "selection": {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 4}, "isEmpty": False},
    }
    assert "%C3%84%20b.md" in told["fileUrl"]


def test_i23_a_cursor_that_moves_through_a_note_is_followed(own_talk: Talk, own_world: World) -> None:
    seen = selection(own_talk)
    assert seen == ("Note.md", "", (0, 0), (0, 0), True)
    own_world.editor(path="Note.md", **{"from": [1, 2], "to": [1, 2]})
    seen = changed(own_talk, seen)
    assert seen == ("Note.md", "", (1, 2), (1, 2), True)
    own_world.editor(path="Note.md", text="two", **{"from": [1, 0], "to": [1, 3]}, console=["said", "=> something"])
    seen = changed(own_talk, seen)
    assert seen == ("Note.md", "two", (1, 0), (1, 3), False)
    own_world.editor(path="Note.md", text="two", **{"from": [1, 0], "to": [1, 3]}, mode="preview")
    seen = changed(own_talk, seen)
    assert seen == ("Note.md", "", (0, 0), (0, 0), True)
    own_world.editor(path="Deep/Ä b.md")
    seen = changed(own_talk, seen)
    assert seen == ("Ä b.md", "", (0, 0), (0, 0), True)


def test_i23_what_a_client_hears_too_early_it_hears_again(own_door: DoorProcess, own_token: str) -> None:
    with talking(own_door.port, own_token) as talk:
        first, *again = [selection(talk.introduce() if number == 0 else talk) for number in range(3)]
        assert again == [first, first]


def test_i23_every_client_gets_the_selection_when_it_has_introduced_itself(
    own_door: DoorProcess, own_token: str, own_talk: Talk
) -> None:
    assert selection(own_talk)[0] == "Note.md"
    with talking(own_door.port, own_token) as second:
        assert selection(second.introduce())[0] == "Note.md"


def test_i24_a_person_points_at_lines_of_a_note(talk: Talk, world: World) -> None:
    talk.notice("selection_changed")  # it counts from now on
    done = mention(world, "note", "--lines", "2:3")
    assert (done.returncode, done.stdout, done.stderr) == (0, "mentioned Note.md, lines 2:3\n", "")
    path = str(world.vault / "Note.md")
    assert talk.notice("at_mentioned") == {"filePath": path, "lineStart": 1, "lineEnd": 2}
    assert mention(world, "Ä b", "--vault", "Vault").returncode == 0
    assert talk.notice("at_mentioned") == {"filePath": str(world.vault / "Deep" / "Ä b.md")}
    assert mention(world, "Note", "--lines", "3").returncode == 0
    assert talk.notice("at_mentioned")["lineEnd"] == 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("Nope",), 5, "There is no note 'Nope'"),
        (("../Note",), 2, "must not contain '..'"),
        (("Note", "--lines", "0:1"), 2, "--lines must read A:B"),
        (("Note", "--lines", "3:2"), 2, "--lines must read A:B"),
        (("Note", "--lines", "2:4"), 2, "Note.md has 3 lines; there is no line 4"),
    ],
)
def test_i24_what_cannot_be_pointed_at_is_told(
    talk: Talk, world: World, words: tuple[str, ...], code: int, said: str
) -> None:
    done = mention(world, *words)
    assert done.returncode == code
    assert said in done.stderr


def test_i24_ten_clients_do_not_keep_a_mention_out(own_door: DoorProcess, own_token: str, own_world: World) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        talks = [stack.enter_context(talking(own_door.port, own_token)).introduce() for _ in range(10)]
        for talk in talks:
            talk.notice("selection_changed")
        assert mention(own_world, "Note").stdout == "mentioned Note.md\n"
        for talk in talks:
            assert talk.notice("at_mentioned")["filePath"].endswith("Note.md")


def test_i25_of_several_doors_one_must_be_named(own_world: World) -> None:
    second = own_world.folder / "Second"
    second.mkdir()
    (second / "Note.md").write_text("x")
    own_world.put("Note.md", "y")
    options = ("--backend", "embedded", "--vault", str(own_world.vault), "--vault", str(second))
    with DoorProcess(own_world.environment(), *options, doors=2):
        done = mention(own_world, "Note")
        assert done.returncode == 2
        assert str(own_world.vault) in done.stderr
        assert str(second) in done.stderr
        assert mention(own_world, "Note", "--vault", "Vault").returncode == 0


def test_i25_without_a_door_the_command_says_how_to_open_one(own_world: World) -> None:
    done = mention(own_world, "Note")
    assert done.returncode == 2
    assert "obsidian-mcp ide" in done.stderr


def test_i26_a_mention_waits_for_the_next_client(own_door: DoorProcess, own_token: str, own_world: World) -> None:
    done = mention(own_world, "Note", "--lines", "1:1")
    assert done.stdout == "Claude Code is not connected yet: Note.md, lines 1:1 waits a minute for it\n"
    with talking(own_door.port, own_token) as talk:
        assert talk.introduce().notice("at_mentioned")["lineStart"] == 0
    with talking(own_door.port, own_token) as second:
        assert second.introduce().notice("selection_changed")


def test_i27_the_app_is_asked_one_constant_thing(talk: Talk, world: World) -> None:
    seen = selection(talk)
    for text in ("`${evil}`", '");evil("'):  # what was seen first may have been asked for before the log was emptied
        world.editor(path="Deep/Ä b.md", text=text, **{"from": [0, 0], "to": [0, 2]})
        seen = changed(talk, seen)
    asked = [words for words in world.commands() if words[0] == "eval"]
    assert len(asked) >= 2
    assert len({tuple(words) for words in asked}) == 1
    assert all(record["argv"][0].startswith("vault=") for record in world.records())


def test_i27_nobody_is_asked_before_a_client_has_come(own_door: DoorProcess, own_world: World) -> None:
    assert own_world.commands() == []


def test_i27_a_vault_whose_window_is_closed_is_not_asked_for(own_world: World) -> None:
    own_world.put("Left.md")
    own_world.put(".obsidian/workspace.json", workspace("Left.md"))
    own_world.register({"0123456789abcdef": own_world.vault}, opened="nothing")
    with DoorProcess(own_world.environment(), "--vault", "Vault") as door:
        assert seen_from(door, own_world) == "Left.md"
    assert own_world.commands() == []


@pytest.mark.parametrize("mood", ["not-running", "disabled", "type-error"])
def test_i28_where_the_app_does_not_answer_the_note_is_the_one_it_has_left(own_world: World, mood: str) -> None:
    own_world.put("Left.md")
    own_world.put(".obsidian/workspace.json", workspace("Left.md"))
    own_world.mood(mood)
    with DoorProcess(own_world.environment(), "--vault", "Vault") as door:
        assert seen_from(door, own_world) == "Left.md"


def test_i28_another_vaults_answer_is_not_believed(own_world: World) -> None:
    own_world.put("Left.md")
    own_world.put("Secret.md")
    own_world.put(".obsidian/workspace.json", workspace("Left.md"))
    own_world.editor(path="Secret.md", base=str(own_world.outside))
    with DoorProcess(own_world.environment(), "--vault", "Vault") as door:
        assert seen_from(door, own_world) == "Left.md"


def test_i28_without_obsidian_the_files_are_enough(own_world: World) -> None:
    own_world.put("Left.md")
    own_world.put(".obsidian/workspace.json", workspace("Left.md"))
    with DoorProcess(own_world.environment(), "--backend", "embedded", "--vault", str(own_world.vault)) as door:
        assert seen_from(door, own_world) == "Left.md"


def workspace(file: str) -> str:
    leaf = {"id": "one", "type": "leaf", "state": {"type": "markdown", "state": {"file": file}}}
    return json.dumps({"main": {"type": "split", "children": [{"type": "tabs", "children": [leaf]}]}, "active": "one"})


def seen_from(door: DoorProcess, world: World) -> str:
    from tests.support.ide import lock_folder, locks

    token = locks(lock_folder(world))[0]["authToken"]
    with talking(door.port, token) as talk:
        return selection(talk.introduce())[0]
