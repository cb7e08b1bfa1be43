"""Five ways to go about a task: a table, and the one loop that follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.calls import Call, Plan, Step, Stopped, Unable
from agents.mending import mend
from agents.seen import NOTHING, Seen
from agents.session import Session

MOST_MENDS = 2


@dataclass(frozen=True)
class Policy:
    name: str
    guards: bool = True  # says all it knows of what it means: a section, an etag, a count
    extras: bool = False  # looks where it needn't
    tries: int = 1  # of the very same call
    mends: bool = True  # does what an error says
    at_once: bool = False  # doesn't wait for one answer before it asks the next
    repeats: bool = False  # forgets that it has done it, and does it again with what it saw at first


CAREFUL = Policy("careful")
NAIVE = Policy("naive", guards=False)
STUBBORN = Policy("stubborn", guards=False, tries=3, mends=False)
FORGETFUL = Policy("forgetful", extras=True, repeats=True)
PARALLEL = Policy("parallel", extras=True, at_once=True)
POLICIES = (CAREFUL, NAIVE, STUBBORN, FORGETFUL, PARALLEL)


@dataclass(frozen=True)
class Ending:
    answer: str = ""
    reason: str = ""  # why it stopped
    unable: bool = False  # the server has no tool for it
    mended: int = 0  # errors after which it went on as the message said


@dataclass
class Agent:
    policy: Policy
    session: Session
    request: str
    mended: int = 0
    _waiting: list[Call] = field(default_factory=list)  # looks that go with the next call
    _last: Call | None = None  # the last change that was made

    def follow(self, plan: Plan[str]) -> Ending:
        try:
            step = next(plan)
            while True:
                step = plan.send(self._perform(step))
        except StopIteration as end:
            self._repeat()
            return Ending(answer=end.value or "", mended=self.mended)
        except Stopped as stopped:
            return Ending(reason=str(stopped), mended=self.mended)
        except Unable as unable:
            return Ending(reason=str(unable) or "there is no tool for it", unable=True)

    def _perform(self, step: Step) -> list[Seen]:
        if all(call.is_extra for call in step):
            if not self.policy.extras:
                return [NOTHING] * len(step)
            if self.policy.at_once:
                self._waiting += step
                return [NOTHING] * len(step)
        if self.policy.at_once:
            return self._together(step)
        return [self._settled(call, self._send(call)) for call in step]

    def _together(self, step: Step) -> list[Seen]:
        looks, self._waiting = self._waiting, []
        calls = [part for call in step for part in (call.apart or (call,))]
        found = self.session.perform([*looks, *calls], self.policy.guards)[len(looks) :]
        settled = [self._settled(call, each) for call, each in zip(calls, found, strict=True)]
        return settled if len(calls) == len(step) else settled[: len(step)]

    def _send(self, call: Call) -> Seen:
        return self.session.perform([call], self.policy.guards)[0]

    def _settled(self, call: Call, found: Seen) -> Seen:
        """After what this policy does about an error. Raises Stopped where it can do nothing."""
        for _ in range(self.policy.tries - 1):
            if not found.is_error or call.may_fail or call.cancelled:
                break
            found = self._send(call)
        for _ in range(MOST_MENDS if self.policy.mends else 0):
            better = self._better(call, found) if found.is_error and not call.may_fail else None
            if better is None:
                break
            call, found = better, self._send(better)
            self.mended += 1
        if found.is_error and not (call.may_fail or call.cancelled):
            raise Stopped(found.text)
        if call.changes and not found.is_error:
            self._last = call
        return found

    def _better(self, call: Call, found: Seen) -> Call | None:
        schema = self.session.schemas.get(call.tool)
        sent = call.sent(self.policy.guards)
        better = None if schema is None else mend(sent, schema, found.text, self.request)
        return None if better is None else replace(call, arguments=better, guards={})

    def _repeat(self) -> None:
        """Whatever it is told the second time, it stops there."""
        if self.policy.repeats and self._last is not None:
            self._send(self._last)


def stage(session: Session, plan: Plan[str]) -> None:
    """What the agent did before the person spoke; none of it is counted."""
    ending = Agent(CAREFUL, session, "").follow(plan)
    if ending.unable:
        raise Unable(ending.reason)
    if ending.reason:
        raise Stopped(ending.reason)
    session.forget()


def names(policies: Sequence[Policy] = POLICIES) -> list[str]:
    return [policy.name for policy in policies]
