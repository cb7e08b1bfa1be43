"""What `make lowest` would install and run. That it passes is seen by running it."""

from __future__ import annotations

import tomllib

import pytest

from interop.lowest import ROOT, TESTS, Unbound, lowest, runners


def test_every_dependency_has_a_lowest_version_that_can_be_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(one.split("==") for one in lowest(project["dependencies"]))
    assert (
        int(pinned["websockets"].split(".")[0]) >= 17
    )  # with 15 the IDE door closes with 1011, with 16 it does not end well
    assert all(name in project["dependencies"][place] for place, name in enumerate(pinned))


def test_bounds_become_pins() -> None:
    assert lowest(["a>=1.2,<2", "b-c>=3"]) == ["a==1.2", "b-c==3"]


@pytest.mark.parametrize("wanted", ["a", "a<2", "a==1", "a>1", "a>=1; python_version < '3.12'"])
def test_a_dependency_without_a_lower_bound_is_refused(wanted: str) -> None:
    with pytest.raises(Unbound):
        lowest([wanted])


def test_what_it_runs_is_there() -> None:
    assert [name for name in TESTS if not (ROOT / name).exists()] == []
    assert len(runners()) == 4
