"""One task on a vault that is as new, by one policy through one server."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agents.calls import Stopped, Unable
from agents.mistakes import Mistake
from agents.oracles import judge
from agents.policies import Agent, Ending, Policy, stage
from agents.server import Server
from agents.session import CLIENT, Session
from agents.slips import spoiling
from agents.tasks import Task
from agents.vault import Files, put, snapshot

OUTSIDE = b"Not a note of the vault.\n"


@dataclass(frozen=True)
class Result:
    task: str
    kind: str
    common: bool
    done: bool
    able: bool = True
    calls: int = 0
    said: tuple[str, ...] = ()
    errors_mended: int = 0
    harmed: tuple[str, ...] = ()
    reason: str = ""

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for text in self.said)


@dataclass
class Ground:
    """A vault at one place, and a home for servers; both are as new for each trial."""

    folder: Path
    files: Files
    prepared: dict[str, Path] = field(default_factory=dict)  # a home with what a server keeps of the vault, by server

    @property
    def vault(self) -> Path:
        return self.folder / "Vault"

    def reset(self) -> None:
        put(self.vault, self.files)
        shutil.rmtree(self.vault / ".trash", ignore_errors=True)
        (self.folder / "outside.md").write_bytes(OUTSIDE)

    def prepare(self, server: Server) -> None:
        """What the server keeps of the vault is made once."""
        self.reset()
        words = server.prepare(self.vault)
        if words:
            home = self.prepared[server.name] = self.folder / f"home of {server.name}"
            home.mkdir()
            places = environment(home)
            subprocess.run(words, env=places, stdin=subprocess.DEVNULL, capture_output=True, check=True)

    @contextmanager
    def home(self, server: Server) -> Iterator[Path]:
        """With what the server keeps of the vault, and nothing else."""
        home = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            if server.name in self.prepared:
                shutil.copytree(self.prepared[server.name], home, dirs_exist_ok=True)
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)

    @contextmanager
    def session(self, server: Server, home: Path, *options: str, client: str = CLIENT) -> Iterator[Session]:
        session = Session(server.start(self.vault, environment(home), *options), client)
        try:
            server.ready(session.tell)
            session.forget()
            yield session
        finally:
            session.end()


def environment(home: Path) -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}


def tried(
    ground: Ground, make: Callable[[], Server], task: Task, policy: Policy, mistake: Mistake | None = None
) -> Result:
    ground.reset()
    server = make()
    server.memory["request"] = task.words
    if mistake is not None:
        server.memory["alone"] = "by the message, without another look"
    options = mistake.options if mistake else ()
    try:
        with ground.home(server) as home, ground.session(server, home, *options) as session:
            return _judged(ground, session, server, task, policy, mistake)
    except (Unable, NotImplementedError) as unable:
        return Result(task.name, task.kind, task.common, False, able=False, reason=str(unable))
    except (EOFError, Stopped) as problem:
        return Result(task.name, task.kind, task.common, False, reason=str(problem))


def _judged(
    ground: Ground, session: Session, server: Server, task: Task, policy: Policy, mistake: Mistake | None
) -> Result:
    befores = [ground.files]
    if task.staged is not None:
        stage(session, task.staged(server))
        befores.append(snapshot(ground.vault))
    if task.meddle is not None:
        task.meddle(ground.vault)
        befores.append(snapshot(ground.vault))
    plan = task.plan
    if mistake is not None and mistake.spoil is not None:
        plan = spoiling(plan, mistake.spoil, lambda tool: session.schemas.get(tool, {}))
    ending = Agent(policy, session, task.words).follow(plan(server))
    verdict = judge(snapshot(ground.vault), task.after(ground.files), befores, task.form)
    harmed = verdict.harmed
    if (ground.folder / "outside.md").read_bytes() != OUTSIDE:
        harmed = (*harmed, "../outside.md")
    return Result(
        task.name, task.kind, task.common,
        done=not harmed and _reached(ending, verdict.right, task, mistake),
        able=not ending.unable, calls=session.calls, said=tuple(session.said), errors_mended=ending.mended,
        harmed=harmed, reason=ending.reason,
    )  # fmt: skip


def _reached(ending: Ending, right: bool, task: Task, mistake: Mistake | None) -> bool:
    if mistake is not None and mistake.forbidden:
        return right and bool(ending.reason) and not ending.unable
    return right and not ending.reason and task.answered(ending.answer)
