"""Ourselves beside others, measured: `make bench`. The recorded run is in `results`."""

from pathlib import Path

RESULTS = Path(__file__).with_name("results")
