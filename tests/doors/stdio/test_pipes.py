"""Pipes as hosts really hand them over."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from obsidian_mcp.doors.stdio import streams
from tests.support.client import COMMAND, PATIENCE
from tests.support.world import World


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_an_idle_server_notices_that_its_reader_is_gone(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing tells of it, the output is looked at between two waits."""
    monkeypatch.setattr(streams, "BETWEEN_LOOKS", 1)
    (theirs, own_in), (reader, own_out) = os.pipe(), os.pipe()
    pipe = streams.Streams(theirs, own_out, platform)
    os.write(own_in, b"line")
    assert pipe.read() == b"line"
    os.close(reader)
    with pytest.raises(streams.Closed):
        pipe.read()
    with pytest.raises(streams.Closed):
        pipe.check()
    for fd in (theirs, own_in, own_out):
        os.close(fd)


def test_an_input_that_does_not_block_is_waited_for(own_world: World) -> None:
    """Node hands over pipes in this mode."""
    own, theirs = os.pipe()
    os.set_blocking(own, False)
    with subprocess.Popen(
        [*COMMAND, "--backend", "embedded", "--vault", str(own_world.vault), "--log-level", "error"],
        env=own_world.environment(),
        stdin=own,
        stdout=subprocess.PIPE,
    ) as process:
        os.close(own)
        assert process.stdout is not None
        try:
            for number in range(3):
                os.write(theirs, b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number)
                assert json.loads(process.stdout.readline())["id"] == number
        finally:
            os.close(theirs)
        assert process.wait(PATIENCE) == 0


def test_messages_that_are_held_go_out_together_or_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK", 1000)
    (theirs, own_in), (reader, own_out) = os.pipe(), os.pipe()
    os.set_blocking(reader, False)
    pipe = streams.Streams(theirs, own_out)
    pipe.hold(True)
    pipe.send(b"one")
    pipe.send(b"two")
    with pytest.raises(BlockingIOError):
        os.read(reader, 100)
    pipe.flush()
    assert os.read(reader, 100) == b"one\ntwo\n"
    pipe.send(b"x" * 999)
    assert os.read(reader, 1000) == b"x" * 999 + b"\n"
    pipe.send(b"three")
    pipe.hold(False)
    pipe.send(b"four")
    assert os.read(reader, 100) == b"three\nfour\n"
    for fd in (theirs, own_in, reader, own_out):
        os.close(fd)
