"""Three browser engines behind one interface: Chromium, Firefox and WebKit, each in the way that a Debian machine offers.

Chromium is driven by playwright; Firefox, without windows, by WebDriver BiDi, which it speaks itself; WebKitGTK, the engine of GNOME Web and
a sister of Safari's, by WebDriver, on a screen of Xvfb. The interface has only what the three have in common: an address, a function in the
page, a pointer, a finger, keys, the size of the window, the theme that the reader prefers. `tests.engines.reader` builds on it.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error
from websockets.sync.client import connect

from tests.browser.watch import Watch
from tools.ports import free_port
from tools.servers import WITHOUT_PROXY, running, start, stop

PATIENCE = float(
    os.environ.get("BROWSER_PATIENCE", "60")
)  # s, for an answer of a driver and for a condition in the page
Json = dict[str, Any]


class EngineError(Exception):
    """A driver reports an error, or does not answer."""


class Engine(ABC):
    """One window of a browser.

    A driver that did not answer once is not asked again: each call would wait as long.
    """

    name: str
    version: str
    touch = False  # does the window belong to a device with a touch screen?
    lost = ""  # why the driver is not asked any more

    @abstractmethod
    def goto(self, address: str) -> None:
        """Load an address, until its document is read."""

    @abstractmethod
    def evaluate(self, function: str, arg: Any = None) -> Any:
        """What a JavaScript function, or its promise, returns for an argument."""

    @abstractmethod
    def move(self, x: float, y: float) -> None:
        """Move the mouse, on the window."""

    @abstractmethod
    def down(self) -> None:
        """Press the button of the mouse."""

    @abstractmethod
    def up(self) -> None:
        """Release it."""

    @abstractmethod
    def tap(self, x: float, y: float) -> None:
        """Tap with a finger."""

    @abstractmethod
    def press(self, *keys: str) -> None:
        """Press and release keys, one after the other: ``press("a", "Enter")``, ``press("Control+z")``."""

    @abstractmethod
    def screen(self, width: int, height: int, touch: bool = False) -> None:
        """The size of the window inside its borders, and whether it is that of a device with a touch screen."""

    @abstractmethod
    def prefer(self, theme: str) -> None:
        """The theme that the reader prefers, "light" or "dark". The page may be lost: load an address afterwards."""

    @abstractmethod
    def complaints(self) -> list[str]:
        """The errors and warnings of the console since the last call."""


class Chromium(Engine):
    name = "Chromium"

    def __init__(self, browser: Browser) -> None:
        self.version = browser.version
        self._page = browser.new_page()
        self._page.set_default_timeout(1000 * PATIENCE)
        self._watch = Watch(self._page)
        self._devtools = self._page.context.new_cdp_session(self._page)

    def goto(self, address: str) -> None:
        self._page.goto(address, wait_until="domcontentloaded")

    def evaluate(self, function: str, arg: Any = None) -> Any:
        try:
            return self._page.evaluate(function, arg)
        except Error as error:
            raise EngineError(f"Chromium: {error}") from None

    def move(self, x: float, y: float) -> None:
        self._page.mouse.move(x, y)

    def down(self) -> None:
        self._page.mouse.down()

    def up(self) -> None:
        self._page.mouse.up()

    def tap(self, x: float, y: float) -> None:
        self._devtools.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        self._devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def press(self, *keys: str) -> None:
        for key in keys:
            self._page.keyboard.press(key)

    def screen(self, width: int, height: int, touch: bool = False) -> None:
        self._page.set_viewport_size({"width": width, "height": height})
        if touch != self.touch:
            self._devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": touch, "maxTouchPoints": 1})
            self.touch = touch

    def prefer(self, theme: str) -> None:
        self._page.emulate_media(color_scheme="dark" if theme == "dark" else "light")

    def complaints(self) -> list[str]:
        found, self._watch.complaints = self._watch.complaints, []
        return found


# The keys of the WebDriver protocols, which do not write a character; others are the characters themselves.
KEYS = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009", "Escape": "\ue00c", "Space": " ",
    "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011",
    "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Delete": "\ue017", "F2": "\ue032",
}  # fmt: skip


class WebDriver(Engine):
    """What Firefox and WebKit have in common: WebDriver's actions, which are the same in WebDriver BiDi."""

    @abstractmethod
    def perform(self, actions: list[Json]) -> None:
        """Perform the actions of one device."""

    def _pointer(self, *actions: Json, kind: str = "mouse") -> None:
        self.perform([{"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": list(actions)}])

    def move(self, x: float, y: float) -> None:
        self._pointer(moved(x, y))

    def down(self) -> None:
        self._pointer(PRESSED)

    def up(self) -> None:
        self._pointer(RELEASED)

    def tap(self, x: float, y: float) -> None:
        self._pointer(moved(x, y), PRESSED, RELEASED, kind="touch")

    def press(self, *keys: str) -> None:
        actions = []
        for key in keys:
            values = [KEYS.get(name, name) for name in (key.split("+") if len(key) > 1 else [key])]
            actions += [{"type": "keyDown", "value": value} for value in values]
            actions += [{"type": "keyUp", "value": value} for value in reversed(values)]
        self.perform([{"type": "key", "id": "keyboard", "actions": actions}])


PRESSED, RELEASED = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}


def moved(x: float, y: float) -> Json:
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}


# Firefox's settings for what is the reader's device and preference. A mouse is fine and can hover (6), a finger is coarse (1).
POINTER = "Services.prefs.setIntPref('ui.primaryPointerCapabilities', {0}); Services.prefs.setIntPref('ui.allPointerCapabilities', {0});"
SCHEME = "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', {0});"
PREFERENCES = """user_pref("dom.w3c_touch_events.enabled", 1);
user_pref("ui.prefersReducedMotion", 1);
user_pref("intl.accept_languages", "en");
"""
# What Firefox does on its own, and its second compiler, take more of the processor than the journeys need.
OFF = (
    "toolkit.telemetry.enabled",
    "toolkit.telemetry.unified",
    "datareporting.policy.dataSubmissionEnabled",
    "app.normandy.enabled",
    "browser.safebrowsing.malware.enabled",
    "browser.safebrowsing.phishing.enabled",
    "browser.newtabpage.enabled",
    "browser.region.update.enabled",
    "extensions.systemAddon.update.enabled",
    "network.captive-portal-service.enabled",
    "network.connectivity-service.enabled",
    "dom.ipc.processPrelaunch.enabled",
    "javascript.options.ion",
)
PREFERENCES += "".join(f'user_pref("{name}", false);\n' for name in OFF)


# Streamlit's front end notes in the console that its connection is closed, also when the reader leaves the page. Only Firefox lets it see that.
LEFT = re.compile(r"WebSocket onclose: code=1001 \(going away\)")


class Firefox(WebDriver):
    name = "Firefox"

    def __init__(self, socket: Any) -> None:
        self._socket, self._ids, self._complaints = socket, itertools.count(), list[str]()
        self.version = self._call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self._call("session.subscribe", events=["log.entryAdded", "network.fetchError"])
        self._tab = self._call("browsingContext.getTree")["contexts"][0]["context"]
        self._window = self._call("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"][0]["context"]
        self._set("window.focus(); gBrowser.selectedBrowser.focus()")  # without the focus, Space would press no button

    def _call(self, method: str, **params: Any) -> Any:
        """The answer to a command. What the browser reports meanwhile is kept."""
        if self.lost:
            raise EngineError(self.lost)
        number, end = next(self._ids), time.monotonic() + PATIENCE
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            try:
                answer = json.loads(self._socket.recv(timeout=max(0.0, end - time.monotonic())))
            except TimeoutError:
                self.lost = f"Firefox did not answer {method} within {PATIENCE:g} s"
                raise EngineError(self.lost) from None
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise EngineError(f"Firefox: {method}: {answer['error']}: {answer['message']}")
                return answer["result"]
            if answer["type"] == "event":
                self._hear(answer["method"], answer["params"])

    def _hear(self, event: str, said: Json) -> None:
        if event == "log.entryAdded" and said["level"] in ("error", "warn") and not LEFT.match(said["text"]):
            self._complaints.append(f"console {said['level']}: {said['text']}")
        if event == "network.fetchError" and said["errorText"] != "NS_BINDING_ABORTED":  # aborted: the page is left
            self._complaints.append(f"failed request: {said['request']['url']}: {said['errorText']}")

    def goto(self, address: str) -> None:
        self._call("browsingContext.navigate", context=self._tab, url=address, wait="interactive")

    def evaluate(self, function: str, arg: Any = None) -> Any:
        # Values travel as JSON: the types of the protocol would have to be translated.
        wrapped = f"async (given) => JSON.stringify(await ({function})(JSON.parse(given)))"
        answer = self._call(
            "script.callFunction", functionDeclaration=wrapped, awaitPromise=True, target={"context": self._tab},
            arguments=[{"type": "string", "value": json.dumps(arg)}],
        )  # fmt: skip
        if answer["type"] == "exception":
            raise EngineError(f"Firefox: {answer['exceptionDetails']['text']} in {function}")
        return json.loads(answer["result"].get("value", "null"))

    def perform(self, actions: list[Json]) -> None:
        self._call("input.performActions", context=self._tab, actions=actions)

    def _set(self, script: str) -> None:
        """Change settings of the browser, in a script with its own rights."""
        self._call("script.evaluate", expression=script, target={"context": self._window}, awaitPromise=False)

    def screen(self, width: int, height: int, touch: bool = False) -> None:
        self._call("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})
        if touch != self.touch:
            self._set(POINTER.format(1 if touch else 6))
            self.touch = touch

    def prefer(self, theme: str) -> None:
        self._set(SCHEME.format(0 if theme == "dark" else 1))

    def complaints(self) -> list[str]:
        self.evaluate("() => 0")  # what happened before has been reported
        found, self._complaints = self._complaints, []
        return found


@contextmanager
def firefox(path: str, folder: Path) -> Iterator[Firefox]:
    """Firefox without windows, with a profile of its own in a folder."""
    profile, log = folder / "profile", folder / "firefox.log"
    profile.mkdir()
    (profile / "user.js").write_text(PREFERENCES)
    options = ["--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    process = start([path, *options, "--remote-allow-system-access"], log, env=os.environ | {"HOME": str(folder)})
    with ExitStack() as stack:
        stack.callback(stop, process)
        address = _heard(log, r"WebDriver BiDi listening on (ws://\S+)", process)
        yield Firefox(stack.enter_context(connect(f"{address}/session", max_size=None, proxy=None)))


def _heard(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> str:
    """The part of what a process prints that matches the pattern."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, log.read_text(errors="replace"), re.MULTILINE):
            return found[1]
        time.sleep(0.05)
    raise EngineError(f"no {pattern!r} within {PATIENCE:g} s in: {log.read_text(errors='replace')[-1000:]}")


class WebKit(WebDriver):
    name = "WebKitGTK"

    def __init__(self, driver: str, browser: Path, log: Path) -> None:
        self._driver, self._browser, self._log, self._read = driver, browser, log, 0
        self._theme = "light"
        self._begin()

    def _begin(self) -> None:
        dark = ["--dark-mode"] if self._theme == "dark" else []
        options = {"binary": str(self._browser), "args": ["--automation", LOUD, *dark]}
        # The promise of a page that is being left may never be kept.
        wanted = {"webkitgtk:browserOptions": options, "timeouts": {"script": SCRIPT, "pageLoad": LOADING}}
        answer = self._call("POST", "/session", capabilities={"alwaysMatch": wanted})
        self.version, self._session = answer["capabilities"]["browserVersion"], f"/session/{answer['sessionId']}"

    def close(self) -> None:
        with suppress(EngineError):
            self._call("DELETE", self._session)

    def _call(self, method: str, path: str, **body: Any) -> Any:
        if self.lost:
            raise EngineError(self.lost)
        data = json.dumps(body).encode() if method == "POST" else None
        try:
            with WITHOUT_PROXY.open(
                urllib.request.Request(self._driver + path, data, method=method), timeout=PATIENCE
            ) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise EngineError(f"WebKit: {path}: {said['error']}: {said['message']} {body.get('script', '')}") from None
        except OSError as error:
            self.lost = (
                f"WebKit's driver did not answer {path} within {PATIENCE:g} s: {error} {body.get('script', '')[:300]}"
            )
            raise EngineError(self.lost) from None

    def _ask(self, path: str, **body: Any) -> Any:
        return self._call("POST", self._session + path, **body)

    def goto(self, address: str) -> None:
        self._ask("/url", url=address)

    def evaluate(self, function: str, arg: Any = None) -> Any:
        wrapped = f"return Promise.resolve(({function})(JSON.parse(arguments[0]))).then(JSON.stringify)"
        return json.loads(self._ask("/execute/sync", script=wrapped, args=[json.dumps(arg)]) or "null")

    def perform(self, actions: list[Json]) -> None:
        self._ask("/actions", actions=actions)

    def tap(self, x: float, y: float) -> None:
        """The driver has no finger: the page gets the events of one."""
        self.evaluate(TAP, [x, y])

    def screen(self, width: int, height: int, touch: bool = False) -> None:
        self._ask("/window/rect", x=0, y=0, width=width, height=height + self._bar())
        self.touch = touch

    def _bar(self) -> int:
        """The height of what the window has above the page."""
        return int(self._call("GET", f"{self._session}/window/rect")["height"] - self.evaluate("() => innerHeight"))

    def prefer(self, theme: str) -> None:
        if theme != self._theme:
            self.close()
            self._theme = theme
            self._begin()

    def complaints(self) -> list[str]:
        self.evaluate("() => 0")
        lines = self._log.read_text(errors="replace")[self._read :]
        self._read += len(lines)
        return [line for line in lines.splitlines() if re.search("CONSOLE.*(ERROR|WARN)", line)]


SCRIPT, LOADING = 5000, 30000  # ms
LOUD = "--enable-write-console-messages-to-stdout=true"
# The events of a tap, as a touch screen makes them.
TAP = """([clientX, clientY]) => {
  const part = document.elementFromPoint(clientX, clientY);
  const init = { clientX, clientY, bubbles: true, cancelable: true, composed: true, pointerType: "touch", isPrimary: true, pointerId: 2, button: 0 };
  for (const name of ["pointerover", "pointerenter", "pointerdown", "pointerup", "pointerout", "pointerleave"]) part.dispatchEvent(new PointerEvent(name, init));
  part.dispatchEvent(new PointerEvent("click", init));
}"""
PLAIN = {"WEBKIT_DISABLE_COMPOSITING_MODE": "1"}  # layers without a graphics card take 60 % more of the processor
# The window's own buttons would not let it be as narrow as a phone.
STYLE = "* { min-width: 0; padding: 0; margin: 0; } headerbar, toolbar { min-height: 0; }"


@contextmanager
def webkit(driver: str, browser: str, folder: Path) -> Iterator[WebKit]:
    """WebKitGTK's small browser on a screen that nobody sees."""
    style, script, log = folder / "gtk-3.0" / "gtk.css", folder / "browser.sh", folder / "webkit.log"
    style.parent.mkdir()
    style.write_text(STYLE)
    log.touch()
    script.write_text(
        f'#!/bin/sh\nexec "{browser}" "$@" >>"{log}" 2>&1\n'
    )  # the driver throws away what the browser prints
    script.chmod(0o755)
    with screen(folder) as display:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        env = os.environ | {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
            "DISPLAY": display,
            "NO_AT_BRIDGE": "1",
            **PLAIN,
        }
        with running([driver, f"--port={port}"], f"{address}/status", env=env, log=folder / "driver.log"):
            engine = WebKit(address, script, log)
            yield engine
            engine.close()


@contextmanager
def screen(folder: Path) -> Iterator[str]:
    """The name of a screen that nobody sees."""
    log = folder / "xvfb.log"
    process = start(["Xvfb", "-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp"], log)
    try:
        yield ":" + _heard(log, r"^(\d+)$", process)
    finally:
        stop(process)
