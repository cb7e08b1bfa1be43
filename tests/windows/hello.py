"""The least that a Windows Python can do, with the library that is hardest for Wine."""

from __future__ import annotations

import pydantic_core  # noqa: F401  # to see that it loads

print("hello")  # noqa: T201
