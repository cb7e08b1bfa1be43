"""Files that another program has open, as Windows answers for them."""

from __future__ import annotations

import errno

import pytest

from obsidian_mcp import patience
from obsidian_mcp.call import CallContext, OnThread
from obsidian_mcp.patience import Patience
from tests.backends.files.test_windows import windows_error


def raise_(error: OSError) -> None:
    raise error


def refused(patience: Patience) -> None:
    with pytest.raises(PermissionError):
        patience.run(lambda: raise_(windows_error(32, errno.EACCES)))


def test_a_file_that_is_open_elsewhere_is_tried_again() -> None:
    answers, pauses = [windows_error(32, errno.EACCES), windows_error(5, errno.EACCES)], list[float]()

    def act() -> str:
        if answers:
            raise answers.pop()
        return "done"

    assert Patience(pauses.append).run(act) == "done"
    assert len(pauses) == 2


def test_it_has_an_end_for_all_that_is_done_together() -> None:
    pauses: list[float] = []
    held = Patience(pauses.append)
    for _ in range(3):
        refused(held)
    assert sum(pauses) == pytest.approx(patience.SECONDS, abs=2 * patience.PAUSE)


@pytest.mark.parametrize("error", [windows_error(2, errno.ENOENT), PermissionError(errno.EACCES, "elsewhere")])
def test_any_other_answer_is_not_waited_for(error: OSError) -> None:
    with pytest.raises(OSError, match=str(error.strerror)):
        Patience(lambda _: pytest.fail("waited")).run(lambda: raise_(error))


def test_it_ends_with_the_limit_of_the_call() -> None:
    with OnThread(CallContext(0)):
        refused(Patience(lambda _: pytest.fail("waited")))


def test_it_ends_when_the_call_is_cancelled() -> None:
    call = CallContext()
    with OnThread(call):
        refused(Patience(lambda _: call.cancel()))
    assert call.cancelled


def test_a_call_waits_in_vain_once() -> None:
    pauses: list[float] = []
    with OnThread(CallContext()):
        refused(Patience(pauses.append))
        assert sum(pauses) == pytest.approx(patience.SECONDS, abs=2 * patience.PAUSE)
        refused(Patience(lambda _: pytest.fail("waited")))


def test_what_has_no_limit_waits_though_the_call_has_none_left() -> None:
    pauses: list[float] = []
    with OnThread(CallContext(0)), OnThread(None):
        refused(Patience(pauses.append))
    assert pauses
