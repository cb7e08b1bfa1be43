"""Where the promises are tried out: a vault, a server on it, and a look at the files behind its back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.support.client import Server, ToolFailed
from tests.support.memory import Files, Session, session
from tests.support.web import WebSession


class Ground:
    """Everything happens below `prefix`, so that a person's vault can be the ground too."""

    def __init__(self, server: Server | WebSession | Session, folder: Path, prefix: str = "") -> None:
        self.server = server
        self.folder = folder
        self.prefix = prefix

    def at(self, path: str) -> str:
        return f"{self.prefix}{path}"

    def put(self, path: str, content: str | bytes = "") -> str:
        """Make a file behind the server's back; its path from the vault's root."""
        file = self.folder / self.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if self.prefix:
            self._until_noticed(self.at(path))
        return self.at(path)

    def _until_noticed(self, path: str) -> None:
        """A running Obsidian watches its folder, and takes a moment. Hidden files it never sees."""
        for _ in range(100):
            try:
                self.call("file_info", name=path)
            except ToolFailed as failure:
                if failure.code != -32003:
                    return
            else:
                return

    def get(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def has(self, path: str) -> bool:
        return (self.folder / path).is_file()

    def files(self) -> dict[str, bytes]:
        root = self.folder / self.prefix
        found = (file for file in sorted(root.rglob("*")) if file.is_file())
        return {file.relative_to(self.folder).as_posix(): file.read_bytes() for file in found}

    def clear(self) -> None:
        if self.prefix:
            shutil.rmtree(self.folder / self.prefix, ignore_errors=True)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.server.call(tool, **arguments)

    def fails_quietly(self, tool: str, **arguments: Any) -> ToolFailed:
        """The failure of a call that must fail, where the files are too large to compare."""
        try:
            done = self.call(tool, **arguments)
        except ToolFailed as failure:
            return failure
        raise AssertionError(f"{tool} should have failed but said {done}")

    def fails(self, tool: str, **arguments: Any) -> ToolFailed:
        """The failure of a call that must fail, and must change no file."""
        before = self.files()
        failure = self.fails_quietly(tool, **arguments)
        assert self.files() == before
        return failure


class MemoryGround(Ground):
    """A vault that is a dictionary, and a server in this process."""

    def __init__(self) -> None:
        self._files = Files()
        super().__init__(session(self._files), Path("/no/such/folder"))

    def put(self, path: str, content: str | bytes = "") -> str:
        self._files[path] = content.encode() if isinstance(content, str) else content
        return path

    def get(self, path: str) -> bytes:
        return self._files[path]

    def has(self, path: str) -> bool:
        return path in self._files

    def files(self) -> dict[str, bytes]:
        return dict(self._files)
