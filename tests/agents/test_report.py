from __future__ import annotations

import json
from pathlib import Path

from agents import report

RESULTS = Path(report.__file__).parents[1] / "bench" / "results"


def test_the_plot_is_that_of_the_recorded_run() -> None:
    found = json.loads((RESULTS / "agents.json").read_text(encoding="utf-8"))
    assert (RESULTS / "tokens.svg").read_text(encoding="utf-8") == report.plot(found)
