"""The live view, asked as a page asks it. Usage: live.py HEDDLE TEST [WORD...]: starts `HEDDLE WORD... --live=paused`.

Tests: orders, refusals, malformed, hang, held, attached. The words end where the program's begin: --live=paused stands
before `--`. Behind `++` is what is run once the URL was told: a program that attaches.
"""
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse


class Run:
    def __init__(self, heddle, words):
        at = words.index("--") if "--" in words else len(words)
        self.process = subprocess.Popen([heddle, *words[:at], "--live=paused", *words[at + 1:]], text=True,
                                        stdout=open("live.out", "w"), stderr=subprocess.PIPE)
        for line in self.process.stderr:
            found = re.search(r"live view at http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/$", line.strip())
            if found:
                self.port, self.token = int(found[1]), found[2]
                return
        sys.exit("no URL was told")

    def ask(self, method, path, body=None, headers=None):
        """Gives the status, the headers and the bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        got = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return got

    def get(self, path):
        status, _, body = self.ask("GET", f"/{self.token}/{path}")
        assert status == 200, (status, body)
        return json.loads(body)

    def order(self, **order):
        status, _, body = self.ask("POST", f"/{self.token}/order", json.dumps(order), {"Content-Type": "application/json"})
        return status, json.loads(body)

    def wait_for(self, what, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.get("state")
            if what(state):
                return state
            time.sleep(0.02)
        sys.exit(f"it never came to that; the last state: {json.dumps(state)[:600]}")

    def pause(self):
        assert self.order(order="pause") == (200, {})
        return self.wait_for(lambda state: state["mode"] == "paused" and state["in_window"])

    def end(self):
        """Goes on to the end; gives the exit status."""
        try:
            self.order(order="go")
        except ConnectionError:
            pass  # the run may end before it has answered
        self.process.stderr.read()
        return self.process.wait(timeout=60)


def orders(run):
    paused = run.pause()
    assert run.get("state")["windows"] == paused["windows"], "it runs while it is paused"
    run.order(order="step", count=5)
    stepped = run.wait_for(lambda state: state["mode"] == "paused")
    assert stepped["windows"] == paused["windows"] + 5, (paused["windows"], stepped["windows"])
    goal = stepped["cycle"] + 3000
    run.order(order="until", count=goal)
    there = run.wait_for(lambda state: state["mode"] == "paused")
    assert goal <= there["cycle"] < goal + 5000, (goal, there["cycle"])
    for late in [there["cycle"], 1]:
        status, why = run.order(order="until", count=late)
        assert status == 400 and "expected a cycle after" in why["error"], (status, why)
    assert run.get("state")["windows"] == there["windows"], "a refused order went on"
    run.order(order="until", count=there["cycle"] + 40000)
    kernel = run.wait_for(lambda state: state["mode"] == "paused")
    assert kernel["kernels"] and kernel["why"][0].startswith("matmul_tiled on GPU 0: "), kernel["why"]
    sms = kernel["gpus"][0]["sms"]
    assert len(sms) == 4 and all(sum(sm["why"]) == sm["warps"] <= sm["most"] for sm in sms), sms
    assert len(kernel["gpus"][0]["l2"][0]["slices"]) > 1
    for state, some in [(paused, False), (kernel, True)]:  # no slice has work before the first kernel
        waiting = [slice["waiting"] for slice in state["gpus"][0]["l2"][0]["slices"]]
        assert (max(waiting) > 0) == some and max(waiting) < 1 << 20, waiting
    sm = run.get("component?name=" + urllib.parse.quote("gpu[0].sm[1]"))
    counters = {counter["name"]: counter["value"] for counter in sm["counters"]}
    assert counters["instructions"] == sms[1]["instructions"] > 0, counters
    assert sm["where"] and "matmul_tiled" in sm["where"][0], sm["where"]
    assert run.get("component?name=" + kernel["gpus"][0]["l2"][0]["slices"][0]["part"])["counters"]
    assert "sm_count = 4" in run.get("parameters")["description"]
    assert run.order(order="checkpoint") == (200, {})
    run.wait_for(lambda state: any("written at cycle" in note for note in state["notes"]))
    assert run.end() == 0


def refusals(run):
    windows = run.pause()["windows"]
    page, own = f"/{run.token}/", {"Content-Type": "application/json"}
    other = {"Origin": "http://evil.example"}
    same = {"Origin": f"http://127.0.0.1:{run.port}"}
    pause = '{"order":"pause"}'
    for wanted, method, path, body, headers in [
            (200, "GET", page, None, {}), (200, "GET", page + "state", None, same),
            (200, "GET", page + "state", None, {"Host": f"localhost:{run.port}"}),
            (403, "GET", "/", None, {}), (403, "GET", "/state", None, {}),
            (403, "GET", "/" + "0" * 32 + "/state", None, {}), (403, "GET", page[:-3] + "/state", None, {}),
            (403, "GET", page + "state", None, other), (403, "POST", page + "order", pause, {**own, **other}),
            (403, "GET", page + "state", None, {"Origin": "null"}),
            (403, "GET", page + "state", None, {"Host": "evil.example"}),
            (403, "GET", page + "state", None, {"Host": f"evil.example:{run.port}"}),
            (404, "GET", page + "nothing", None, {}), (404, "GET", page + "../state", None, {}),
            (405, "POST", page + "state", pause, own), (405, "GET", page + "order", None, {}),
            (405, "DELETE", page, None, {}), (415, "POST", page + "order", pause, {"Content-Type": "text/plain"}),
            (413, "POST", page + "order", pause + " " * 5000, own),
            (400, "POST", page + "order", "", own), (400, "POST", page + "order", '{"order":"stop"}', own),
            (400, "POST", page + "order", '{"order":"step","count":0}', own),
            (400, "POST", page + "order", '{"order":"checkpoint"}', own),
            (400, "POST", page + "order", '{"order":"until"}', own),
            (400, "POST", page + "order", '{"order":"until","count":0}', own),
            (400, "GET", page + "component", None, {}), (400, "GET", page + "component?name=nobody", None, {})]:
        status, headers, _ = run.ask(method, path, body, headers)
        assert status == wanted, (method, path, headers, body, status, wanted)
        assert "no-store" in headers["Cache-Control"] and "default-src 'none'" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers
    assert run.get("state")["windows"] == windows, "a refused order went on"
    assert run.end() == 0


def malformed(run):
    """What is no HTTP, or too much of it: the run does not mind."""
    run.pause()
    for sent in [b"\0" * 2000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                 b"POST /%s/order HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 99999999999999999999\r\n\r\n{"
                 % (run.token.encode(), run.port),
                 b"POST /%s/order HTTP/1.1\r\nContent-Length: -1\r\n\r\n" % run.token.encode(),
                 b"POST /%s/order HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n" % run.token.encode(),
                 b"GET /%s/component?name=%%00%%ff%%n HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (run.token.encode(), run.port),
                 b"GET /x HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n"]:
        with socket.create_connection(("127.0.0.1", run.port), timeout=1) as one:
            try:
                one.sendall(sent)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
            except OSError:
                pass  # it was cut off, or is left waiting for the rest
        assert run.get("state")["mode"] == "paused"
    assert run.end() == 0


def hang(run):
    """A kernel that waits in a loop for what does not come: the page says so, and where."""
    run.order(order="go")
    run.wait_for(lambda state: state["kernels"])
    state = run.wait_for(lambda state: any("No block has ended for" in why for why in state["why"]), 40)
    assert any("wait in a loop" in why and "spin.ptx" in why for why in state["why"]), state["why"]
    run.process.send_signal(signal.SIGINT)
    run.process.stderr.read()
    run.process.wait(timeout=20)


def held(run):
    """Somebody looks, and a kernel fails: the run waits with the reason, until it is told to go on."""
    run.wait_for(lambda state: state["mode"] == "paused")
    run.order(order="go")
    state = run.wait_for(lambda state: state["held"])
    assert state["mode"] == "paused" and "saxpy" in state["held"], state["held"]
    run.end()


def attached(run):
    """A machine that programs attach to: it pauses and steps, shows the programs, looks into SMs, and ends as if nobody had looked."""
    paused = run.wait_for(lambda state: state["mode"] == "paused" and state["in_window"], 60)
    program, = paused["programs"]
    assert program["number"] == 1 and program["state"] in ("runs", "waits for simulated time") and "streams" not in paused, paused["programs"]
    for _ in range(400):
        if paused["kernels"]:
            break
        run.order(order="step", count=20)
        paused = run.wait_for(lambda state: state["mode"] == "paused")
    assert paused["kernels"] and paused["programs"][0]["running"], paused
    windows = paused["windows"]
    run.order(order="step", count=3)
    assert run.wait_for(lambda state: state["mode"] == "paused")["windows"] == windows + 3
    assert run.get("component?name=" + urllib.parse.quote("gpu[0].sm[1]"))["counters"]
    assert run.order(order="checkpoint")[0] == 400
    assert run.end() == 0
    assert not later or guest.wait(timeout=20) == 0


words = sys.argv[3:]
later = words[words.index("++") + 1:] if "++" in words else []
run = Run(sys.argv[1], words[:len(words) - len(later) - 1] if later else words)
guest = later and subprocess.Popen([sys.argv[1], *later], stdout=open("later.out", "w"), stderr=open("later.err", "w"))
try:
    {"orders": orders, "refusals": refusals, "malformed": malformed, "hang": hang, "attached": attached, "held": held}[sys.argv[2]](run)
finally:
    for process in [run.process] + ([guest] if guest else []):
        if process.poll() is None:
            process.kill()
