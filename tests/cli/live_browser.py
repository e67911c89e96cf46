"""The live view in a browser: by mouse and by keyboard alone. Usage: live_browser.py HEDDLE [FOLDER for pictures]."""
import json
import re
import subprocess
import sys
import time

from browser import Browser

heddle = sys.argv[1]
url = None


def start():
    """A run that is paused from its beginning, so that there is time to look."""
    global url
    made = subprocess.Popen([heddle, "bench", "matmul_tiled", "--m", "64", "--n", "64", "--k", "8192", "--mode", "timing", "--set",
                             "gpu.sm_count=4", "--json", "looked", "--live=paused"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in made.stderr:
        found = re.search(r"http://\S+", line)
        if found:
            url = found[0]
            break
    return made


def wait_for(page, script, what):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        got = page.run("return " + script)
        if got:
            return got
        time.sleep(0.05)
    sys.exit(f"{what}: it never came to that; what goes on: " + page.run("return document.body.innerText")[:800])


def number(page):
    return int(re.search(r"window ([\d,]+)", page.run("return document.getElementById('time').textContent"))[1].replace(",", ""))


PAUSED = "document.getElementById('mode').textContent === 'paused'"
CYCLE = "Number(document.getElementById('time').textContent.replace(/.*cycle ([0-9,]+).*/, '$1').replaceAll(',', ''))"
run = None
try:
    with Browser(width=1280, height=900) as page:
        run = start()
        page.open(url)
        # by keyboard alone: g goes on, p pauses, s steps, Tab reaches the field, Enter runs there
        wait_for(page, "document.getElementById('time').textContent", "the state")
        wait_for(page, PAUSED, "pause")
        page.press("g")
        wait_for(page, "document.getElementById('mode').textContent === 'running'", "going on by g")
        page.press("p")
        wait_for(page, PAUSED, "pause by p")
        before = number(page)
        page.press("s")
        wait_for(page, f"!document.getElementById('time').textContent.endsWith('window {before:,}')", "step by s")
        assert number(page) == before + 1, (before, number(page))
        for _ in range(20):
            page.press("Tab")
            if page.run("return document.activeElement.id") == "cycle":
                break
        else:
            sys.exit("Tab does not reach the field of the cycle")
        page.press(*"400000", "Enter")
        wait_for(page, PAUSED + f" && {CYCLE} >= 400000 && document.querySelectorAll('#kernels tbody tr').length",
                 "a kernel at the cycle")
        for _ in range(20):
            page.press("Tab")
            if page.run("return document.activeElement.dataset.name") == "gpu[0].sm[0]":
                break
        else:
            sys.exit("Tab does not reach the map")
        page.press("Right", "Enter")
        wait_for(page, "document.getElementById('inspector-title').textContent === 'gpu[0].sm[1] (sm)' && "
                       "document.querySelectorAll('#component tbody tr').length > 3", "the second SM")
        # what is shown is what the JSON says
        page.run("window.saved = null; fetch('state').then(r => r.json()).then(s => { window.saved = s; })")
        wait_for(page, "window.saved", "the JSON")
        state = page.run("return window.saved")
        tiles = page.run("return [...document.querySelectorAll('.tiles button')].map(b => b.title)")
        gpu = state["gpus"][0]
        assert len(tiles) == len(gpu["sms"]) + len(gpu["l2"][0]["slices"]), len(tiles)
        for title, sm in zip(tiles, gpu["sms"]):
            assert f"{sm['blocks']} blocks, {sm['warps']} of {sm['most']} warps" in title, (title, sm)
        assert page.run("return [...document.querySelectorAll('#why li')].map(l => l.textContent)") == state["why"]
        unlabelled = page.run("return [...document.querySelectorAll('button, input, select')].filter(e => "
                              "!(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length")
        assert unlabelled == 0, f"{unlabelled} controls have no label"
        # one h1, headings without gaps, tables whose heads say which column they are of
        levels = page.run("return [...document.querySelectorAll('h1, h2, h3, h4')].filter(h => h.getClientRects().length).map(h => Number(h.tagName[1]))")
        assert levels[0] == 1 and levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])) and 3 in levels, levels
        heads = page.run("return [...document.querySelectorAll('th')].map(th => [th.scope, th.textContent])")
        assert len(heads) > 6 and all(scope == "col" and text for scope, text in heads), heads
        assert page.run("return document.querySelectorAll('header, main').length") == 2
        for choice in ("why", "issue", "use"):
            page.run("const c = document.getElementById('colour'); c.value = arguments[0]; c.dispatchEvent(new Event('change'))", choice)
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 420)):
            page.size(width, 900)
            page.colours(scheme)
            time.sleep(0.2)
            assert page.run("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width}"
            if len(sys.argv) > 2:
                page.picture(f"{sys.argv[2]}/live-{scheme}-{width}.png")
        page.press("g") if page.run("return document.activeElement.tagName") != "INPUT" else None
        wait_for(page, "document.getElementById('mode').textContent === 'ended'", "the end of the run")
        bad = [entry for entry in page.log() if "ERR_CONNECTION_REFUSED" not in entry["message"] and "ERR_EMPTY_RESPONSE" not in entry["message"]
               and "ERR_CONNECTION_RESET" not in entry["message"]]
        assert not bad, json.dumps(bad)[:800]
    run.stderr.read()
    assert run.wait(timeout=60) == 0
finally:
    if run and run.poll() is None:
        run.kill()
