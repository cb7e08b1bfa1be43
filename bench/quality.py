"""How often the search finds the right note, how much it says, and how the others do: `make search-quality`.

Two sets of questions with the notes that answer them: our own over Obsidian's help vault, written before anything was
tuned, and the public one of seekstone over 10,000 notes. The notes are read in place and are not part of this project.
Every server is asked as a model would ask it, with the question alone; what counts are the first five notes named.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.peer import Peer
from bench.report import Report, table
from bench.rivals import NODE, RIVALS, Ask, NotInstalled, Rival, filled

QUESTIONS = Path(__file__).with_name("questions.json")
FIRST = 5
LIMIT = 600  # seconds that one server may take for a whole set, its index included
UNPUBLISHED = {"seekstone": "in no registry; its bundle is on GitHub alone"}


# What is asked


@dataclass(frozen=True)
class Question:
    query: str
    answers: Sequence[str]  # any of these notes
    kind: str


@dataclass(frozen=True)
class QuestionSet:
    name: str
    vault: Path
    questions: Sequence[Question]
    at_least: float


def own_set(vault: Path) -> QuestionSet:
    asked = [Question(**one) for one in json.loads(QUESTIONS.read_text(encoding="utf-8"))]
    return QuestionSet("Obsidian's help vault", vault, asked, 0.85)


def seekstone_set(checkout: Path) -> QuestionSet:
    """Of `packages/harness` in a checkout, or of that folder itself."""
    inner = checkout / "packages" / "harness"
    harness = inner if inner.is_dir() else checkout
    asked = json.loads((harness / "queries" / "golden.json").read_text(encoding="utf-8"))["queries"]
    questions = [Question(one["query"], one["expected"], one["kind"]) for one in asked]
    return QuestionSet("seekstone's vault", harness / "fixtures" / "vault", questions, 0.82)


# Who is asked


@dataclass(frozen=True)
class Searcher:
    """How one server is asked: {home} is its own folder, {vault} the vault, {query} the question."""

    rival: Rival
    ask: Ask
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Sequence[str] = ()  # a command that is run before it is started
    ready: tuple[str, dict[str, str], str] | None = None  # asked until the answer has this word

    @property
    def name(self) -> str:
        return self.rival.name

    def start(self, vault: Path, home: Path, limit: float = LIMIT) -> Peer:
        """Initialized, and with its index where it has one. It is ended after so many seconds, whatever it does."""
        home.mkdir(parents=True, exist_ok=True)
        environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        environ |= filled({**self.rival.env, **self.env}, vault=str(vault), home=str(self.rival.home))
        if self.prepare:
            words = [filled(word, vault=str(vault), home=str(self.rival.home)) for word in self.prepare]
            subprocess.run(words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=limit)
        peer = Peer(self.rival.command(vault), environ)
        watchdog = threading.Timer(limit, peer.process.kill)
        watchdog.daemon = True
        watchdog.start()
        peer.initialize()
        if self.ready is not None:
            tool, arguments, word = self.ready
            while word not in json.dumps(peer.call(tool, **arguments)):
                time.sleep(0.2)
        return peer

    def search(self, peer: Peer, query: str) -> dict[str, Any]:
        """Its result; nothing where it answers with an error."""
        tool, arguments = self.ask
        asked = json.loads(json.dumps(arguments).replace('"{query}"', json.dumps(query)))
        result: dict[str, Any] = peer.call(tool, **asked).get("result", {})
        return {} if result.get("isError") else result


KNOWN = {rival.name: rival for rival in RIVALS}
US = (sys.executable, "-m", "obsidian_mcp")
OURS = Searcher(
    Rival("ours", (), (*US, "--backend", "embedded", "--vault", "{vault}", "--timeout", "600")),
    ("obsidian_search_notes", {"query": "{query}"}),
    prepare=(*US, "index", "--vault", "{vault}"),
)
QMD = "{home}/node_modules/@tobilu/qmd/dist/cli/qmd.js"
# Each by its own defaults, in its best mode that needs no model from elsewhere.
OTHERS = (
    Searcher(KNOWN["mcpvault"], ("search_notes", {"query": "{query}"})),
    Searcher(
        KNOWN["obsidian-mcp (npm)"],
        ("obsidian_search_vault", {"vault": "notes", "query": "{query}", "mode": "both"}),
    ),
    Searcher(
        KNOWN["markdown-vault-mcp"],
        ("search", {"query": "{query}"}),
        ready=("get_index_status", {}, "queryable"),
    ),
    Searcher(
        KNOWN["obsidian-mcp (PyPI)"],
        ("search_notes_tool", {"query": "{query}"}),
        ready=("search_by_regex_tool", {"pattern": "x"}, ""),  # this one waits for the index
    ),
    Searcher(
        Rival(
            "obsidian-mcp-pro",
            ("obsidian-mcp-pro@latest",),
            (NODE, "{home}/node_modules/.bin/obsidian-mcp-pro"),
            is_node=True,
        ),
        ("search_notes", {"query": "{query}"}),
        env={"OBSIDIAN_VAULT_PATH": "{vault}"},
    ),
    Searcher(
        Rival("qmd, by words", ("@tobilu/qmd@latest",), (NODE, QMD, "mcp"), is_node=True),
        ("query", {"searches": [{"type": "lex", "query": "{query}"}], "rerank": False}),
        prepare=(NODE, QMD, "collection", "add", "{vault}", "--name", "notes"),
    ),
)


def install(wanted: Sequence[Searcher], report: Report) -> list[Searcher]:
    """Those that could be; why another could not is recorded."""
    found = []
    for searcher in wanted:
        try:
            searcher.rival.install()
        except NotInstalled as problem:
            report.left_out[searcher.name] = str(problem).partition("\n")[0]
            continue
        report.versions[searcher.name] = searcher.rival.version
        found.append(searcher)
    return found


# What is found


@dataclass(frozen=True)
class Answer:
    question: Question
    notes: Sequence[str]
    size: int  # what a model reads of it, in bytes

    @property
    def rank(self) -> int | None:
        """Of the first right note, from 1; None where none is among the first five."""
        places = (place for place, note in enumerate(self.notes[:FIRST], 1) if note in self.question.answers)
        return next(places, None)


@dataclass(frozen=True)
class Score:
    answers: Sequence[Answer]

    def hits(self, kind: str | None = None) -> float:
        chosen = [answer for answer in self.answers if kind in (None, answer.question.kind)]
        return sum(answer.rank is not None for answer in chosen) / len(chosen)

    @property
    def mean_reciprocal_rank(self) -> float:
        return sum(1 / answer.rank for answer in self.answers if answer.rank) / len(self.answers)

    @property
    def without_answer(self) -> int:
        return sum(not answer.notes for answer in self.answers)

    @property
    def median_size(self) -> float:
        return statistics.median(answer.size for answer in self.answers)

    def row(self, name: str, kinds: Sequence[str]) -> tuple[str, ...]:
        shares = (f"{self.hits(kind):.2f}" for kind in (None, *kinds))
        largest = max(answer.size for answer in self.answers)
        sizes = (f"{self.median_size:,.0f}", f"{largest:,}")
        return (name, *shares, f"{self.mean_reciprocal_rank:.2f}", str(self.without_answer), *sizes)


def size_of(result: Mapping[str, Any]) -> int:
    """In bytes: a host shows its model the text or the structured content, so the longer of the two."""
    text = "".join(part.get("text", "") for part in result.get("content", ()))
    structured = result.get("structuredContent")
    compact = "" if structured is None else json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
    return max(len(text.encode()), len(compact.encode()))


def notes_in(result: Mapping[str, Any], known: Collection[str]) -> list[str]:
    """The notes that a result names, in its order and each once, whatever it calls the field."""
    named = (_known(value, known) for value in strings(_data(result)))
    return list(dict.fromkeys(note for note in named if note))


def _data(result: Mapping[str, Any]) -> Any:
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    text = "\n".join(part.get("text", "") for part in result.get("content", ()))
    try:
        return json.loads(text)
    except ValueError:
        return text.split("\n")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings(inner)


def _known(value: str, known: Collection[str]) -> str | None:
    """A note's path; some put the name of the vault before it."""
    shorter = value.partition("/")[2]
    return next((path for path in (value, shorter) if path in known), None)


# The run


def measure(searcher: Searcher, asked: QuestionSet, vault: Path, home: Path) -> Score:
    """Raises EOFError where it ends, or has to be ended."""
    known = {path.relative_to(vault).as_posix() for path in vault.rglob("*.md")}
    peer = searcher.start(vault, home)
    try:
        answers = []
        for question in asked.questions:
            result = searcher.search(peer, question.query)
            answers.append(Answer(question, notes_in(result, known), size_of(result)))
        return Score(answers)
    finally:
        stop(peer)


def stop(peer: Peer) -> None:
    peer.process.kill()
    peer.process.wait(30)
    for pipe in (peer.process.stdin, peer.process.stdout):
        if pipe:
            pipe.close()


def run(asked: QuestionSet, everybody: Sequence[Searcher], report: Report, folder: Path) -> dict[str, Score]:
    """On a copy: there are servers that write into the folder they search."""
    vault = folder / "vault"
    shutil.copytree(asked.vault, vault, ignore=shutil.ignore_patterns(".*"))
    (vault / ".obsidian").mkdir()
    scores = {}
    for searcher in everybody:
        print(f"Asking {searcher.name} about {asked.name} ...", file=sys.stderr, flush=True)
        try:
            scores[searcher.name] = measure(searcher, asked, vault, folder / searcher.name)
        except EOFError:
            report.left_out[f"{searcher.name} on {asked.name}"] = f"it ended, or was ended after {LIMIT} s"
        except (OSError, subprocess.SubprocessError) as problem:
            report.left_out[f"{searcher.name} on {asked.name}"] = str(problem)
    return scores


def judge(report: Report, asked: QuestionSet, scores: Mapping[str, Score]) -> None:
    ours = scores.get("ours")
    report.bar(
        f"right note among the first {FIRST}, {asked.name}", ours.hits() if ours else 0, "", asked.at_least, True
    )
    if ours is None:
        return
    others = [score.hits() for name, score in scores.items() if name != "ours"]
    if others and asked.name.startswith("seekstone"):
        ahead = round(ours.hits() - max(others), 4)
        report.bar(f"ahead of the best other, {asked.name}", ahead, "", 1 / len(asked.questions), True)
    report.bar(f"questions without an answer, {asked.name}", ours.without_answer, "", 0)
    report.bar(f"half of the answers within, {asked.name}", ours.median_size, "bytes", 2_500)


def show(asked: QuestionSet, scores: Mapping[str, Score], missed: bool) -> None:
    kinds = list(dict.fromkeys(question.kind for question in asked.questions))
    head = ("server", f"first {FIRST}", *kinds, f"MRR@{FIRST}", "no answer", "bytes p50", "max")
    print(f"\n{asked.name}, {len(asked.questions)} questions\n")
    print(table(head, [score.row(name, kinds) for name, score in scores.items()]))
    for answer in scores["ours"].answers if missed and "ours" in scores else ():
        if answer.rank is None:
            print(f"  {answer.question.query}: {', '.join(answer.notes)} instead of {answer.question.answers[0]}")


def wanted_sets(help_vault: str, seekstone: str) -> Iterator[QuestionSet]:
    """Of the folders that are there."""
    for make, folder in ((own_set, help_vault), (seekstone_set, seekstone)):
        try:
            asked = make(Path(folder or "/dev/null"))
        except OSError:
            asked = None
        if asked and asked.vault.is_dir():
            yield asked
        else:
            print(f"Skipped: {make.__name__.replace('_', ' ')}, {folder or 'no folder'} is not it.")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__.partition("\n")[0])
    parser.add_argument("--help-vault", default="", metavar="FOLDER", help="the folder en of obsidianmd/obsidian-help")
    parser.add_argument("--seekstone", default="", metavar="FOLDER", help="a checkout of shaqmughal/seekstone")
    parser.add_argument("--rivals", action="store_true", help="other servers too, installed from their registries")
    parser.add_argument("--missed", action="store_true", help="list the questions that we answer wrongly")
    chosen = parser.parse_args()
    report = Report("", {})
    sets = list(wanted_sets(chosen.help_vault, chosen.seekstone))
    everybody = [OURS, *(install(OTHERS, report) if chosen.rivals and sets else ())]
    for asked in sets:
        with tempfile.TemporaryDirectory(prefix="obsidian-mcp-quality-") as folder:
            scores = run(asked, everybody, report, Path(folder))
        show(asked, scores, chosen.missed)
        judge(report, asked, scores)
    left_out = {**report.left_out, **(UNPUBLISHED if chosen.rivals else {})}
    print("".join(f"\nLeft out: {name} ({why})." for name, why in left_out.items()))
    if sets:
        print("\n" + report.bars_table())
    return 1 if report.missed or not sets else 0


if __name__ == "__main__":
    sys.exit(main())
