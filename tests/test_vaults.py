"""Which vault is meant, where it lies, what answers for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from obsidian_mcp import vaults
from obsidian_mcp.errors import VaultNotFound
from obsidian_mcp.registry import Address, Located
from obsidian_mcp.settings import Settings, UsageError, load
from tests.support.world import VAULT_ID, World


def settings(world: World, *named: str, **more: str) -> Settings:
    given = {"vault": list(named), **{key: [value] for key, value in more.items()}}
    return load(given, world.environment())


def twins(world: World) -> list[Path]:
    """Two vaults of one name, none of them open."""
    folders = [world.folder / "one" / "Twin", world.folder / "two" / "Twin"]
    for folder in folders:
        folder.mkdir(parents=True)
    world.register({"a" * 16: folders[0], "b" * 16: folders[1]}, opened="")
    return folders


def test_a_vault_is_found_by_id_name_or_path(own_world: World) -> None:
    for wanted in ("0123456789abcdef", "Vault", str(own_world.vault)):
        place = vaults.locate(wanted, own_world.environment())
        assert (place.require_folder(), place.unique_name) == (str(own_world.vault), "Vault")


def test_one_of_several_vaults_is_never_guessed(own_world: World) -> None:
    first, _ = twins(own_world)
    with pytest.raises(VaultNotFound, match="2 vaults are called 'Twin'"):
        vaults.locate("Twin", own_world.environment()).require_folder()
    with pytest.raises(UsageError, match="several are registered"):
        vaults.meant(settings(own_world))
    assert vaults.locate(str(first), own_world.environment()).unique_name == "a" * 16


def test_the_only_vault_or_the_only_open_one_is_meant_when_none_is_named(own_world: World) -> None:
    assert vaults.meant(settings(own_world)) == ("0123456789abcdef",)
    twins(own_world)
    own_world.register({"a" * 16: own_world.vault, "b" * 16: own_world.outside}, opened="b" * 16)
    assert vaults.meant(settings(own_world)) == ("b" * 16,)


def test_a_folder_that_is_named_needs_no_list(own_world: World) -> None:
    place = vaults.locate(str(own_world.outside), {"XDG_CONFIG_HOME": "/nowhere"})
    assert (place.found, place.require_folder()) == (None, str(own_world.outside))


LABELS = {
    "a name": (("Work",), ("Work",)),
    "a folder": (("/home/me/Work/",), ("Work",)),
    "two folders of one name": (("/a/Work", "/b/Work"), ("/a/Work", "/b/Work")),
    "a Windows folder": (("C:\\Notes\\Work", "Home"), ("Work", "Home")),
}


@pytest.mark.parametrize(("wanted", "expected"), LABELS.values(), ids=LABELS)
def test_vaults_are_labelled_by_their_base_names_unless_two_would_be_the_same(
    wanted: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert vaults.labels(wanted) == expected


def test_the_app_answers_where_there_is_a_command_and_the_files_where_there_is_none(own_world: World) -> None:
    assert vaults.Vaults(settings(own_world, "Vault")).described()[0] == "obsidian"
    assert vaults.Vaults(settings(own_world, "Vault", backend="embedded")).described() == ("embedded", "asked for")
    own_world.command.unlink()
    assert vaults.Vaults(settings(own_world, "Vault")).described() == ("embedded", "no Obsidian command was found")


PROBLEMS = {
    "nothing of that name": ("Nowhere", {}, "there is no vault 'Nowhere': it is not a folder"),
    "a folder that the app does not know": ("{outside}", {}, "is not a vault that Obsidian knows"),
    "the same folder without the app": ("{outside}", {"backend": "embedded"}, ""),
}


@pytest.mark.parametrize(("wanted", "more", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_why_no_call_would_work_is_known_before_the_first(
    own_world: World, wanted: str, more: dict[str, str], expected: str
) -> None:
    named = wanted.format(outside=own_world.outside)
    problems = vaults.Vaults(settings(own_world, "Vault", named, **more)).problems()
    assert [vault for vault, _ in problems] == [named] * bool(expected)
    assert all(expected in why for _, why in problems)


def test_a_vault_is_called_by_its_name_its_id_and_its_folder(own_world: World) -> None:
    for wanted in ("Vault", str(own_world.vault), VAULT_ID):
        address = Address(Located(wanted, own_world.environment()), str(own_world.vault))
        assert [name for name in ("Vault", VAULT_ID, "vault", "Other", "", "outside") if address.is_called(name)] == [
            "Vault",
            VAULT_ID,
        ]


PLACES = {
    "in the vault": ("/home/me/V", "/home/me/V/Sub/N.md", "Sub/N.md"),
    "a vault with a slash": ("/home/me/V/", "/home/me/V/N.md", "N.md"),
    "another Unicode form": ("/home/me/Caf\u00e9", "/home/me/Cafe\u0301/N.md", "N.md"),
    "on Windows": ("C:\\Vaults\\V", "C:\\Vaults\\V\\Sub\\N.md", "Sub/N.md"),
    "on Windows, as a link has it": ("C:\\Vaults\\V", "/C:/Vaults/V/Sub/N.md", "Sub/N.md"),
    "the folder itself": ("/home/me/V", "/home/me/V/", None),
    "a folder that begins the same": ("/home/me/V", "/home/me/V2/N.md", None),
    "elsewhere": ("/home/me/V", "/etc/passwd", None),
    "another case": ("/home/me/V", "/home/me/v/N.md", None),
    "not known": ("", os.path.abspath("N.md"), None),
}


@pytest.mark.parametrize(("folder", "absolute", "expected"), PLACES.values(), ids=PLACES)
def test_a_place_on_the_disk_is_in_the_vault_if_it_begins_with_its_folder(
    folder: str, absolute: str, expected: str | None
) -> None:
    assert Address(Located("V", {}), folder).within(absolute) == expected
