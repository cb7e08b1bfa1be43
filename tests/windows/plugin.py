"""For pytest: every server that a test starts runs in the Windows Python. `make windows` loads it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Unpack

import pytest

from tests.support import process
from tests.windows.machine import Machine
from tests.windows.making import cache

# Promises that Wine can't judge, or that Windows can't keep. `tests/backends/files/test_windows.py` has the answers of
# Windows for most of the first.
LEFT_OUT = {
    "test_a_symbolic_link_": "Wine shows a link of this side as a plain file or folder",
    "test_only_the_case_can_change": "a rename that changes the case alone does nothing under Wine",
    "test_a_note_that_has_such_a_name_": "Windows can't hold such names",
}
MACHINE = Machine(cache())


def start(environment: Mapping[str, str], words: Sequence[str], **how: Unpack[process.How]) -> subprocess.Popen[bytes]:
    return MACHINE.start(environment, words, how.get("first", ""))


def pytest_configure() -> None:
    process.elsewhere = start


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the promises, those on the files: every command of the stand-in would cost a start of Python."""
    items[:] = [item for item in items if "promises" not in item.path.parts or _is_on_files(item)]
    for item in items:
        for begins, reason in LEFT_OUT.items():
            if item.name.startswith(begins):
                item.add_marker(pytest.mark.skip(reason=reason))


def _is_on_files(item: pytest.Item) -> bool:
    parameters = getattr(item, "callspec", None)
    return parameters is not None and "embedded" in parameters.params.values()
