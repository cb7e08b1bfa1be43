"""The vault's folder itself: the only place where its files are touched.

Every path is followed to where it really leads before anything is done, and
what leads out of the vault, or into a hidden folder, is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from obsidian_mcp.errors import AlreadyExists, CliFailed, Conflict, Failure, NoteNotFound, PermissionDenied
from obsidian_mcp.vault.folding import fold
from obsidian_mcp.vault.path import BadPath, VaultPath, check

CHUNK = 64 * 1024
IGNORES_CASE = sys.platform in ("darwin", "win32")


class Folder:
    """A vault's folder on this machine."""

    def __init__(self, root: str) -> None:
        self._root = Path(os.path.realpath(root))

    @property
    def is_there(self) -> bool:
        return self._root.is_dir()

    def real(self, path: VaultPath) -> Path:
        """Where the path really leads, if that is inside the vault."""
        real = Path(os.path.realpath(self._root / path.value))
        if not real.is_relative_to(self._root) or real == self._root:
            raise PermissionDenied(
                f"{path} leads out of the vault through a symbolic link, so it is left alone. "
                "Use a note inside the vault.",
                path=path.value,
            )
        try:
            check(real.relative_to(self._root).as_posix())
        except BadPath:
            raise PermissionDenied(
                f"{path} leads into a hidden folder through a symbolic link, so it is left alone.", path=path.value
            ) from None
        return real

    def spellings(self, path: VaultPath) -> list[VaultPath]:
        """The files that the path can mean: exactly it, or else those that differ in case or Unicode form."""
        self.real(path)
        if not IGNORES_CASE and (self._root / path.value).is_file():
            return [path]
        found = [""]
        for segment in path.value.split("/"):
            found = [child for folder in found for child in self._children(folder, segment)]
        return [VaultPath(child) for child in sorted(found) if (self._root / child).is_file()]

    def _children(self, folder: str, name: str) -> list[str]:
        try:
            names = os.listdir(self._root / folder)
        except OSError:
            return []
        wanted = fold(name)
        exact = [name] if name in names else [other for other in names if fold(other) == wanted]
        return [f"{folder}/{other}" if folder else other for other in exact]

    def read(self, path: VaultPath) -> bytes:
        with _explained(path):
            return _read(self.real(path))

    def make_folder_for(self, path: VaultPath) -> None:
        with _explained(path):
            self.real(path).parent.mkdir(parents=True, exist_ok=True)

    def write_new(self, path: VaultPath, data: bytes) -> None:
        """Make a file that must not be there yet."""
        real = self.real(path)
        self.make_folder_for(path)
        with _explained(path), _temporary(real, data) as temporary:
            try:
                os.link(temporary, real)
            except OSError:
                if real.exists():
                    raise AlreadyExists(
                        f"{path} has just been made by someone else. Nothing was changed.", path=path.value
                    ) from None
                os.replace(temporary, real)  # a file system without hard links

    def replace(self, path: VaultPath, before: bytes, after: bytes) -> None:
        """Swap a file's bytes in one step, if they still are what they were."""
        real = self.real(path)
        with _explained(path), _temporary(real, after) as temporary:
            os.chmod(temporary, stat.S_IMODE(real.stat().st_mode))
            if _read(real) != before:
                raise Conflict(
                    f"{path} was changed by someone else meanwhile. Nothing was changed. Read it again.",
                    path=path.value,
                )
            os.replace(temporary, real)

    def settings(self) -> dict[str, object]:
        """The vault's `.obsidian/app.json`; empty where there is none that can be read."""
        try:
            found = json.loads(_read(self._root / ".obsidian" / "app.json"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _read(file: Path) -> bytes:
    """In small chunks: one large buffer is several times slower."""
    fd = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        parts = []
        while part := os.read(fd, CHUNK):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _temporary(beside: Path, data: bytes) -> Iterator[str]:
    """A hidden file with the data, on disk, in the folder where it will be needed; gone afterwards."""
    name = str(beside.parent / f".obsidian-mcp-{secrets.token_hex(8)}.tmp")
    # Not tempfile: it makes files that nobody else may read, and a note should be as the umask says.
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield name
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


@contextlib.contextmanager
def _explained(path: VaultPath) -> Iterator[None]:
    """The system's errors in words of ours."""
    try:
        yield
    except Failure:
        raise
    except (FileNotFoundError, NotADirectoryError):
        raise NoteNotFound(f"There is no file {path} on disk.", path=path.value) from None
    except PermissionError as error:
        raise PermissionDenied(
            f"The system does not allow access to {path} ({error.strerror}). "
            "Check the permissions of the note and its folder.",
            path=path.value,
        ) from None
    except OSError as error:
        raise CliFailed(
            f"The file {path} could not be used: {error.strerror}. Nothing was changed.", path=path.value
        ) from None
