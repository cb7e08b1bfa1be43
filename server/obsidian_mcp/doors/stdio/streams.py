"""The process's stdin and stdout, kept for the protocol alone.

The real stdout moves to a descriptor that only the stdio door knows, and
descriptor 1 becomes stderr: whatever prints, in a library or a child, cannot
put a byte between two messages.
"""

from __future__ import annotations

import os
import select
import sys
from _thread import allocate_lock

CHUNK = 64 * 1024
BETWEEN_LOOKS = 1000  # milliseconds, on macOS


class Closed(Exception):
    """The reader of our stdout is gone."""


class Streams:
    def __init__(self, fd_in: int, fd_out: int, platform: str = sys.platform) -> None:
        self._in = fd_in
        self._out = fd_out
        self._lock = allocate_lock()
        self._holds = False
        self._held = bytearray()
        self._poll = None
        self._idle: int | None = None
        if hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(fd_in, select.POLLIN)
            if platform == "darwin":  # where nothing is told of what is registered for nothing: so it is looked at
                self._idle = BETWEEN_LOOKS
            else:
                self._poll.register(fd_out, 0)  # tells only of errors: the reader is gone

    def read(self) -> bytes:
        """What has arrived; empty at the end. Raises Closed when the client is gone."""
        while True:
            self._wait_for_input()
            try:
                return os.read(self._in, CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    def check(self) -> None:
        """Raise Closed if stdout is."""
        if self._poll is not None:
            self._look(dict(self._poll.poll(0)))

    def _wait_for_input(self) -> None:
        ready: dict[int, int] = {}
        while self._poll is not None and not ready.get(self._in, 0):
            ready = dict(self._poll.poll(self._idle))
            self._look(ready)

    def _look(self, ready: dict[int, int]) -> None:
        if self._idle is not None and not ready.get(self._in, 0):
            ready = self._look_at_output()
        if ready.get(self._out, 0) & (select.POLLERR | select.POLLHUP):
            raise Closed

    def _look_at_output(self) -> dict[int, int]:
        poll = select.poll()
        poll.register(self._out, select.POLLOUT)
        return dict(poll.poll(0))

    def send(self, message: bytes) -> None:
        """Write one message as one line, whole, before any other; or keep it for a moment, see `hold`."""
        with self._lock:
            self._held += message
            self._held += b"\n"
            if not self._holds or len(self._held) >= CHUNK:
                self._write()

    def hold(self, hold: bool) -> None:
        """Whether the next messages are kept until they are many, or `flush` is called: each write wakes the client,
        and that costs a good part of a quick call. What was kept goes out."""
        self._holds = hold
        self.flush()

    def flush(self) -> None:
        with self._lock:
            self._write()

    def _write(self) -> None:
        rest, self._held = memoryview(self._held), bytearray()
        while rest:
            try:
                rest = rest[os.write(self._out, rest) :]
            except BlockingIOError:
                select.select([], [self._out], [])
            except OSError as error:
                raise Closed from error


def claim() -> Streams:
    """Take stdin and stdout away from everything else in this process."""
    null = os.open(os.devnull, os.O_RDWR)
    while null < 3:  # started without stdin, stdout or stderr: nothing else may get their numbers
        null = os.dup(null)
    _binary(0, 1)
    fd_in, fd_out = os.dup(0), os.dup(1)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    sys.stdout = sys.stderr
    return Streams(fd_in, fd_out)


def _binary(*fds: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        for fd in fds:
            msvcrt.setmode(fd, os.O_BINARY)
