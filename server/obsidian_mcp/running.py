"""Running one job: its clock, its log line, and what a bug looks like from outside.

Every server runs its jobs through here, so that a failure is always settled in the same way: what a job that could
have changed something says of the vault is decided in this module.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock

from obsidian_mcp.errors import READ, UNKNOWN, UNTOUCHED, Failure, InternalError, NeedsAnswer, spec_of
from obsidian_mcp.protocol import jsonrpc, results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.errors import Question
    from obsidian_mcp.scheduler import Access


class Job:
    """What waits for its turn and then takes a while; a tool call is one kind.

    `changes` says whether it may change the vault, `ready` loads what it needs before the clock starts, `shape` makes
    the result of what it found, `failed` makes one of a failure (without it, or where it makes none, a failure is an
    error), `noted` is what the log gets of what it found. `asked` is for a job that can't go on before a person has
    been asked: a result that asks, or an `Asking`.
    """

    __slots__ = ("access", "asked", "changes", "failed", "limit", "name", "noted", "ready", "run", "shape")

    def __init__(
        self,
        name: str,
        access: Access,
        limit: float,
        run: Callable[[CallContext], Any],
        changes: bool = False,
        ready: Callable[[], None] | None = None,
        shape: Callable[[Any], Any] | None = None,
        failed: Callable[[Failure], jsonrpc.Result | None] | None = None,
        noted: Callable[[Any], dict[str, Any]] | None = None,
    ) -> None:
        self.name = name
        self.access = access
        self.limit = limit
        self.run = run
        self.changes = changes
        self.ready = ready
        self.shape = shape
        self.failed = failed
        self.noted = noted
        self.asked: Callable[[Question], Any] | None = None


class Asking:
    """A question that a connection has to put, and the job that goes on with the answer. None stands for none, and
    such a job changes nothing; after `holds` seconds there is none."""

    __slots__ = ("again", "holds", "method", "params")

    def __init__(self, method: str, params: dict[str, Any], again: Callable[[Any], Job], holds: float) -> None:
        self.method = method
        self.params = params
        self.again = again
        self.holds = holds


def run(job: Job, call: CallContext) -> Any:
    """The job's result. Raises nothing but a Failure, which says how the vault was left."""
    from obsidian_mcp.call import OnThread  # not before the first job

    started = time.perf_counter()
    try:
        if job.ready is not None:
            job.ready()
        call.begin()
        with OnThread(call):
            found = job.run(call)
        result = found if job.shape is None else job.shape(found)
        log("info", "call", tool=job.name, **(job.noted(found) if job.noted else {}), ms=_ms(started))
        return result
    except NeedsAnswer:
        log("info", "the person is asked", tool=job.name, ms=_ms(started))
        raise
    except Failure as failure:
        log("warning", "call failed", tool=job.name, code=spec_of(failure).error_code, ms=_ms(started))
        raise settled(failure, job.changes) from None
    except Exception as bug:  # noqa: BLE001  # whatever it is, the client must hear of it and the loop go on
        raise bug_of(bug, job.name, job.changes) from None


def reply(id: str | int, job: Job, call: CallContext) -> jsonrpc.Reply:
    """How it went. Never raises."""
    try:
        return jsonrpc.Reply(id, run(job, call))
    except NeedsAnswer as needs:
        assert job.asked is not None  # nothing asks where no one can be asked
        return jsonrpc.Reply(id, job.asked(needs.question))
    except Failure as failure:
        result = job.failed(failure) if job.failed is not None else None
        return jsonrpc.Reply(id, result) if result is not None else jsonrpc.Reply(id, failure=failure)


def settled(failure: Failure, changes: bool) -> Failure:
    """What failed before anything was begun has changed nothing; what could not change anything need not say so."""
    if changes and failure.vault is READ:
        return failure.leaving(UNTOUCHED)
    if not changes and failure.vault is UNTOUCHED:
        return failure.leaving(READ)
    return failure


def bug_of(bug: Exception, doing: str, changes: bool = False) -> InternalError:
    """A bug of ours as a failure: an id that leads to the log, and nothing of what went wrong.

    Where it happened is logged, not what the exception says: that may quote a note.
    """
    incident = os.urandom(4).hex()
    where, frame = [], bug.__traceback__
    while frame is not None:
        where.append(f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}")
        frame = frame.tb_next
    log("error", "bug", incident=incident, kind=type(bug).__name__, doing=doing, where=where)
    fact = f"{doing} failed by a bug of obsidian-mcp; the log has it as {incident}."
    return InternalError(fact, vault=UNKNOWN if changes else READ, incident=incident)


def encoded(message: jsonrpc.Message) -> bytes:
    """For a door: the bytes of a message. A result that can't be encoded is a bug, and told as one."""
    if isinstance(message, list):
        return b"[" + b",".join(encoded(reply) for reply in message) + b"]"
    try:
        return jsonrpc.encode_message(message)
    except (TypeError, ValueError, RecursionError) as bug:
        id = message.id if isinstance(message, jsonrpc.Reply) else None
        return jsonrpc.encode_message(jsonrpc.Reply(id, failure=bug_of(bug, "the reply")))


class Progress:
    """Sends progress to a client that asked for it: each report is further on, and none comes after the reply."""

    def __init__(self, token: Any, send: Callable[[jsonrpc.Message], None]) -> None:
        self._token = token if jsonrpc.is_id(token) else None
        self._send = send
        self._last = 0.0
        self._lock = allocate_lock()

    def report(self, seconds: float, message: str) -> None:
        with self._lock:
            if self._token is not None and round(seconds, 3) > self._last:
                self._last = round(seconds, 3)
                params = results.progress(self._token, seconds, message)
                self._send(jsonrpc.Notification("notifications/progress", params))

    def close(self) -> None:
        with self._lock:
            self._token = None


def log(level: str, event: str, **fields: Any) -> None:
    from obsidian_mcp import logs  # not before the first call: it loads threading

    logs.log(level, event, **fields)


def _ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
