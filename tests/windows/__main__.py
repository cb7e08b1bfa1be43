"""`make windows`: the server in a Windows Python under Wine, its clients here."""

from __future__ import annotations

import subprocess
import sys
import time

from tests.windows.machine import Machine
from tests.windows.making import ROOT, NotToBeHad, cache, install

TESTS = ("tests/windows", "tests/promises")


def main() -> None:
    begun = time.monotonic()
    try:
        install()
        machine = Machine(cache())
        with machine.running():
            print(f"A Windows Python under Wine, ready after {time.monotonic() - begun:.0f} s", flush=True)
            tests = [
                sys.executable,
                "-m",
                "pytest",
                "-rs",
                "-n",
                "2",
                "--dist",
                "worksteal",
                "-p",
                "tests.windows.plugin",
                *TESTS,
                *sys.argv[1:],
            ]
            code = subprocess.run(tests, cwd=ROOT, check=False).returncode
    except NotToBeHad as missing:
        sys.exit(f"make windows: {missing}")
    sys.exit(code)


if __name__ == "__main__":
    main()
