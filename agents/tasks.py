"""What a person may want of an agent: twenty-four tasks, each with the vault as it should be afterwards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.calls import Plan
from agents.oracles import Form, exactly
from agents.server import Server
from agents.vault import Files

Planned = Callable[[Server], Plan[str]]


def unchanged(files: Files) -> Files:
    return files


@dataclass(frozen=True)
class Task:
    name: str
    kind: str
    words: str  # as a person says it
    plan: Planned
    after: Callable[[Files], Files] = unchanged
    answer: Collection[str] = ()  # all that the answer must have
    no_answer: Collection[str] = ()  # and must not
    form: Form = exactly
    common: bool = False  # one that all servers can try
    staged: Planned | None = None  # what the agent itself did before
    meddle: Callable[[Path], None] | None = None  # what a person did after that, without the server
    first: Collection[str] = ()  # tools that are right to begin with, for a real model
    told: str = ""  # words alone for a real model, where what it did before has to be said

    def answered(self, answer: str) -> bool:
        return all(part in answer for part in self.answer) and not any(part in answer for part in self.no_answer)


def edited(*changes: tuple[str, str, str]) -> Callable[[Files], Files]:
    """The vault with texts replaced, each in the one place where it stands."""

    def after(files: Files) -> Files:
        found = dict(files)
        for path, old, new in changes:
            before = found[path].decode()
            assert before.count(old) == 1, (path, old)
            found[path] = before.replace(old, new).encode()
        return found

    return after


def everywhere(old: str, new: str) -> Callable[[Files], Files]:
    return lambda files: {path: content.replace(old.encode(), new.encode()) for path, content in files.items()}


def moved(paths: Mapping[str, str], links: Mapping[str, str]) -> Callable[[Files], Files]:
    """The vault with notes at other places, and texts in it replaced, in this order."""

    def after(files: Files) -> Files:
        found = {paths.get(path, path): content for path, content in files.items()}
        for old, new in links.items():
            found = everywhere(old, new)(found)
        return found

    return after
