"""Another program on Windows, which has a file open and shares it with no other: until its input ends."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import _winapi

    _winapi.CreateFile(sys.argv[1], _winapi.GENERIC_READ, 0, _winapi.NULL, _winapi.OPEN_EXISTING, 0x80, _winapi.NULL)
    sys.stdout.write("held\n")
    sys.stdout.flush()
    sys.stdin.read()
