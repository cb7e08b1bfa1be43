"""The page in a real browser. The ids are those of specs/history-page.md."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import browser
from tests.support.browser import Browser, Tab
from tests.support.page import Visitor, link
from tests.support.web import Web, WebSession
from tests.support.world import World

pytestmark = pytest.mark.skipif(browser.COMMAND is None, reason="there is no Chromium here")

HOSTILE = "<img src=x onerror=document.title='broken'>"
LIVE = "document.getElementById('live').textContent === 'live'"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser") / "profile") as started:
        yield started


def serve(world: World, *options: str) -> Web:
    return Web(world.environment(), "--vault", str(world.vault), "--backend", "embedded", *options)


def opened(chromium: Browser, address: str, **how: bool) -> Tab:
    tab = chromium.tab(address, own=True, **how)
    tab.wait_for(LIVE)
    return tab


def garden(world: World) -> None:
    world.put("Compost.md", "# Compost\n\nTurn it once a month.\n")
    world.put("Garden.md", "See [[Compost]] and [[Tools]].\r\nAgain: ![[Compost#Compost|heap]]\n")
    world.put("Journal/Monday.md", "The [[compost|heap]] is warm.\n")


def test_p14_a_rename_appears_by_itself_and_is_undone_by_a_click_and_one_question(
    own_world: World, chromium: Browser
) -> None:
    garden(own_world)
    before = own_world.tree()
    with serve(own_world) as web:
        tab = opened(chromium, link(web))
        assert tab.evaluate("location.href") == f"http://127.0.0.1:{web.port}/", "the secret is gone from the address"
        tab.evaluate("window.isTheSame = true")
        WebSession(web).call("rename_note", name="Compost", new_name="Compost heap")
        assert "[[Compost heap]]" in own_world.get("Garden.md").decode()
        tab.wait_for("document.querySelector('article')")
        assert "Renamed Compost.md to Compost heap.md" in tab.text()
        assert tab.evaluate("[...document.querySelectorAll('h2, h3')].map((e) => e.textContent)") == ["Today", "web"]
        tab.click("article .undo")
        tab.wait_for("document.querySelectorAll('[role=alertdialog]').length === 1")
        assert own_world.tree() != before, "it asks first"
        tab.click(".yes")
        tab.wait_for("document.querySelector('article.undone .badge')")
        assert own_world.tree() == before
        assert tab.count("article") == 2
        assert ": Renamed Compost.md" in tab.evaluate("document.querySelector('.what').textContent")
        assert tab.evaluate("window.isTheSame"), "it was not loaded again"
        assert tab.problems == []
        assert all(address.startswith(f"http://127.0.0.1:{web.port}/") for address in tab.asked)


def test_p14_the_diff_is_shown_side_by_side(own_world: World, chromium: Browser) -> None:
    garden(own_world)
    with serve(own_world) as web:
        web.call("edit_note", name="Compost", old_text="once a month", new_text="every week")
        tab = opened(chromium, link(web))
        tab.click("article .open")
        tab.wait_for("document.querySelector('td.plus')")
        cells = "[...document.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
        assert tab.evaluate(cells)[-1] == ["3", "Turn it once a month.", "3", "Turn it every week."]
        assert tab.evaluate("[...document.querySelectorAll('mark')].map((e) => e.textContent)") == [
            "once a month",
            "every week",
        ]
        sides = "['minus', 'plus'].map((side) => document.querySelector(`td.${side}:not(.number)`))"
        left, right = tab.evaluate(f"{sides}.map((e) => e.getBoundingClientRect()).map((r) => [r.left, r.top])")
        assert left[0] < right[0]
        assert left[1] == right[1]


def test_p10_hostile_names_and_texts_stay_text(own_world: World, chromium: Browser) -> None:
    own_world.put(f"{HOSTILE}.md", f"{HOSTILE}\n</script><script>document.title = 'broken'</script>\n")
    with serve(own_world) as web:
        session = WebSession(web)
        session.call("append_note", name=f"{HOSTILE}.md", content=f"{HOSTILE}<svg onload=document.title='broken'>")
        tab = opened(chromium, link(web))
        tab.click("article .open")
        tab.wait_for("document.querySelector('td.plus')")
        assert HOSTILE in tab.evaluate("document.querySelector('.what').textContent")
        assert HOSTILE in tab.evaluate("document.querySelector('td.plus:not(.number)').textContent")
        assert tab.count("img, svg, article script, article iframe") == 0
        assert tab.evaluate("document.title") == "What was changed · obsidian-mcp"
        assert tab.problems == []


def test_p4_without_the_link_there_is_no_button(own_world: World, chromium: Browser) -> None:
    garden(own_world)
    with serve(own_world) as web:
        web.call("append_note", name="Compost", content="More.")
        tab = opened(chromium, f"http://127.0.0.1:{web.port}/")
        assert (tab.count("article"), tab.count(".undo")) == (1, 0)
        assert "only shows" in tab.text()
        tab.evaluate(f"location.hash = {json.dumps(link(web).partition('#')[2])}")  # pasted into the open page
        tab.wait_for("document.querySelector('.undo')")
        other = opened(chromium, link(web))
        assert other.count(".undo") == 0
        assert "works once" in other.text()
        tab.go(f"http://127.0.0.1:{web.port}/")  # the browser is known from now on
        tab.wait_for("document.querySelector('.undo')")


def test_p15_the_keyboard_is_enough(own_world: World, chromium: Browser) -> None:
    garden(own_world)
    before = own_world.tree()
    with serve(own_world) as web:
        web.call("append_note", name="Compost", content="More.")
        changed = own_world.tree()
        tab = opened(chromium, link(web))
        tab.wait_for("document.querySelector('.undo')")
        tab.evaluate("document.querySelector('.open').focus()")
        tab.key("Enter")
        tab.wait_for("document.querySelector('td.plus')")
        tab.key("Tab")
        assert tab.evaluate("document.activeElement.className") == "undo"
        assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        tab.key("Enter")
        tab.wait_for("document.activeElement.classList.contains('yes')")
        tab.key("Escape")
        tab.wait_for("!document.querySelector('[role=alertdialog]')")
        assert tab.evaluate("document.activeElement.className") == "undo"
        assert own_world.tree() == changed
        tab.key("Enter")
        tab.wait_for("document.activeElement.classList.contains('yes')")
        tab.key("Enter")
        tab.wait_for("document.querySelector('article.undone')")
        assert own_world.tree() == before


def test_p12_a_refusal_is_shown_and_later_edits_can_stay(own_world: World, chromium: Browser) -> None:
    own_world.put("Note.md", "one\ntwo\nthree\nfour\nfive\n")
    with serve(own_world) as web:
        web.call("edit_note", name="Note", old_text="one", new_text="ONE")
        own_world.put("Note.md", "ONE\ntwo\nthree\nfour\nFIVE\n")
        tab = opened(chromium, link(web))
        tab.click(".undo")
        tab.click(".yes")
        tab.wait_for("document.querySelector('.said.bad')")
        said = tab.evaluate("document.querySelector('.said.bad p').textContent")
        assert "Note.md" in said
        assert own_world.get("Note.md").startswith(b"ONE")
        tab.click(".merge")
        tab.click(".yes")
        tab.wait_for("document.querySelector('article.undone')")
        assert own_world.get("Note.md") == b"one\ntwo\nthree\nfour\nFIVE\n"


def test_p7_read_only_and_no_history_are_said(own_world: World, chromium: Browser) -> None:
    for option in (("--read-only",), ("--history", "off")):
        with serve(own_world, *option) as web:
            tab = opened(chromium, link(web))
            assert " ".join(option) in tab.text()
            assert tab.count(".undo") == 0


def test_p6_with_a_token_it_asks_for_it(own_world: World, chromium: Browser) -> None:
    with serve(own_world, "--token", "sésame") as web:
        tab = chromium.tab(f"http://127.0.0.1:{web.port}/", own=True)
        tab.wait_for("!document.getElementById('token').hidden")
        tab.click("#token-text")
        tab.type("sésame")
        tab.key("Enter")
        tab.wait_for(LIVE)
        assert "Nothing was changed yet" in tab.text()
        assert opened(chromium, link(web)).count("#token:not([hidden])") == 0


def test_p11_search_and_the_choice_of_a_vault_narrow_the_list(own_world: World, chromium: Browser) -> None:
    with serve(own_world, "--vault", str(own_world.outside)) as web:
        web.call("create_note", name="Apples", content="x")
        web.call("create_note", name="Pears", content="x", vault="outside")
        tab = opened(chromium, link(web))
        assert tab.count("article") == 2
        assert "outside" in tab.evaluate("document.querySelector('article .more').textContent")
        tab.click("#search")
        tab.type("apples")
        tab.wait_for("document.querySelectorAll('article').length === 1")
        assert "Created Apples.md" in tab.text()
        tab.evaluate("document.getElementById('search').value = ''")
        choose = "const c = document.getElementById('vault'); c.value = 'outside'; c.dispatchEvent(new Event('change'))"
        tab.evaluate(f"(() => {{ {choose} }})()")
        tab.wait_for("document.querySelector('.what')?.textContent === 'Created Pears.md'")
        assert tab.count("article") == 1


@contextmanager
def elsewhere() -> Iterator[str]:
    """A page of another program on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>elsewhere</title>")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


TRIES = """(async (there, vault, id) => {
  const json = {"Content-Type": "application/json"}, body = JSON.stringify({vault, id});
  const every = [
    ["changes"], ["state"], ["news"],
    ["undo", {method: "POST", headers: json, body}],
    ["undo", {method: "POST", headers: {...json, "X-Page-Key": "x"}, body}],
    ["undo", {method: "POST", body}],
    ["undo", {method: "POST", mode: "no-cors", body}],
  ];
  const found = [];
  for (const [what, how] of every) {
    try {
      const answer = await fetch(there + "page/" + what, {credentials: "include", ...how});
      found.push(answer.type === "opaque" ? "opaque" : await answer.text());
    } catch { found.push("refused"); }
  }
  const frame = document.createElement("iframe");
  frame.src = there;
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  try { found.push(frame.contentDocument ? "seen" : "framed"); } catch { found.push("refused"); }
  return found;
})"""


@pytest.mark.parametrize("options", [(), ("--allow-origin", "*")], ids=["by default", "with every origin allowed"])
def test_p5_a_page_of_another_origin_can_do_nothing(
    own_world: World, chromium: Browser, options: tuple[str, ...]
) -> None:
    garden(own_world)
    with serve(own_world, *options) as web, elsewhere() as address:
        web.call("append_note", name="Compost", content="More.")
        changed = own_world.tree()
        tab = opened(chromium, link(web))  # which may undo, and whose cookies the other page's requests carry
        tab.wait_for("document.querySelector('.undo')")
        (change,) = Visitor(web).changes()
        tab.go(address)
        tab.wait_for("document.title === 'elsewhere'")
        there = f"http://127.0.0.1:{web.port}/"
        found = tab.evaluate(f"{TRIES}({json.dumps(there)}, {json.dumps(change['vault'])}, {json.dumps(change['id'])})")
        assert found == ["refused"] * 6 + ["opaque", "framed"]
        assert own_world.tree() == changed
        assert len(Visitor(web).changes()) == 1


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_p15_nothing_is_wider_than_the_window(
    own_world: World, chromium: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    own_world.put("Long.md", "word" * 200 + "\n")
    with serve(own_world) as web:
        web.call("append_note", name="Long", content="more" * 200)
        tab = opened(chromium, link(web), dark=dark)
        tab.resize(width)
        tab.click("article .open")
        tab.wait_for("document.querySelector('td.plus')")
        tab.click(".undo")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        papers = {False: "rgb(247, 247, 249)", True: "rgb(22, 24, 29)"}
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == papers[dark]
