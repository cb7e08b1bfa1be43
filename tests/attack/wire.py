"""Lines that no client would send, at a server that has to stay polite. `make fuzz` sends a million."""

from __future__ import annotations

import collections
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from obsidian_mcp.protocol.results import ERROR_META
from obsidian_mcp.tools import catalogue
from tests.support.client import COMMAND, MODERN_META
from tests.support.world import World

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CHUNK = 200  # lines between two looks whether everything was answered
LIMIT = 60
LISTED = catalogue.load().listing()
TOOLS = tuple(tool["name"] for tool in LISTED)
ARGUMENTS = tuple(sorted({name for tool in LISTED for name in tool["inputSchema"]["properties"]} - {"name"}))
PROMPTS = ("daily_review", "ask_vault", "capture", "tidy", "no such", "own_prompt", "Own prompt")
URIS = (
    "obsidian://vault/Vault/A.md", "obsidian://vault/Vault/Deep%2FC.md", "obsidian://vault/Vault/../x",
    "obsidian://vault/Vault/%ff", "obsidian://vault/", "obsidian://", "file:///etc/passwd", "A",
    "obsidian://vault/Vault/{+path}",
)  # fmt: skip
ANSWERS = (
    {"action": "accept", "content": {"confirm": True}},
    {"action": "accept", "content": {"confirm": False}},
    {"action": "accept"},
    {"action": "decline"},
    {"action": 7},
)
METHODS = (
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "server/discover",
    "subscriptions/listen",
    "exitt",
    "",
    "é",
)
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2**63,
    1e308,
    "",
    " ",
    "x" * 3000,
    [],
    {},
    [[]],
    {"a": None},
    "\ud800",
    "\x00",
    "../..",
)
PIECES = ("[[", "{", "}", '"', "\\", ",", ":", "\\ud800", "\\u0000", "null", "1e999", "NaN", "\x00", "\xff", "é", "  ")


class Broken(AssertionError):
    """What the server did that it must not do."""


class Lines:
    """The same for the same seed. Every request has an id that no other has."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._number = 0

    def __iter__(self) -> Iterator[bytes]:
        kinds: tuple[Callable[[], bytes], ...] = (
            self._request, self._request, self._request, self._mutated, self._mutated, self._cut,
            self._batch, self._cancel, self._noise, self._answer, self._question,
        )  # fmt: skip
        while True:
            line = self._random.choice(kinds)().replace(b"\n", b" ")
            if b'"exit"' not in line:  # that ends it, and rightly
                yield line

    def _encode(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=self._random.random() < 0.5).encode("utf-8", "surrogatepass")

    def _message(self) -> dict[str, Any]:
        self._number += 1
        pick = self._random.choice
        id = self._number if self._random.random() < 0.5 else f"r{self._number}"
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": pick(METHODS), "params": {}}
        if message["method"] == "tools/call" or self._random.random() < 0.4:
            message["method"] = "tools/call"
            message["params"] = {"name": pick(TOOLS), "arguments": self._arguments()}
            if self._random.random() < 0.1:
                message["params"]["inputResponses"] = pick((*ODD, {"confirm": pick(ANSWERS)}))
                message["params"]["requestState"] = pick((*ODD, "e30"))
        elif message["method"] == "initialize":
            version = pick(("2024-11-05", "2025-03-26", "2025-11-25", "1999", 7))
            capabilities = pick(({}, {"elicitation": {}}, {"elicitation": {"form": {}}}, *ODD))
            message["params"] = {"protocolVersion": version, "capabilities": capabilities}
        else:
            message["params"] = self._asking(message["method"])
        if self._random.random() < 0.3:
            meta = {**MODERN_META, CAPABILITIES: pick(({}, {"elicitation": {}}, *ODD))}
            message["params"]["_meta"] = meta if self._random.random() < 0.7 else pick(ODD)
        return message

    def _asking(self, method: str) -> dict[str, Any]:
        """The params of what is offered beside tools."""
        pick = self._random.choice
        if method == "resources/read":
            return {"uri": pick((*URIS, *ODD))}
        if method == "prompts/get":
            values = pick(({}, {"question": "x"}, {"day": pick(ODD)}, *ODD))
            return {"name": pick((*PROMPTS, *ODD)), "arguments": values}
        if method == "completion/complete":
            kinds = ({"type": "ref/resource", "uri": pick(URIS)}, {"type": "ref/prompt", "name": pick(PROMPTS)}, *ODD)
            named = {"name": pick(("path", "note", "day", *ODD)), "value": pick(("", "a", "..", "Deep/", *ODD))}
            return {"ref": pick(kinds), "argument": pick((named, named, *ODD))}
        return {} if self._random.random() < 0.8 else {"cursor": pick(ODD)}

    def _arguments(self) -> dict[str, Any]:
        pick = self._random.choice
        names = ("A", "B.md", "Deep/C", "../out", "/etc/passwd", ".obsidian/x", "a\\b", "CON", "ä" * 100)
        arguments: dict[str, Any] = {"name": pick(names) if self._random.random() < 0.8 else pick(ODD)}
        for key in self._random.sample(ARGUMENTS, self._random.randint(0, 6)):
            arguments[key] = pick((*ODD, "text", "Deep", "D", 1, True, ["A", "B.md"], "A > B", "tag:#x (", "/(/"))
        return arguments

    def _request(self) -> bytes:
        return self._encode(self._message())

    def _mutated(self) -> bytes:
        message = self._message()
        if self._random.random() < 0.5:
            message[self._random.choice(tuple(message))] = self._random.choice(ODD)
            return self._encode(message)
        data = bytearray(self._encode(message))
        for _ in range(self._random.randint(1, 4)):
            at = self._random.randrange(len(data))
            piece = self._random.choice(PIECES).encode("latin-1")
            data[at : at + self._random.randint(0, 3)] = piece
        return bytes(data)

    def _cut(self) -> bytes:
        data = self._request()
        return data[: self._random.randrange(len(data))]

    def _batch(self) -> bytes:
        return self._encode([self._message() for _ in range(self._random.randint(0, 5))])

    def _cancel(self) -> bytes:
        target = self._random.choice((self._number, f"r{self._number - 1}", *ODD))
        return self._encode({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": target}})

    def _noise(self) -> bytes:
        return self._random.randbytes(self._random.choice((0, 1, 7, 300, 5000)))

    def _question(self) -> bytes:
        """What a person is asked about first, where the client can ask: so there is something to answer."""
        self._number += 1
        tool, more = self._random.choice((("create", {"content": "x"}), ("delete", {"permanent": True})))
        params: dict[str, Any] = {"name": f"obsidian_{tool}_note", "arguments": {"name": "A", **more}}
        kind = self._random.random()
        if kind < 0.3:
            params["_meta"] = {**MODERN_META, CAPABILITIES: {"elicitation": {}}}
        elif kind < 0.4:
            capable = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
            return self._encode({"jsonrpc": "2.0", "id": self._number, "method": "initialize", "params": capable})
        return self._encode({"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": params})

    def _answer(self) -> bytes:
        """To a question that the server may have asked, or to none."""
        self._number += 1
        id = self._number if self._random.random() < 0.3 else f"ask-{self._random.randint(1, 1 + self._number // 50)}"
        said = {self._random.choice(("result", "result", "error")): self._random.choice((*ODD, *ANSWERS))}
        return self._encode({"jsonrpc": "2.0", "id": id, **said})


class Attack:
    def __init__(self, world: World, seed: int) -> None:
        self._seed = seed
        world.put("Prompts/Own prompt.md", "Say {{what}} of {{note}}.\n")
        options = ("--backend", "embedded", "--vault", str(world.vault), "--log-level", "error", "--toolsets", "all")
        self.process = subprocess.Popen(
            [*COMMAND, *options],
            env=world.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._asked: collections.Counter[Any] = collections.Counter()
        self._answered: collections.Counter[Any] = collections.Counter()
        self._lock = threading.Condition()
        self._problem = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, count: int, progress: Callable[[int], None] = lambda sent: None) -> None:
        assert self.process.stdin is not None
        lines = iter(Lines(self._seed))
        for begin in range(0, count, CHUNK):
            sent = []
            for number in range(begin, min(begin + CHUNK, count)):
                line = next(lines)
                self._note(line)
                sent.append(line)
                sent.append(b'{"jsonrpc":"2.0","id":"p%d","method":"ping"}' % number)
                self._asked[f"p{number}"] += 1
            self.process.stdin.write(b"\n".join(sent) + b"\n")
            self.process.stdin.flush()
            self._wait_for([f"p{number}" for number in range(begin, min(begin + CHUNK, count))], sent)
            progress(begin + CHUNK)
        self.process.stdin.close()
        self._reader.join(LIMIT)
        assert self.process.stdout
        self.process.stdout.close()
        if self.process.wait(LIMIT) != 0:
            raise Broken(f"exit code {self.process.returncode}")
        if self._problem:
            raise Broken(self._problem)

    def _note(self, line: bytes) -> None:
        """What a line may be answered to."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        for one in message if isinstance(message, list) else [message]:
            if isinstance(one, dict):
                self._asked[_key(one.get("id"))] += 1

    def _wait_for(self, pings: list[str], sent: list[bytes]) -> None:
        with self._lock:
            self._lock.wait_for(lambda: self._problem or all(self._answered[ping] for ping in pings), LIMIT)
            missing = [ping for ping in pings if not self._answered[ping]]
        if self._problem:
            raise Broken(f"seed {self._seed}: {self._problem}")
        if missing:
            before = sent[2 * pings.index(missing[0])]
            raise Broken(f"seed {self._seed}: no answer to the ping behind {before!r}")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            problem = ""
            try:
                said = json.loads(line)
            except ValueError:
                problem = f"not JSON on stdout: {line[:200]!r}"
            else:
                for one in said if isinstance(said, list) else [said]:
                    problem = problem or self._wrong(one)
            with self._lock:
                self._problem = self._problem or problem
                self._lock.notify_all()
        with self._lock:
            if self.process.poll() not in (None, 0):
                self._problem = self._problem or "it ended"
            self._lock.notify_all()

    def _wrong(self, one: Any) -> str:
        """What is wrong with a message of the server's; counts it."""
        if not isinstance(one, dict) or one.get("jsonrpc") != "2.0":
            return f"not a message: {one!r}"
        if "method" in one:
            return "" if "id" not in one or one["method"] == "elicitation/create" else f"a request: {one!r}"
        if ("result" in one) == ("error" in one):
            return f"neither a result nor an error: {one!r}"
        if ("error" in one and one["error"]["code"] == -32603) or _is_bug(one.get("result")):
            return f"a bug: {one!r}"
        if one["id"] is None:
            return "" if "error" in one else f"a result without an id: {one!r}"
        key = _key(one["id"])
        with self._lock:
            self._answered[key] += 1
            return "" if self._answered[key] <= self._asked[key] else f"answered too often: {one!r}"


def _is_bug(result: Any) -> bool:
    """Where a failure is told as a result."""
    meta = result.get("_meta") if isinstance(result, dict) else None
    return isinstance(meta, dict) and meta.get(ERROR_META, {}).get("code") == -32603


def _key(id: Any) -> Any:
    """1 and True are one key to Python, and not here."""
    return (type(id).__name__, json.dumps(id)) if not isinstance(id, str) else id


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    began = time.monotonic()

    def progress(sent: int) -> None:
        if sent % (CHUNK * 50) == 0:
            print(f"\r{sent:,} of {count:,} lines, {time.monotonic() - began:.0f} s", end="", flush=True)

    with tempfile.TemporaryDirectory(prefix="obsidian-mcp-fuzz-") as folder:
        world = World(Path(folder, "world"))
        before = sorted(world.outside.iterdir())
        try:
            Attack(world, seed).run(count, progress)
        except Broken as broken:
            sys.exit(f"\n{broken}")
        if sorted(world.outside.iterdir()) != before:
            sys.exit("\nsomething was made outside the vault")
    print(f"\r{count:,} lines with seed {seed}: every ping answered, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
