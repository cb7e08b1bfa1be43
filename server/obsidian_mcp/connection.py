"""One client's conversation: what came in, what is still running, what goes out.

Bytes are moved and replies encoded by a door, requests are answered by a server's table of methods; here it is decided
which requests are admitted, when each may run, and which reply belongs to it.
"""

from __future__ import annotations

from _thread import allocate_lock

from obsidian_mcp import running
from obsidian_mcp.errors import Failure, InvalidRequest, ParseError
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.protocol.framing import MAX_LINE, TooLong
from obsidian_mcp.protocol.jsonrpc import Reply
from obsidian_mcp.protocol.methods import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from obsidian_mcp.call import CallContext
    from obsidian_mcp.protocol.methods import Method
    from obsidian_mcp.questions import Questions
    from obsidian_mcp.scheduler import Access

    Answer = Callable[[Reply | None], None]
    Send = Callable[[jsonrpc.Message], None]

    class Submitter(Protocol):
        """What runs a job when its turn has come."""

        def submit(self, access: Access, work: Callable[[], None]) -> None: ...

    class Server(Protocol):
        """What answers: our notes, another server's tools, or an IDE."""

        @property
        def methods(self) -> Mapping[str, Method]: ...


# More calls under way than this, or more bytes of them, and no further line is read until one has ended.
MOST_UNDER_WAY = 10_000
MOST_BYTES_UNDER_WAY = 256 * 1024 * 1024
MOST_IN_BATCH = 1000


class _Batch:
    """Collects the replies to a batch and sends them together."""

    def __init__(self, expected: int, send: Send) -> None:
        self._expected = expected
        self._send = send
        self._replies: list[Reply] = []
        self._lock = allocate_lock()

    def answer(self, reply: Reply | None) -> None:
        with self._lock:
            self._expected -= 1
            if reply is not None:
                self._replies.append(reply)
            complete = self._expected == 0
        if complete and self._replies:
            self._send(self._replies)


class _UnderWay:
    """A call from its request to its answer."""

    __slots__ = ("answer", "call", "id", "progress", "size")

    def __init__(self, id: str | int, call: CallContext, progress: running.Progress, answer: Answer, size: int) -> None:
        self.id = id
        self.call = call
        self.progress = progress
        self.answer = answer
        self.size = size


_making = allocate_lock()


class Shared:
    """What the connections of one session have in common: the calls under way, and the questions that wait for their
    answers."""

    __slots__ = ("__weakref__", "_questions", "calls")

    def __init__(self) -> None:
        self.calls: dict[str | int, CallContext] = {}
        self._questions: Questions | None = None

    @property
    def questions(self) -> Questions:
        if self._questions is None:
            from obsidian_mcp.questions import Questions

            with _making:
                self._questions = self._questions or Questions()
        return self._questions


class Connection:
    """`send` gets every reply, `notify` what comes before one; where several connections are one session, as on
    HTTP, they have one `shared`. `ended` is called after each job's answer, `heard` with the method of each message.
    """

    def __init__(
        self,
        server: Server,
        scheduler: Submitter,
        send: Send,
        notify: Send | None = None,
        session: Session | None = None,
        shared: Shared | None = None,
        ended: Callable[[], None] | None = None,
        heard: Callable[[str], None] | None = None,
    ) -> None:
        self._server = server
        self._scheduler = scheduler
        self._send = send
        self._notify = notify or send
        self._ended = ended
        self._heard = heard
        self.started = 0  # jobs so far
        self.longest = 0.0  # of their limits, in seconds
        self._session = session or Session()
        self._shared = shared or Shared()  # held: it lasts as long as one of its connections
        self._calls = self._shared.calls
        self._own: set[CallContext] = set()
        self._is_abandoned = False
        self._unanswered = 0
        self._bytes_under_way = 0
        self._line_size = 0
        self._lock = allocate_lock()  # its own, and not the condition's methods: they are called for every call
        self._condition: threading.Condition | None = None
        self.wants_to_end = False

    @property
    def _change(self) -> threading.Condition:
        """Made when it is first needed: threading loads much, and the first reply needs none of it."""
        if self._condition is None:
            import threading

            self._condition = threading.Condition(self._lock)
        return self._condition

    def receive(self, line: bytes | TooLong) -> None:
        """Take one line. Quick requests are answered before this returns."""
        if isinstance(line, TooLong):
            self._refuse(ParseError(f"The line is longer than {MAX_LINE} bytes and was dropped.", "Send less at once."))
            return
        if not line.strip():
            return
        try:
            message = jsonrpc.decode(line.removeprefix(b"\xef\xbb\xbf"))
        except ParseError as failure:
            self._refuse(failure)
            return
        self.take(message, len(line))

    def take(self, message: Any, size: int) -> None:
        """Take what a line of that size has said."""
        self._line_size = size
        if isinstance(message, list):
            self._receive_batch(message)
        else:
            self._receive_one(message, self._answer)

    def drain(self, within: float) -> bool:
        """Wait a while for everything under way to be answered; whether it has been."""
        if not self.started:
            return True
        with self._change:
            return self._change.wait_for(lambda: not self._unanswered, within)

    def expect_no_answers(self) -> None:
        """The input has ended: what was asked, or is asked from now on, stays without an answer."""
        self._shared.questions.close()

    @property
    def under_way(self) -> int:
        """Jobs that have not been answered yet."""
        return self._unanswered

    @property
    def has_room(self) -> bool:
        """Whether another line can be taken without waiting. A door whose thread must not wait asks first."""
        return self._unanswered < MOST_UNDER_WAY and self._bytes_under_way < MOST_BYTES_UNDER_WAY

    def abandon(self) -> None:
        """Stop what runs: there is no client left to answer."""
        self._is_abandoned = True
        with self._lock:
            calls = list(self._own)
        for call in calls:
            call.cancel()

    def _receive_batch(self, messages: list[Any]) -> None:
        if not self._session.takes_batches:
            self._refuse(
                InvalidRequest("Batches are only spoken in revision 2025-03-26.", "Send one message per line.")
            )
        elif not 0 < len(messages) <= MOST_IN_BATCH:
            self._refuse(InvalidRequest(f"A batch must hold between 1 and {MOST_IN_BATCH} messages."))
        else:
            batch = _Batch(len(messages), self._send)
            self._line_size //= len(messages)
            for message in messages:
                self._receive_one(message, batch.answer, in_batch=True)

    def _receive_one(self, message: Any, answer: Answer, in_batch: bool = False) -> None:
        if jsonrpc.is_response(message):
            self._shared.questions.answer(jsonrpc.id_of(message), message.get("result"))
            answer(None)
            return
        try:
            request = jsonrpc.parse(message)
            if self._heard is not None:
                self._heard(request.method)
            if request.is_notification:
                self._notice(request)
                answer(None)
                return
            if in_batch and request.method == "initialize":
                raise InvalidRequest("initialize cannot be part of a batch.", "Send it alone.")
            self._answer_request(request, answer)
        except Failure as failure:
            answer(Reply(jsonrpc.id_of(message), failure=failure))
        except Exception as bug:  # noqa: BLE001  # nothing a client sends may stop the loop
            answer(Reply(jsonrpc.id_of(message), failure=running.bug_of(bug, "the request")))

    def _answer_request(self, request: jsonrpc.Request, answer: Answer) -> None:
        if request.id in self._calls:
            # Answered without an id: the reply to the first must be the only one that carries it.
            self._taken(request, answer)
            return
        method, peer = self._session.admit(request, self._server.methods)
        if request.method == "initialize":
            self._session.agree(request.params)
            peer.revision = self._session.revision
        found = method.handler(request, peer)
        if isinstance(found, running.Job):
            self._start(request, found, answer)
        else:
            answer(Reply(request.id, found))

    def _start(self, request: jsonrpc.Request, job: running.Job, answer: Answer) -> None:
        from obsidian_mcp.call import CallContext  # not before the first job

        size = self._line_size
        progress = running.Progress(request.meta.get("progressToken"), self._notify)
        call = CallContext(job.limit, progress.report)
        with self._lock:
            if not self.has_room:
                self._change.wait_for(lambda: self.has_room)
            self._calls[request.id] = call
            self._own.add(call)
            self.started += 1
            self.longest = max(self.longest, job.limit)
            self._unanswered += 1
            self._bytes_under_way += size

        self._run(_UnderWay(request.id, call, progress, answer, size), job)

    def _run(self, it: _UnderWay, job: running.Job) -> None:
        def work() -> None:
            waits = False
            try:
                reply = None if it.call.cancelled else running.reply(it.id, job, it.call)
                if reply is not None and isinstance(reply.result, running.Asking):
                    waits = self._ask(it, reply.result)
                    if waits or it.call.cancelled:
                        return
                    reply = running.reply(it.id, reply.result.again(None), it.call)
                self._answer_call(it, reply)
            finally:  # whatever happened: the end of the input waits for it
                if not waits:
                    self._over(it.id, it.call, it.size)

        self._scheduler.submit(job.access, work)

    def _answer_call(self, it: _UnderWay, reply: Reply | None) -> None:
        it.progress.close()
        with self._lock:
            # Free before the reply is sent: a client that has read it may use the id again.
            del self._calls[it.id]
        it.answer(None if it.call.cancelled else reply)

    def _ask(self, it: _UnderWay, asking: running.Asking) -> bool:
        """Put a question to the client; whether its answer is now waited for. Meanwhile nothing of the call runs, so
        it keeps no other waiting and its clock stands still.
        """
        id = self._shared.questions.put(lambda answer: self._run(it, asking.again(answer)))
        if id is None:
            return False
        if not it.call.when_cancelled(lambda: self._withdraw(id, it)):
            return not self._shared.questions.take_back(id)
        self._notify(jsonrpc.Call(id, asking.method, asking.params))
        self._shared.questions.expire(id, asking.holds, lambda: self._expire(id, it, asking))
        return True

    def _withdraw(self, id: str, it: _UnderWay) -> None:
        """The call was cancelled while its question waits."""
        if self._take_back(id, "The call was cancelled."):
            self._over(it.id, it.call, it.size)

    def _expire(self, id: str, it: _UnderWay, asking: running.Asking) -> None:
        """No answer came. What is left of the call only says so, and needs no turn for that."""
        if self._take_back(id, "The question has expired."):
            try:
                self._answer_call(it, running.reply(it.id, asking.again(None), it.call))
            finally:
                self._over(it.id, it.call, it.size)

    def _take_back(self, id: str, why: str) -> bool:
        """Whether the question still waited. The client is told, if there is one."""
        if not self._shared.questions.take_back(id):
            return False
        if not self._is_abandoned:
            told = {"requestId": id, "reason": why}
            self._notify(jsonrpc.Notification("notifications/cancelled", told))
        return True

    def _over(self, id: str | int, call: CallContext, size: int) -> None:
        with self._lock:
            if self._calls.get(id) is call:
                del self._calls[id]
            self._own.discard(call)
            self._unanswered -= 1
            self._bytes_under_way -= size
            if self._condition is not None:
                self._condition.notify_all()
        if self._ended is not None:
            self._ended()

    def _notice(self, request: jsonrpc.Request) -> None:
        """Notifications get no reply, known or not."""
        if request.method == "exit":
            self.wants_to_end = True
        elif request.method == "notifications/cancelled" and isinstance(request.params, dict):
            target = jsonrpc.id_of({"id": request.params.get("requestId")})
            with self._lock:
                call = self._calls.get(target) if target is not None else None
            if call is not None:
                call.cancel()

    def _answer(self, reply: Reply | None) -> None:
        if reply is not None:
            self._send(reply)

    def _refuse(self, failure: Failure) -> None:
        """A line that belongs to no request."""
        self._send(Reply(None, failure=failure))

    def _taken(self, request: jsonrpc.Request, answer: Answer) -> None:
        fact = f"The id {request.id!r} belongs to a request that is still running."
        answer(Reply(None, failure=InvalidRequest(fact, "Use a new id for each.")))
