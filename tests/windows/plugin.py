"""For pytest: every server that a test starts runs in the Windows Python. `make windows` loads it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Unpack

import pytest

from tests.support import process
from tests.windows.machine import Machine
from tests.windows.making import cache

MACHINE = Machine(cache())


def start(environment: Mapping[str, str], words: Sequence[str], **how: Unpack[process.How]) -> subprocess.Popen[bytes]:
    return MACHINE.start(environment, words, how.get("first", ""))


def pytest_configure() -> None:
    process.elsewhere = start


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the promises, those on the files: every command of the stand-in would cost a start of Python."""
    items[:] = [item for item in items if "promises" not in item.path.parts or _is_on_files(item)]


def _is_on_files(item: pytest.Item) -> bool:
    parameters = getattr(item, "callspec", None)
    return parameters is not None and "embedded" in parameters.params.values()
