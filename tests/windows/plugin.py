"""For pytest: every server that a test starts runs in the Windows Python. `make windows` loads it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Unpack

from tests.support import process
from tests.windows.machine import Machine
from tests.windows.making import cache

MACHINE = Machine(cache())


def start(environment: Mapping[str, str], words: Sequence[str], **how: Unpack[process.How]) -> subprocess.Popen[bytes]:
    return MACHINE.start(environment, words, how.get("first", ""))


def pytest_configure() -> None:
    process.elsewhere = start
