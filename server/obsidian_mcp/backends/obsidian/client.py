"""Asking Obsidian: one command, one reply, for one vault and within one call's limit."""

from __future__ import annotations

import time
from collections.abc import Mapping

from obsidian_mcp import logs
from obsidian_mcp.backends.obsidian import argv, process, replies
from obsidian_mcp.call import CallContext, NotBegun
from obsidian_mcp.errors import UNKNOWN, CliFailed, Failure, NotStarted, TimedOut, VaultNotFound
from obsidian_mcp.registry import with_doctor


class Client:
    def __init__(self, command: str, vault: str, environ: Mapping[str, str], call: CallContext, known: str) -> None:
        self._command = command
        self._vault = vault
        self._environ = environ
        self._call = call
        self._known = known

    def ask(self, command: argv.Command, doing: str) -> str:
        """The reply as text. Raises only where there was none."""
        return replies.payload(self.run(command, doing))

    def run(self, command: argv.Command, doing: str, most: int = process.MOST_OUTPUT) -> process.Output:
        """Run it, once more if the vault's window had to be opened for it first: nothing ran that time."""
        output = self._run(command, doing, most)
        if replies.is_false_not_found(_text(output), command[0]):
            output = self._run(command, doing, most)
        return output

    def act(self, command: argv.Command, doing: str) -> str:
        """The reply to a command that changes something, which is never repeated."""
        try:
            return self.ask(command, doing)
        except (NotBegun, NotStarted):
            raise
        except (TimedOut, CliFailed) as failed:
            raise failed.leaving(UNKNOWN) from None

    def refusal(self, reply: str, doing: str) -> Failure:
        """What a reply to such a command means that is not a success. Only a known sentence proves that nothing ran."""
        failure = self.failure(reply, doing)
        return failure.leaving(UNKNOWN) if isinstance(failure, CliFailed) else failure

    def failure(self, reply: str, doing: str) -> Failure:
        """What a reply means that is not the success it should be."""
        failure = replies.unexpected(reply, doing)
        if isinstance(failure, VaultNotFound):
            return VaultNotFound(
                f"Obsidian knows no vault {self._vault!r}. {self._known}",
                with_doctor("Name one of them with --vault.", "checks it"),
            )
        return failure

    def _run(self, command: argv.Command, doing: str, most: int) -> process.Output:
        began = time.perf_counter()
        try:
            words = [self._command, *argv.for_vault(self._vault, command)]
            return process.run(words, self._environ, self._call, doing, most)
        finally:
            logs.log("debug", "command", command=command[0], ms=round((time.perf_counter() - began) * 1000, 1))


def _text(output: process.Output) -> str:
    return replies.strip_noise(output.stdout[:4096]).decode("utf-8", "replace")
