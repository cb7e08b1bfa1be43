"""The page for people, over plain HTTP. The ids are those of specs/history-page.md."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator

import pytest

from obsidian_mcp.doors.http.page import FILE
from tests.support.page import JSON, Visitor, link
from tests.support.web import MCP, Web
from tests.support.world import World

HOSTILE = "<img src=x onerror=alert(1)>"
DATA = ("state", "news", "changes", "change")


def serve(world: World, *options: str) -> Web:
    return Web(world.environment(), "--vault", str(world.vault), "--backend", "embedded", *options)


def test_p1_the_page_is_one_file_that_asks_for_nothing_elsewhere(web: Web) -> None:
    reply = web.ask("GET", "/")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.body == FILE.read_bytes()
    text = reply.body.decode()
    assert not re.search(r"https?://|@import|url\(|<link|<img|<iframe|\ssrc=|\shref=", text)
    assert not re.search(r"\son\w+=|\sstyle=|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(", text)


def test_p2_its_policy_allows_its_own_script_and_style_and_nothing_else(web: Web) -> None:
    reply = web.ask("GET", "/")
    found = {tag: re.findall(rf"<{tag}>(.*?)</{tag}>", reply.body.decode(), re.DOTALL) for tag in ("script", "style")}
    hashes = {tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for tag, (text,) in found.items()}
    assert reply.headers["content-security-policy"] == (
        f"default-src 'none'; connect-src 'self'; script-src 'sha256-{hashes['script']}'; "
        f"style-src 'sha256-{hashes['style']}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == "no-store"


def test_p1_a_client_of_mcp_finds_nothing_there_as_before(web: Web) -> None:
    reply = web.ask("GET", "/", headers=MCP)
    assert (reply.status, reply.json["code"]) == (404, "NOT_FOUND")
    assert web.ask("POST", "/", {}).status == 405


def test_p3_the_link_works_once(own_world: World) -> None:
    with serve(own_world) as web:
        assert re.fullmatch(rf"http://127\.0\.0\.1:{web.port}/#[\w-]{{32}}", link(web))
        wrong = Visitor(web).post("enter", secret="wrong")
        assert (wrong.status, wrong.json["code"]) == (403, "WRONG_LINK")
        first = Visitor(web).enter()
        assert first.status == 200
        assert first.headers["set-cookie"].partition("; ")[2] == "Path=/page/; HttpOnly; SameSite=Strict"
        again = Visitor(web).enter()
        assert (again.status, again.json["code"]) == (403, "LINK_USED")
        assert "set-cookie" not in again.headers


@pytest.mark.parametrize("secret", [None, 1, [], {}, "", "\ud800", "é"])
def test_p3_what_is_no_secret_is_refused(web: Web, secret: object) -> None:
    assert Visitor(web).post("enter", secret=secret).json["code"] == "WRONG_LINK"


def test_p4_without_the_link_it_shows_and_cannot_undo(own_world: World) -> None:
    with serve(own_world) as web:
        web.call("create_note", name="Note", content="x")
        stranger, owner = Visitor(web), Visitor(web)
        (change,) = stranger.changes()
        assert stranger.get("state").json["undo"] == {"on": True, "allowed": False}
        assert stranger.undo(change).json["code"] == "NOT_PAIRED"
        owner.enter()
        for cookie, key in ((owner.cookie, {}), ({}, owner.key), (owner.cookie, {"X-Page-Key": "x"})):
            stranger.cookie, stranger.key = cookie, key
            refused = stranger.undo(change)
            assert (refused.status, refused.json["code"]) == (403, "NOT_PAIRED")
        assert own_world.has("Note.md")
        assert owner.get("state").json["undo"] == {"on": True, "allowed": True}
        assert owner.undo(change).status == 200
        assert not own_world.has("Note.md")
        undoing, undone = owner.changes()
        assert (undone["undone"], undoing["undoes"], undoing["client"]) == (True, [change["id"]], "obsidian-mcp page")


FOREIGN = [
    {"Origin": "http://example.com"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "app://obsidian.md"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
def test_p5_another_page_can_do_nothing_even_one_that_is_allowed_elsewhere(
    open_web: Web, foreign: dict[str, str]
) -> None:
    web, owner = open_web, Visitor(open_web)
    for method, path in [*(("GET", name) for name in DATA), ("POST", "enter"), ("POST", "undo")]:
        reply = web.ask(method, f"/page/{path}", {}, {**JSON, **owner.cookie, **owner.key, **foreign})
        assert (reply.status, reply.json["code"]) == (403, "FORBIDDEN")
        asked = web.ask("OPTIONS", f"/page/{path}", headers={**foreign, "Access-Control-Request-Method": method})
        for each in (reply, asked):
            assert not [name for name in each.headers if name.startswith("access-control")]


@pytest.fixture(scope="module")
def open_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with serve(World(tmp_path_factory.mktemp("open") / "world"), "--allow-origin", "*") as web:
        yield web


def test_p5_its_own_page_may_ask(web: Web) -> None:
    own = {"Origin": f"http://127.0.0.1:{web.port}", "Sec-Fetch-Site": "same-origin"}
    reply = web.ask("GET", "/page/state", headers=own)
    assert (reply.status, [name for name in reply.headers if name.startswith("access-control")]) == (200, [])


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_p5_what_a_form_could_send_is_not_taken(web: Web, kind: str) -> None:
    for path in ("enter", "undo"):
        assert web.ask("POST", f"/page/{path}", {"secret": "x"}, {"Content-Type": kind}).status == 415


def test_p6_with_a_token_the_data_needs_it_or_the_link(own_world: World) -> None:
    with serve(own_world, "--token", "sesame") as web:
        web.call("create_note", name="Note", content="x")
        assert web.ask("GET", "/").status == 200
        visitor = Visitor(web)
        assert [visitor.get(name).status for name in DATA] == [401] * 4
        assert visitor.post("undo", id="x").status == 401
        with_token = web.ask("GET", "/page/changes", Authorization="Bearer sesame")
        assert with_token.status == 200
        assert web.ask("POST", "/page/undo", {"id": "x"}, {**JSON, "X-Api-Key": "sesame"}).json["code"] == "NOT_PAIRED"
        assert visitor.enter().status == 200
        assert visitor.get("changes").status == 200
        assert web.ask("GET", "/health", headers={**visitor.cookie, **visitor.key}).status == 401


def test_p6_the_link_leads_to_this_machine_where_every_address_is_served(own_world: World) -> None:
    with serve(own_world, "--host", "0.0.0.0", "--token", "sesame") as web:
        assert link(web).startswith(f"http://127.0.0.1:{web.port}/#")


def test_p7_read_only_shows_and_cannot_undo(own_world: World) -> None:
    with serve(own_world) as web:
        web.call("create_note", name="Note", content="x")
    with serve(own_world, "--read-only") as web:
        visitor = Visitor(web)
        visitor.enter()
        state, (change,) = visitor.get("state").json, visitor.changes()
        assert (state["read_only"], state["undo"]) == (True, {"on": False, "allowed": False})
        refused = visitor.undo(change)
        assert (refused.status, "--read-only" in refused.json["message"]) == (403, True)
    assert own_world.has("Note.md")


def test_p7_without_a_history_it_says_so(own_world: World) -> None:
    with serve(own_world, "--history", "off") as web:
        web.call("create_note", name="Note", content="x")
        visitor = Visitor(web)
        visitor.enter()
        assert visitor.get("state").json["history"] is False
        found = visitor.get("changes").json
        assert found["changes"] == []
        assert "--history off" in found["problems"]["Vault"]
        assert visitor.post("undo", id="x").status == 403


def test_p8_the_state_tells_the_vaults_their_health_and_the_tools(own_world: World) -> None:
    with serve(own_world, "--toolsets", "notes") as web:
        web.call("create_note", name="Note", content="x")
        state = Visitor(web).get("state").json
        assert state["vaults"] == [{"label": "Vault", "name": "Vault", "status": "ok", "problem": ""}]
        assert {"name": "obsidian_read_note", "title": "Read a note", "set": "notes", "writes": False} in state["tools"]
        assert {tool["set"] for tool in state["tools"]} == {"notes"}
        assert len(Visitor(web).changes()) == 1, "whichever tools an assistant is offered"


def test_p9_several_vaults_are_listed_together_and_one_that_is_gone_is_told(own_world: World) -> None:
    other = own_world.outside
    with serve(own_world, "--vault", str(other)) as web:
        web.call("create_note", name="One", content="x")
        web.call("create_note", name="Two", content="x", vault="outside")
        visitor = Visitor(web)
        visitor.enter()
        assert [change["vault"] for change in visitor.changes()] == ["outside", "Vault"]
        (second,) = visitor.changes(vault="outside")
        assert visitor.undo(second).status == 200
        assert not (other / "Two.md").exists()
        own_world.vault.rename(own_world.folder / "gone")
        found = visitor.get("changes").json
        assert list(found["problems"]) == ["Vault"]
        assert {change["vault"] for change in found["changes"]} == {"outside"}


def test_p10_hostile_names_and_texts_come_as_they_are(own_world: World) -> None:
    with serve(own_world) as web:
        own_world.put("Mail.md", HOSTILE)
        web.call("append_note", name="Mail", content="</script><script>alert(2)</script>")
        visitor = Visitor(web)
        (change,) = visitor.changes()
        shown = visitor.get("change", vault="Vault", id=change["id"])
        assert shown.headers["content-type"] == "application/json"
        assert shown.headers["x-content-type-options"] == "nosniff"
        (file,) = shown.json["files"]
        assert file["rows"][0]["before"] == HOSTILE
        assert any("<script>" in (row["after"] or "") for row in file["rows"])


def test_p11_search_finds_by_note_client_and_tool(own_world: World) -> None:
    with serve(own_world) as web:
        for name in ("Äpfel", "Pears"):
            web.call("create_note", name=name, content="x")
        web.call("append_note", name="Pears", content="y")
        visitor = Visitor(web)
        assert [change["summary"] for change in visitor.changes(search="äPFEL")] == ["Created Äpfel.md"]
        assert [change["tool"] for change in visitor.changes(search="pears append")] == ["append_note"]
        assert visitor.changes(search="plums") == []
        few = visitor.get("changes", limit=2).json
        assert (len(few["changes"]), few["more"]) == (2, True)
        assert visitor.get("changes", limit=3).json["more"] is False


@pytest.mark.parametrize("limit", ["0", "-1", "x", "", "9999999"])
def test_p11_a_limit_that_is_none_is_told(web: Web, limit: str) -> None:
    assert Visitor(web).get("changes", limit=limit).status == 400


def test_p12_an_undo_that_is_refused_says_why_and_whether_later_edits_could_stay(own_world: World) -> None:
    own_world.put("Note.md", "one\ntwo\nthree\nfour\nfive\n")
    with serve(own_world) as web:
        web.call("edit_note", name="Note", old_text="one", new_text="ONE")
        own_world.put("Note.md", "ONE\ntwo\nthree\nfour\nFIVE\n")
        visitor = Visitor(web)
        visitor.enter()
        (change,) = visitor.changes()
        refused = visitor.undo(change)
        assert (refused.status, refused.json["details"]) == (409, {"merge": True})
        assert "Note.md" in refused.json["message"]
        assert "merge=true" not in refused.json["message"], "the page has a button for it"
        assert own_world.get("Note.md") == b"ONE\ntwo\nthree\nfour\nFIVE\n"
        assert visitor.undo(change, merge=True).status == 200
        assert own_world.get("Note.md") == b"one\ntwo\nthree\nfour\nFIVE\n"


def test_p12_an_undo_of_what_is_not_there_is_refused(own_world: World) -> None:
    with serve(own_world) as web:
        visitor = Visitor(web)
        visitor.enter()
        for id in ("zzzz", "", None, 7, HOSTILE):
            reply = visitor.post("undo", id=id)
            assert reply.status in (400, 409)
            assert reply.json["message"]
        assert visitor.get("change", vault="Vault", id="zzzz").status in (400, 409)
        assert visitor.get("change", vault="Other", id="zzzz").status in (400, 409)


def test_p13_news_are_told_without_opening_a_vault(own_world: World) -> None:
    with serve(own_world) as web, serve(own_world) as other:
        visitor = Visitor(web)
        visitor.enter()
        seen = [visitor.get("changes").json["seen"]]
        other.call("create_note", name="Note", content="x")  # another server's change is news too
        seen.append(visitor.get("news").json["seen"])
        visitor.undo(visitor.changes()[0])
        seen.append(visitor.get("news").json["seen"])
        assert len(set(seen)) == 3
        while web.wait_for("call")["tool"] != "obsidian_undo_change":
            pass
        assert visitor.get("news").json["seen"] == seen[-1]
        web.call("list_folder")
        assert web.wait_for("call")["tool"] == "obsidian_list_folder"  # and none before it


def test_p8_with_the_app_the_vault_has_its_name_and_a_move_is_undone_too(own_world: World) -> None:
    own_world.put("Old.md", "text\n")
    own_world.put("Links.md", "See [[Old]].\n")
    before = own_world.tree()
    with Web(own_world.environment()) as web:
        web.call("rename_note", name="Old", new_name="New")
        visitor = Visitor(web)
        visitor.enter()
        (vault,) = visitor.get("state").json["vaults"]
        assert (vault["name"], vault["status"]) == ("Vault", "ok")
        (change,) = visitor.changes()
        assert visitor.undo(change).status == 200
    assert own_world.tree() == before
