"""`make windows`: the server in a Windows Python under Wine, its clients here.

With --optional it is no failure that Wine, or what runs in it, can't be had; what was left out is told.
"""

from __future__ import annotations

import subprocess
import sys
import time

from tests.windows.machine import Machine
from tests.windows.making import ROOT, NotToBeHad, cache, install

TESTS = ("tests/windows", "tests/promises")
PYTEST = ("-m", "pytest", "-rs", "-p", "tests.windows.plugin", "-n", "2", "--dist", "worksteal", "--timeout", "400")
LIMIT = 1500  # seconds


def main() -> None:
    begun = time.monotonic()
    optional, words = "--optional" in sys.argv, [word for word in sys.argv[1:] if word != "--optional"]
    try:
        install()
        with Machine(cache()).running():
            print(f"A Windows Python under Wine, ready after {time.monotonic() - begun:.0f} s", flush=True)
            done = subprocess.run([sys.executable, *PYTEST, *TESTS, *words], cwd=ROOT, timeout=LIMIT, check=False)
    except NotToBeHad as missing:
        if not optional:
            sys.exit(f"make windows: {missing}")
        print(f"make windows: left out, for there is no Windows Python here: {missing}")
        return
    except subprocess.TimeoutExpired as problem:
        sys.exit(f"make windows: {problem}")
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
