"""What the Obsidian command says of itself, to find out why it doesn't work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from obsidian_mcp.backends.obsidian import argv, process, replies
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import CliFailed

NATIVE_SINCE = (1, 12, 7)
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?: \(installer (\d{1,9})\.(\d{1,9})\.(\d{1,9})\))?")


@dataclass(frozen=True, slots=True)
class Version:
    """As printed, and whether the installer brought the small, fast command."""

    text: str
    native: bool


class Probe:
    """Questions to the command about itself and its vaults."""

    def __init__(self, command: str, environ: Mapping[str, str]) -> None:
        self._command = command
        self._environ = environ

    def version(self, call: CallContext) -> Version:
        """Raises what a tool would raise if the app does not answer."""
        return version(self._command, self._environ, call)

    def vault_folder(self, vault: str, call: CallContext) -> str:
        """Where the app has the vault; empty if it does not say."""
        words = argv.for_vault(vault, argv.vault_path())
        reply = self._ask(words, call)
        if replies.is_false_not_found(reply, argv.vault_path()[0]):  # its window was closed, and is open now
            reply = self._ask(words, call)
        failure = replies.failure(reply)
        if failure is not None:
            raise failure
        lines = replies.listed(reply)
        return lines[0] if len(lines) == 1 else ""

    def has_files(self, vault: str, call: CallContext) -> bool:
        reply = self._ask(argv.for_vault(vault, argv.files()), call)
        return replies.failure(reply) is None and bool(replies.listed(reply))

    def _ask(self, words: list[str], call: CallContext) -> str:
        return _ask(self._command, words, self._environ, call)


def version(command: str, environ: Mapping[str, str], call: CallContext) -> Version:
    """Raises what a tool would raise if the app does not answer."""
    reply = _ask(command, ["version"], environ, call)
    found = _VERSION.match(reply)
    if found is None:
        said = reply.strip()[:200] or "nothing"
        raise replies.failure(reply) or CliFailed(f"It does not tell its version but says: {said}")
    installer = found.groups()[3:] if found[4] else found.groups()[:3]
    return Version(reply.strip(), tuple(int(part) for part in installer) >= NATIVE_SINCE)


def _ask(command: str, words: list[str], environ: Mapping[str, str], call: CallContext) -> str:
    return replies.payload(process.run([command, *words], environ, call, f"asking Obsidian for its {words[-1]}"))
