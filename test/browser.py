# SPDX-License-Identifier: MIT
"""A browser that tests drive: Chromium without a window, by the WebDriver
protocol of chromedriver (https://www.w3.org/TR/webdriver2/).

with Browser() as b:
    b.open(path)
    b.wait("document.documentElement.dataset.ready")
"""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import tallytest as t

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser",
         "google-chrome"]
# The member that stands for an element, by the protocol.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# How often a driver or a browser that does not start is tried again: another
# program may take the port that the driver chose, and on a busy host a browser may
# need more time than the driver gives it.
TRIES = 4
KEYS = {"ArrowUp": "\ue013", "ArrowDown": "\ue015", "ArrowLeft": "\ue012",
        "ArrowRight": "\ue014", "Enter": "\ue007", "Escape": "\ue00c",
        "Home": "\ue011", "Tab": "\ue004", "Shift": "\ue008"}


def program(variable, names):
    """The program that an environment variable or one of the names gives."""
    found = os.environ.get(variable) or next(
        filter(None, map(shutil.which, names)), None)
    if found is None:
        raise t.Skip(f"there is no {names[0]}; {variable} names one")
    return found


def chromium():
    return program("CHROMIUM", NAMES)


class NotStarted(AssertionError):
    """No driver, or no browser, could be started."""


class Browser:
    """A browser with one page. `options` are those of Chromium."""

    def __init__(self, *options):
        chrome = chromium()
        driver = program("CHROMEDRIVER", ["chromedriver"])
        for left in reversed(range(TRIES)):
            try:
                self.begin(driver, chrome, options)
                return
            except NotStarted:
                if left == 0:
                    raise

    def begin(self, driver, chrome, options):
        """Starts the driver, and by the driver the browser."""
        self.folder = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"HOME": self.folder.name})
        try:
            self.base = f"http://127.0.0.1:{self.port()}"
            self.start(chrome, options)
        except BaseException:
            self.stop()
            raise

    def port(self):
        """The port that the driver chose."""
        said = []
        for line in self.driver.stdout:
            said.append(line)
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return found[1]
        raise NotStarted(f"chromedriver does not start: {''.join(said)}")

    def start(self, chrome, options):
        words = ["--headless=new", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage", "--hide-scrollbars",
                 f"--user-data-dir={self.folder.name}/profile", *options]
        self.session = None
        wanted = {"goog:chromeOptions": {"binary": chrome, "args": words},
                  "goog:loggingPrefs": {"browser": "ALL"},
                  "timeouts": {"script": 600000, "pageLoad": 600000}}
        try:
            found = self.ask("POST", "/session",
                             {"capabilities": {"alwaysMatch": wanted}})
        except AssertionError as error:
            raise NotStarted(str(error)) from None
        self.session = found["sessionId"]

    def ask(self, method, path, body=None):
        """What the driver answers to a command."""
        where = self.base + (f"/session/{self.session}" if self.session else "")
        request = urllib.request.Request(
            where + path, method=method,
            data=json.dumps(body or {}).encode() if method == "POST" else None,
            headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise AssertionError(f"{path}: {said['message']}") from None

    def open(self, path, fragment=""):
        self.ask("POST", "/url",
                 {"url": pathlib.Path(path).resolve().as_uri() + fragment})

    def run(self, script, *values):
        """What the body of a function returns in the page."""
        return self.ask("POST", "/execute/sync",
                        {"script": script, "args": list(values)})

    def value(self, expression):
        return self.run(f"return {expression};")

    def wait(self, expression):
        """The first true value of an expression."""
        return t.wait_for(expression, lambda: self.value(expression))

    def find(self, selector):
        return self.ask("POST", "/element",
                        {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def clear(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/clear")

    def write(self, selector, text):
        """Types a text into a field."""
        self.ask("POST", f"/element/{self.find(selector)}/value",
                 {"text": text})

    def press(self, *keys):
        """Presses keys where the focus is, by their names or as letters."""
        steps = []
        for key in keys:
            sign = KEYS.get(key, key)
            steps += [{"type": "keyDown", "value": sign},
                      {"type": "keyUp", "value": sign}]
        self.ask("POST", "/actions", {"actions": [
            {"type": "key", "id": "keyboard", "actions": steps}]})

    def point(self, selector, x, y, click=True):
        """Moves the mouse to a place in an element, from its upper left corner,
        and clicks there."""
        left, top = self.run(
            "const e = document.querySelector(arguments[0]);"
            "e.scrollIntoView({block: 'center'});"
            "const r = e.getBoundingClientRect(); return [r.left, r.top];",
            selector)
        steps = [{"type": "pointerMove", "duration": 0, "origin": "viewport",
                  "x": round(left + x), "y": round(top + y)}]
        if click:
            steps += [{"type": "pointerDown", "button": 0},
                      {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": steps,
             "parameters": {"pointerType": "mouse"}}]})

    def choose(self, selector, value):
        """Chooses the option of a value in a list."""
        self.run("const e = document.querySelector(arguments[0]);"
                 "e.value = arguments[1];"
                 "e.dispatchEvent(new Event('change'));", selector, str(value))

    def complaints(self):
        """What the page and the browser wrote to the console."""
        rows = self.ask("POST", "/se/log", {"type": "browser"})
        return [row["message"] for row in rows]

    def command(self, name, **values):
        """A command of the DevTools protocol."""
        return self.ask("POST", "/goog/cdp/execute",
                        {"cmd": name, "params": values})

    def narrow(self, width=380, scale=1):
        """Makes the window `width` pixels of the page wide, each of them `scale`
        pixels of the screen. Chromium tells a page of its window when it next
        draws the page, so a screenshot is taken, for which Chromium draws."""
        self.command("Emulation.setDeviceMetricsOverride", width=width,
                     height=800, deviceScaleFactor=scale, mobile=False)
        self.wait(f"innerWidth === {width} && devicePixelRatio === {scale}")
        self.ask("GET", "/screenshot")

    def dark(self, dark):
        """Has the page see a dark or a light system. The page is told later, as
        it draws next."""
        scheme = "dark" if dark else "light"
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        self.wait(f"matchMedia('(prefers-color-scheme: {scheme})').matches")

    def picture(self, path):
        """Writes a picture of what is seen as a PNG file."""
        data = self.ask("GET", "/screenshot")
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def stop(self):
        if getattr(self, "session", None):
            try:
                self.ask("DELETE", "")
            except (AssertionError, OSError):
                pass
        self.driver.terminate()
        self.driver.communicate()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Page(Browser):
    """A browser that shows a page of tally's, when that is ready. At the end
    nothing may be on its console."""

    def __init__(self, path, *options):
        super().__init__("--window-size=1300,1000", *options)
        try:
            self.open(path)
            self.wait("document.documentElement.dataset.ready")
        except BaseException:
            self.stop()
            raise

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                t.equal(self.complaints(), [], "on the console")
        finally:
            self.stop()

    def text(self, name):
        return self.run("return document.getElementById(arguments[0])"
                        ".textContent;", name)

    def rows(self, name, part="tbody"):
        """The texts of a table's rows."""
        return self.run(
            "return [...document.querySelectorAll("
            "`#${arguments[0]} ${arguments[1]} tr`)]"
            ".map(tr => [...tr.children].map(cell => cell.textContent));", name,
            part)
