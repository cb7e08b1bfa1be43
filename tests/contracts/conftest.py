from __future__ import annotations

from tests.doors.http.conftest import shared_web, web
from tests.doors.ide.conftest import door, shared_door, token

__all__ = ["door", "shared_door", "shared_web", "token", "web"]
