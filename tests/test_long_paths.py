r"""The two forms of a path on Windows."""

from __future__ import annotations

import pytest

from obsidian_mcp.long_paths import extended, plain

FORMS = {
    "a folder": (r"C:\Vault", r"\\?\C:\Vault"),
    "a folder on a share": (r"\\server\share\Vault", r"\\?\UNC\server\share\Vault"),
}


@pytest.mark.parametrize(("short", "long"), FORMS.values(), ids=FORMS)
def test_each_form_leads_to_the_other(short: str, long: str) -> None:
    assert extended(short, "win32") == long
    assert plain(long, "win32") == short
    assert extended(long, "win32") == long
    assert plain(short, "win32") == short


def test_a_drive_keeps_its_backslash() -> None:
    assert extended("C:\\", "win32") + "\\" == "\\\\?\\C:\\"
    assert plain("\\\\?\\C:", "win32") == "C:\\"


def test_a_volume_without_a_letter_has_one_form() -> None:
    volume = "\\\\?\\Volume{b75e2c83-0000-0000-0000-602f00000000}\\Vault"
    assert plain(volume, "win32") == extended(volume, "win32") == volume


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_elsewhere_there_is_one_form(platform: str) -> None:
    for path in (r"\\?\C:\Vault", "/home/me/Vault"):
        assert plain(path, platform) == extended(path, platform) == path
