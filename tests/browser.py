"""Pages looked at with tools that others wrote: Chromium, axe-core and the Nu HTML checker.

`make validators` installs what npm has; Chromium and Java are the machine's own. Where one is missing, tests that need
it are skipped, and say so.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.tools import CHROMIUM, needs

TOOLS = Path(__file__).parent.parent / ".validators" / "node_modules"
_AXE = TOOLS / "axe-core" / "axe.min.js"
_NU = TOOLS / "vnu-jar" / "build" / "dist" / "vnu.jar"
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-dev-shm-usage"
).split()

needs_browser = needs(CHROMIUM, "Chromium")
needs_axe = needs(CHROMIUM and _AXE.exists(), "Chromium, and npm for `make validators`")
needs_nu = pytest.mark.skipif(not (shutil.which("java") and _NU.exists()), reason="needs Java and `make validators`")


class Browser:
    """A Chromium with one page, spoken to over a pipe in its own protocol."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        assert CHROMIUM
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, out = os.pipe()
        back, from_browser = os.pipe()

        def ends() -> None:  # the browser reads at 3 and writes at 4
            ours = os.dup(to_browser), os.dup(from_browser)
            os.dup2(ours[0], 3)
            os.dup2(ours[1], 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=ends,
            close_fds=False,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._back = os.fdopen(out, "wb", buffering=0), os.fdopen(back, "rb")
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank", session="")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True, session="")["sessionId"]
        for part in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{part}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self.ask("Browser.close", session="")
        self._out.close()
        self._back.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens meanwhile is kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session is None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            said = self.hear()
            if said.get("id") == self._number:
                assert "error" not in said, said
                return said["result"]
            self.events.append(said)

    def hear(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._back.read1(1 << 16)
            assert piece, "the browser has gone"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, page: Path | str) -> None:
        """Go to a page and wait until it is loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=page.resolve().as_uri() if isinstance(page, Path) else page)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.hear())

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are waited for."""
        said = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, said["exceptionDetails"]
        return said["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys one after another, by their names in KeyboardEvent ("Tab", "Enter", "ArrowRight")."""
        for key in keys:
            codes = {
                "Tab": 9,
                "Enter": 13,
                "Escape": 27,
                "ArrowLeft": 37,
                "ArrowUp": 38,
                "ArrowRight": 39,
                "ArrowDown": 40,
            }
            text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            about = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, 0)}
            self.ask("Input.dispatchKeyEvent", type="keyDown", **about, **text)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def shot(self, png: Path, whole: bool = False) -> None:
        """Write a picture of the window, or of the whole page."""
        data = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        png.write_bytes(base64.b64decode(data))

    def requests(self) -> list[str]:
        """What the page asked for, besides itself, that is no file and no data of its own."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))]

    def complaints(self) -> list[str]:
        """Errors of scripts, and what the page's own policy has refused."""
        texts = [e["params"]["entry"]["text"] for e in self.events if e.get("method") == "Log.entryAdded"]
        thrown = [str(e["params"]) for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        return texts + thrown

    def axe(self) -> list[str]:
        """What axe-core finds that is serious or critical, on the page as it is now."""
        self.run(_AXE.read_text(encoding="utf-8") + "; undefined")
        found = self.run(
            "axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.help, v.nodes.map(n => n.html)]))"
        )
        return [
            f"{impact} {id}: {words}: {nodes[:3]}"
            for impact, id, words, nodes in found
            if impact in ("serious", "critical")
        ]


def axe(page: Path, **window: Any) -> list[str]:
    """Serious and critical violations of a page."""
    with Browser(**window) as browser:
        browser.open(page)
        return browser.axe()


def requests(page: Path) -> list[str]:
    """What a page asks the network for when it is opened."""
    with Browser() as browser:
        browser.open(page)
        browser.run("new Promise(done => setTimeout(done, 300))")
        return browser.requests()


def shot(page: Path, png: Path, width: int = 1280, height: int = 900, dark: bool = False, whole: bool = False) -> None:
    """A picture of a page."""
    with Browser(width, height, dark) as browser:
        browser.open(page)
        browser.run("new Promise(done => setTimeout(done, 300))")
        browser.shot(png, whole)


def nu(pages: list[Path]) -> list[str]:
    """What the Nu HTML checker calls errors."""
    command = ["java", "-Xss4m", "-jar", str(_NU), "--errors-only", "--format", "json", *map(str, pages)]
    said = subprocess.run(command, capture_output=True, timeout=120).stderr
    return [f"{Path(m['url']).name}:{m.get('lastLine')} {m['message']}" for m in json.loads(said)["messages"]]
