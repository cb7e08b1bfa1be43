from __future__ import annotations

import sys

# These are for `make windows`, whose plugin starts every server under Wine.
collect_ignore_glob = [] if "tests.windows.plugin" in sys.modules else ["test_*.py"]
