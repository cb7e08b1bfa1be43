"""The stdio bridge. The ids are those of specs/http.md."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from obsidian_mcp import settings
from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import READ, UNKNOWN, BridgeFailed, VaultState
from obsidian_mcp.protocol import jsonrpc
from obsidian_mcp.protocol.methods import Peer
from obsidian_mcp.scheduler import Access
from obsidian_mcp.servers.relay.client import LOOK_LIMIT, Remote
from obsidian_mcp.servers.relay.poller import Poller
from obsidian_mcp.servers.relay.server import RelayServer
from tests.support.client import MODERN_META, READING, TOOLS, Server
from tests.support.foreign import HEALTH, Foreign
from tests.support.web import Web
from tests.support.world import World

# It looks ten times in a second, and does not give up. How often the real one does is shown without a clock: S2, S3.
IMPATIENT = (
    "from obsidian_mcp.servers.relay import poller\n"
    "poller.ATTEMPTS, poller.LONGEST_WAIT, poller.FIRST_WAITS, poller.BETWEEN_POLLS = 10_000, 0.1, (), 0.1"
)

SHORT = "from obsidian_mcp.servers.relay import poller\npoller.ATTEMPTS, poller.FIRST_WAITS = 2, (0, 0.1)"
HASTY = "from obsidian_mcp.servers.relay import server\nserver.FIRST_LOOK = 0.1"


def bridge(world: World, port: int, *options: str) -> Server:
    return Server(world.environment(), "bridge", "--port", str(port), *options, first=IMPATIENT)


def text(server: Server, tool: str, **arguments: Any) -> tuple[bool, str]:
    """What a call through the bridge says."""
    result = server.request("tools/call", {"name": tool, "arguments": arguments})["result"]
    return result["isError"], result["content"][0]["text"]


def names(server: Server) -> list[str]:
    return [tool["name"] for tool in server.request("tools/list")["result"]["tools"]]


def test_s1_it_answers_at_once_and_tells_when_the_server_is_there(own_world: World, port: int) -> None:
    with bridge(own_world, port) as server:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        reply = server.request("initialize", params)["result"]
        assert reply["capabilities"] == {"tools": {"listChanged": True}}
        assert names(server) == []
        failed, told = text(server, "obsidian_read_note", name="Note")
        assert failed
        assert "not been reached yet" in told or "Nothing answers" in told
        with Web(own_world.environment(), "--port", str(port)):
            server.wait("notifications/tools/list_changed")
            assert sorted(names(server)) == sorted(TOOLS)
            own_world.put("Note.md", "$\\nabla$")
            failed, told = text(server, "obsidian_read_note", name="Note")
            assert not failed
            assert "nabla" in told
        assert server.finish() == 0


def test_s1_the_first_list_and_the_first_calls_wait_until_the_server_was_asked(own_world: World) -> None:
    """With the command and the environment of a host's configuration, and nothing else."""
    with Foreign() as foreign:
        asked = threading.Event()
        foreign.offer("a")
        foreign.answers["/health"] = lambda: asked.wait(60) and HEALTH
        foreign.answers["/tools/a/call"] = {"success": True, "content": []}
        with Server(
            own_world.environment(OBSIDIAN_MCP_PORT=str(foreign.port), OBSIDIAN_MCP_HOST="127.0.0.1")
        ) as server:
            instructions = server.request("initialize", {"protocolVersion": "2025-11-25"})["result"]["instructions"]
            listing, calling = server.begin("tools/list"), server.begin("tools/call", {"name": "a"})
            assert server.request("ping")["result"] == {}
            asked.set()
            assert [tool["name"] for tool in server.wait(listing)["result"]["tools"]] == ["a"]
            assert server.wait(calling)["result"] == {"content": [], "isError": False}
            assert server.finish() == 0
            assert [message["method"] for message in server.said if "method" in message] == []
    assert f"127.0.0.1:{foreign.port}" in instructions
    assert "etag" not in instructions


def test_s1_the_first_list_does_not_wait_for_ever(own_world: World) -> None:
    with Foreign() as foreign:
        foreign.answers["/health"] = "silent"
        with Server(own_world.environment(OBSIDIAN_MCP_PORT=str(foreign.port)), first=HASTY) as server:
            server.initialize()
            assert names(server) == []
            assert "not been reached yet" in text(server, "a")[1]


def test_s8_a_server_in_the_environment_is_bridged_only_where_no_vault_of_ours_is_meant() -> None:
    def bridged(*argv: str, **environ: str) -> bool:
        named = {f"OBSIDIAN_MCP_{key}": value for key, value in environ.items()}
        return settings.names_server_alone(settings.split(argv)[0], named)

    assert bridged(PORT="3000")
    assert bridged(HOST="127.0.0.1")
    assert bridged("--log-level", "debug", PORT="3000", TOKEN="x", VAULT="${user_config.vault}")
    assert not bridged()
    assert not bridged(TOKEN="x")
    assert not bridged("--vault", "A", PORT="3000")
    assert not bridged(PORT="3000", VAULT="A")
    assert not bridged("--read-only", PORT="3000")
    assert not bridged(PORT="3000", READ_ONLY="true")


def test_s8_with_a_vault_named_the_port_is_for_serve_alone(own_world: World, port: int) -> None:
    with Server(own_world.environment(OBSIDIAN_MCP_PORT=str(port)), "--vault", "Vault") as server:
        server.initialize()
        assert sorted(names(server)) == sorted(TOOLS)


def test_s1_in_the_stateless_era_too(own_world: World) -> None:
    with Foreign() as foreign:
        foreign.offer("a")
        foreign.answers["/tools/a/call"] = {"success": True, "content": [{"type": "text", "text": "hi"}]}
        with bridge(own_world, foreign.port) as server:
            params = {"name": "a", "arguments": {}, "_meta": MODERN_META}
            result = server.request("tools/call", params)["result"]
            assert (result["resultType"], result["content"]) == ("complete", [{"type": "text", "text": "hi"}])
            listed = server.request("tools/list", {"_meta": MODERN_META})["result"]
            assert (listed["resultType"], listed["ttlMs"]) == ("complete", 5000)


class Waits:
    """Stands for the clock: notes how long it was to wait, does something, and says when to end."""

    def __init__(self, *acts: Callable[[], None] | None, most: int = 100) -> None:
        self.seconds: list[float] = []
        self._acts = list(acts)
        self._most = most

    def __call__(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        if self._acts:
            act = self._acts.pop(0)
            if act is not None:
                act()
        return len(self.seconds) > self._most


def poll(port: int, waits: Waits) -> tuple[list[list[str]], list[str]]:
    """The lists that were adopted, and the reasons for despair."""
    adopted: list[list[str]] = []
    reasons: list[str] = []

    def adopt(tools: Sequence[dict[str, Any]]) -> None:
        adopted.append([tool["name"] for tool in tools])

    Poller(Remote("127.0.0.1", port), adopt, lambda failure: reasons.append(failure.message), waits).run()
    return adopted, reasons


def test_s2_it_tries_thirty_times_and_then_says_why(port: int) -> None:
    waits = Waits()
    adopted, reasons = poll(port, waits)
    assert waits.seconds == [0, 1, 2, 4, 8, 16, *[30] * 24]
    assert adopted == []
    assert "30 attempts" in reasons[-1]
    assert "Nothing answers" in reasons[-1]


@pytest.mark.parametrize("status", [401, 404, 503])
def test_s2_an_error_at_the_start_is_not_final(status: int) -> None:
    with Foreign() as foreign:
        foreign.offer("a")
        foreign.answers["/health"] = (status, {"message": "starting"})
        waits = Waits(None, None, lambda: foreign.answers.update({"/health": {"protocolVersion": "1"}}), most=3)
        adopted, _ = poll(foreign.port, waits)
        assert adopted == [["a"]]


def test_s2_after_that_every_call_says_why(own_world: World) -> None:
    with Foreign() as foreign:
        foreign.answers["/health"] = (403, {"message": "go away"})
        with Server(own_world.environment(), "bridge", "--port", str(foreign.port), first=SHORT) as server:
            server.initialize()
            assert "go away" in text(server, "a")[1]
            while "2 attempts" not in (told := text(server, "a")[1]):
                pass
            assert "go away" in told
            assert "Start the bridge anew" in told


def test_s3_a_changed_hash_replaces_the_list_and_a_failed_poll_keeps_it() -> None:
    with Foreign() as foreign:
        foreign.offer("a", "b")
        waits = Waits(
            None,
            None,
            lambda: foreign.answers.update({"/tools": (500, {})}),
            lambda: foreign.answers.update({"/tools": (404, {})}),
            lambda: foreign.answers.update({"/tools": b"nonsense"}),
            lambda: foreign.answers.update({"/tools": "cut"}),
            lambda: foreign.offer("a", "b"),
            lambda: foreign.offer("c"),
            lambda: foreign.offer("c", hash="c"),
            most=9,
        )
        adopted, reasons = poll(foreign.port, waits)
        assert adopted == [["a", "b"], ["c"]]
        assert reasons == []
        assert waits.seconds[1:] == [5] * 9


def test_s3_the_client_hears_of_a_change_once(own_world: World) -> None:
    with Foreign() as foreign:
        foreign.offer("a")
        with bridge(own_world, foreign.port) as server:
            server.initialize()
            assert names(server) == ["a"]
            foreign.offer("b", "c")
            server.wait("notifications/tools/list_changed")
            while names(server) != ["b", "c"]:
                server.wait("notifications/tools/list_changed")
            assert server.request("tools/call", {"name": "a"})["error"]["code"] == -32602
            listed = server.request("tools/list")["result"]["tools"][0]
            assert listed["inputSchema"] == {"type": "object", "properties": {"x": {}}}


def test_s4_the_limits_hold_for_the_whole_of_a_request() -> None:
    with Foreign() as foreign:
        foreign.answers["/tools/a/call"] = "silent"
        with pytest.raises(BridgeFailed, match=r"did not answer within 0\.5 s"):
            Remote("127.0.0.1", foreign.port).call("a", {}, CallContext(0.5))
        relay = RelayServer(Remote("127.0.0.1", foreign.port))
        request = jsonrpc.Request("tools/call", {"name": "a"}, 1, False)
        call_tool = relay.methods["tools/call"].handler
        assert call_tool is not None
        assert call_tool(request, Peer(modern=False)).limit == 35
        assert LOOK_LIMIT == 5


@pytest.mark.parametrize("way", ["cut", "half"])
def test_s5_a_cut_call_is_told_and_never_repeated(own_world: World, way: str) -> None:
    with Foreign() as foreign:
        foreign.offer("a")
        foreign.answers["/tools/a/call"] = way
        with bridge(own_world, foreign.port) as server:
            server.initialize()
            assert names(server) == ["a"]
            failed, told = text(server, "a", x=1)
            assert failed
            assert "cut the connection" in told
            assert "may have taken effect" in told
            assert [asked for asked in foreign.asked if asked[0] == "/tools/a/call"] == [
                ("/tools/a/call", {"arguments": {"x": 1}})
            ]
            foreign.close()
            failed, told = text(server, "a")
            assert failed
            assert "Nothing answers" in told or "cut the connection" in told


def test_s5_calls_that_name_one_note_keep_their_order_by_whichever_argument() -> None:
    call_tool = RelayServer(Remote("127.0.0.1", 1)).methods["tools/call"].handler
    assert call_tool is not None

    def keys(**arguments: Any) -> frozenset[str]:
        request = jsonrpc.Request("tools/call", {"name": "a", "arguments": arguments}, 1, False)
        access: Access = call_tool(request, Peer(modern=False)).access
        return access.keys

    assert keys(name="Note") == keys(path="Folder/Note.md") == keys(files=["NOTE.md"]) == {"note"}
    assert keys(content="Note") == frozenset()


ANSWERS: dict[str, tuple[Any, VaultState]] = {
    "a failure": ((500, {"message": "crashed after writing"}), UNKNOWN),
    "a gateway that gave up": ((504, {"message": "late"}), UNKNOWN),
    "no content": ((200, {"ok": 1}), UNKNOWN),
    "a refusal": ((400, {"message": "x must be a number"}), READ),
}


@pytest.mark.parametrize(("answer", "state"), ANSWERS.values(), ids=ANSWERS)
def test_s5_only_a_refused_call_has_changed_nothing(answer: Any, state: VaultState) -> None:
    with Foreign() as foreign:
        foreign.answers["/tools/a/call"] = answer
        with pytest.raises(BridgeFailed) as caught:
            Remote("127.0.0.1", foreign.port).call("a", {}, CallContext(10))
    assert caught.value.vault is state
    assert caught.value.fact.endswith(".")


def test_s5_a_cancelled_call_is_cut(own_world: World) -> None:
    with Foreign() as foreign:
        foreign.offer("a")
        foreign.answers["/tools/a/call"] = "silent"
        with bridge(own_world, foreign.port) as server:
            server.initialize()
            assert names(server) == ["a"]
            number = server.begin("tools/call", {"name": "a", "arguments": {}})
            while ("/tools/a/call", {"arguments": {}}) not in foreign.asked:
                foreign.arrived.acquire(timeout=60)
            server.notify("notifications/cancelled", {"requestId": number})
            assert server.finish() == 0
            assert all(message.get("id") != number for message in server.said)


def test_s6_content_is_passed_on_as_it_is(own_world: World) -> None:
    content = [
        {"type": "text", "text": "ü \u2028", "annotations": {"x": [1.5, None]}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png", "_meta": {}},
        {"type": "something new"},
    ]
    with Foreign() as foreign:
        foreign.offer("a", "b/c d")
        foreign.answers["/tools/a/call"] = {"success": True, "content": content}
        foreign.answers["/tools/b%2Fc%20d/call"] = {"success": False, "content": content, "isError": True}
        with bridge(own_world, foreign.port) as server:
            server.initialize()
            assert names(server) == ["a", "b/c d"]
            result = server.request("tools/call", {"name": "a"})["result"]
            assert result == {"content": content, "isError": False}
            result = server.request("tools/call", {"name": "b/c d"})["result"]
            assert result == {"content": content, "isError": True}


NONSENSE: dict[str, Any] = {
    "no JSON": b"<html>",
    "an array": [],
    "no content": {"success": True},
    "content that is none": {"success": True, "content": ["x"]},
    "nothing": b"",
    "an error without words": (500, b"oops"),
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_s7_nonsense_is_told_and_stops_nothing(answer: Any) -> None:
    with Foreign() as foreign:
        foreign.answers["/tools/a/call"] = answer
        remote = Remote("127.0.0.1", foreign.port)
        with pytest.raises(BridgeFailed, match=str(foreign.port)):
            remote.call("a", {}, CallContext(30))
        foreign.answers["/tools/a/call"] = {"success": True, "content": []}
        assert remote.call("a", {}, CallContext(30)) == ([], False)


@pytest.mark.parametrize("listed", [b"{", [], {"tools": {}}, {"tools": [], "hash": 1}, {"tools": [{}], "hash": "x"}])
def test_s7_a_list_that_is_none_is_told(listed: Any) -> None:
    with Foreign() as foreign:
        foreign.answers["/tools"] = listed
        with pytest.raises(BridgeFailed, match="does not speak Bridge Protocol v1"):
            Remote("127.0.0.1", foreign.port).tools()


def test_s7_another_protocol_version_is_not_ours() -> None:
    with Foreign() as foreign:
        foreign.answers["/health"] = {"status": "ok", "protocolVersion": "2"}
        with pytest.raises(BridgeFailed, match="protocol version 1"):
            Remote("127.0.0.1", foreign.port).greet()


def test_restarted_with_other_tools_and_a_token(own_world: World, port: int) -> None:
    environment = own_world.environment(OBSIDIAN_MCP_TOKEN="secret")
    with Server(environment, "bridge", "--port", str(port), first=IMPATIENT) as server:
        server.initialize()
        with Web(environment, "--port", str(port)):
            while sorted(names(server)) != sorted(TOOLS):
                server.wait("notifications/tools/list_changed")
        with Web(environment, "--port", str(port), "--read-only"):
            while sorted(names(server)) != sorted(READING):
                server.wait("notifications/tools/list_changed")
        assert text(server, "obsidian_read_note", name="x")[0] is True


def test_calls_on_one_note_keep_their_order(own_world: World) -> None:
    own_world.put("Note.md", "")
    with Web(own_world.environment(), "--backend", "embedded") as web, bridge(own_world, web.port) as server:
        server.initialize()
        assert sorted(names(server)) == sorted(TOOLS)
        numbers = [server.begin_call("append_note", name="Note", content=f"{at}") for at in range(20)]
        for number in numbers:
            assert server.wait(number)["result"]["isError"] is False
    assert own_world.get("Note.md").decode().split() == [str(at) for at in range(20)]
