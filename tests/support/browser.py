"""A real browser without a window: Chromium, told what to do over its DevTools protocol. Every wait has an end."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from tests.support.process import PATIENCE

COMMAND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--lang=en-GB",
)
ANNOUNCED = b"DevTools listening on "


class PageFailed(Exception):
    """What was evaluated in a page has thrown."""


class Browser:
    """One process with a profile of its own in a folder."""

    def __init__(self, profile: Path) -> None:
        assert COMMAND
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()
        words = (COMMAND, *OPTIONS, *sandbox, f"--user-data-dir={profile}", "about:blank")
        environment = {"PATH": os.environ["PATH"], "HOME": str(profile.parent)}
        self._process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        self._stack = contextlib.ExitStack()
        self._stack.callback(self._kill)
        try:
            opening = connect(self._address(), max_size=None, open_timeout=PATIENCE, proxy=None)
            self._tools: ClientConnection = self._stack.enter_context(opening)
        except BaseException:
            self._stack.close()
            raise
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()
        self._next = 0
        self.events: list[dict[str, Any]] = []

    def _address(self) -> str:
        assert self._process.stderr
        for line in self._process.stderr:
            if line.startswith(ANNOUNCED):
                return line.removeprefix(ANNOUNCED).decode().strip()
        raise AssertionError("the browser has ended")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self._reader.join(PATIENCE)
        assert self._process.stderr
        self._process.stderr.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(PATIENCE)

    def _drain(self) -> None:
        """What it complains of, unread, would hold it up."""
        assert self._process.stderr
        for _ in self._process.stderr:
            pass

    def ask(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        self._next += 1
        message = {"id": self._next, "method": method, "params": params, **({"sessionId": session} if session else {})}
        self._tools.send(json.dumps(message))
        while True:
            heard: dict[str, Any] = json.loads(self._tools.recv(PATIENCE))
            if heard.get("id") != self._next:
                self.events.append(heard)
                continue
            if "error" in heard:
                raise PageFailed(f"{method}: {heard['error']}")
            found: dict[str, Any] = heard["result"]
            return found

    def tab(self, url: str, width: int = 1280, height: int = 900, dark: bool = False, own: bool = False) -> Tab:
        """A page in a tab; `own` gives it cookies and storage that no other tab has."""
        more = {"browserContextId": self.ask("Target.createBrowserContext")["browserContextId"]} if own else {}
        target = self.ask("Target.createTarget", url="about:blank", **more)["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, session, url, width, height, dark)


class Tab:
    def __init__(self, browser: Browser, session: str, url: str, width: int, height: int, dark: bool) -> None:
        self._browser = browser
        self._session = session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.go(url)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self._browser.ask(method, self._session, **params)

    def go(self, url: str) -> None:
        self.ask("Page.navigate", url=url)
        self.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'")

    def resize(self, width: int, height: int = 900) -> None:
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def evaluate(self, expression: str) -> Any:
        """The value, also of a promise."""
        said = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in said:
            raise PageFailed(str(said["exceptionDetails"].get("exception", said["exceptionDetails"])))
        return said["result"].get("value")

    def wait_for(self, condition: str) -> Any:
        """Until it is true in the page, looked at often; a page that is replaced meanwhile is asked anew."""
        loop = f"""new Promise((done, failed) => {{
          const end = Date.now() + {PATIENCE * 1000};
          const look = () => {{
            const found = {condition};
            if (found) done(found);
            else if (Date.now() > end) failed(new Error("waited in vain"));
            else setTimeout(look, 20);
          }};
          look();
        }})"""
        for _ in range(20):
            try:
                return self.evaluate(loop)
            except PageFailed as problem:
                if "context" not in str(problem) and "navigated" not in str(problem):
                    raise PageFailed(f"{condition}: {problem}\n{self.text()}") from None
        raise PageFailed(f"the page goes on changing: {condition}")

    def text(self) -> str:
        return str(self.evaluate("document.body.innerText"))

    def count(self, selector: str) -> int:
        return int(self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def click(self, selector: str) -> None:
        """With the mouse, where the element is."""
        at = self.wait_for(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            "return r.width ? [r.x + r.width / 2, r.y + r.height / 2] : null; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def key(self, name: str, **more: Any) -> None:
        codes = {"Escape": 27, "Enter": 13, "Tab": 9}
        text = {"text": "\r"} if name == "Enter" else {}
        common = {"key": name, "code": name, "windowsVirtualKeyCode": codes[name], **more}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def screenshot(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    @property
    def problems(self) -> list[str]:
        """What the page has complained of: exceptions, refused scripts, requests that failed."""
        self.evaluate("0")  # whatever was said before is heard by now
        told = []
        for event in self._browser.events:
            params: Mapping[str, Any] = event.get("params", {})
            if event.get("sessionId") != self._session:
                continue
            if event["method"] == "Runtime.exceptionThrown":
                told.append(str(params["exceptionDetails"]))
            if event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                told.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        return told

    @property
    def asked(self) -> list[str]:
        """Every address that the page has asked."""
        self.evaluate("0")
        sent = [e for e in self._browser.events if e.get("method") == "Network.requestWillBeSent"]
        return [str(each["params"]["request"]["url"]) for each in sent if each.get("sessionId") == self._session]
