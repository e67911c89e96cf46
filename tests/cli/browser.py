"""A headless Chromium by WebDriver, with Python's standard library alone.

    with Browser(width=1200, height=900) as page:
        page.open("file:///tmp/run.html")
        page.run("return document.title")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Right": "\ue014", "Left": "\ue012", "End": "\ue010", "Home": "\ue011"}


def is_here():
    return shutil.which("chromium") and shutil.which("chromedriver")


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.profile = tempfile.mkdtemp()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, env={**os.environ, "HOME": self.profile})
        self.port = None
        for line in self.driver.stdout:
            if "successfully on port" in line:
                self.port = int(line.rstrip(".\n").split()[-1])
                break
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
                     f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "--hide-scrollbars"]
        if dark:
            arguments.append("--force-dark-mode")
            arguments.append("--blink-settings=preferredColorScheme=0")
        wanted = {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": shutil.which("chromium"), "args": arguments}}}}
        self.session = self.ask("POST", "/session", wanted)["sessionId"]
        self.size(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        try:
            self.ask("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            time.sleep(0.1)
            shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def of_session(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def size(self, width, height):
        self.of_session("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def colours(self, scheme):
        self.of_session("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def open(self, url):
        self.of_session("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.of_session("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *names):
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.of_session("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def log(self):
        return self.of_session("POST", "/se/log", {"type": "browser"})

    def picture(self, path, whole=False):
        if whole:
            reply = self.of_session("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {
                "captureBeyondViewport": True}})
            data = reply["data"]
        else:
            data = self.of_session("GET", "/screenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
