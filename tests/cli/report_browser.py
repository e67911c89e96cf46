"""What reports show in Chromium: figures as the JSON has them, on each tab; keyboard, names, contrast; nothing that a
hostile name holds is executed. The folder has the runs and their reports (report_browser.sh)."""
import json
import os
import sys

from browser import Browser

folder = os.path.abspath(sys.argv[1])
failures = []


def expect(good, *what):
    if not good:
        failures.append(" ".join(map(str, what)))
        print("FAILED:", *what)


def open_report(page, name):
    page.open(f"file://{folder}/{name}.html")
    expect(page.run("return document.documentElement.dataset.ready"), name, "is not drawn")


def tabs(page):
    return page.run("return [...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)")


def text(page, selector="main"):
    return page.run("return document.querySelector(arguments[0]).innerText", selector)


def figure(page, name):
    return page.run("const f = [...document.querySelectorAll('[data-figure]')].find((f) => f.dataset.figure === arguments[0]);"
                    "return f && f.querySelector('dd').innerText", name)


def select(page, tab):
    page.run("document.getElementById(arguments[0]).click()", tab)


def quiet(page, name):
    log = [entry["message"] for entry in page.log() if entry["level"] in ("SEVERE", "WARNING")]
    expect(not log, name, "console:", log)


# ---- what all pages must have ----

NAMELESS = """
const named = (e) => (e.getAttribute('aria-label') || e.innerText || e.getAttribute('alt') || (e.labels && [...e.labels].map((l) => l.innerText).join('')) || '').trim();
return [...document.querySelectorAll('button, input, select, a, img, svg[role=img], [role=region], summary, th')]
    .filter((e) => !named(e) && !(e.closest('svg') && e.tagName !== 'svg') && e.innerText !== undefined && !(e.tagName === 'TH' && !e.offsetWidth))
    .map((e) => e.outerHTML.slice(0, 120))"""

# Landmarks, headings in their order, heads of tables, what drawings say, and what the keyboard can move.
ACCESS = """
const wrong = [];
for (const mark of ['header', 'main', 'h1']) if (document.querySelectorAll(mark).length !== 1) wrong.push(mark);
const shown = (e) => e.getClientRects().length > 0;
let level = 0;
for (const h of document.querySelectorAll('h1, h2, h3, h4')) {
    if (!shown(h)) continue;
    const now = Number(h.tagName[1]);
    if (now > level + 1) wrong.push('h' + level + ' then ' + h.outerHTML.slice(0, 60));
    level = now;
}
for (const table of document.querySelectorAll('table')) {
    const heads = [...table.querySelectorAll('th')];
    if (table.tHead && heads.some((th) => !['col', 'row'].includes(th.scope) || !th.textContent.trim())) wrong.push('th: ' + table.outerHTML.slice(0, 80));
    if (heads.some((th) => th.querySelector('button')) && heads.filter((th) => ['ascending', 'descending'].includes(th.getAttribute('aria-sort'))).length > 1) wrong.push('aria-sort');
}
for (const svg of document.querySelectorAll('svg')) if ((svg.getAttribute('aria-label') || '').length < 20) wrong.push('a drawing says little: ' + svg.getAttribute('aria-label'));
for (const box of document.querySelectorAll('.scroll, .source'))
    if (shown(box) && (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) !== (box.tabIndex === 0)) wrong.push('scrolls without keys, or the other way round: ' + box.outerHTML.slice(0, 80));
for (const e of document.querySelectorAll('#panel button, #panel select, #panel input, #panel [tabindex="0"]')) {
    if (!shown(e)) continue;
    e.focus({ focusVisible: true });
    if (document.activeElement !== e || getComputedStyle(e).outlineStyle === 'none') { wrong.push('focus is not seen: ' + e.outerHTML.slice(0, 80)); break; }
}
return wrong.slice(0, 6)"""

# The contrast of each text with its ground, as WCAG 2 computes it.
PALE = """
const parse = (c) => { const [r, g, b, a] = c.match(/[\\d.]+/g).map(Number); return [r, g, b, a === undefined ? 1 : a]; };
const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
function ground(e) {
    for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c; }
    return [255, 255, 255, 1];
}
const found = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.getClientRects().length || ['SCRIPT', 'STYLE', 'title'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), inSvg = e.closest('svg');
    const ink = light(parse(inSvg ? style.fill : style.color)), back = light(ground(inSvg ? inSvg : e));
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < 4.5) found.add(node.data.trim().slice(0, 30) + ' ' + ratio.toFixed(2));
}
return [...found].slice(0, 5)"""


def look_at_all(page, name):
    """Each tab: it shows something, without a word that no value became, all with names and contrast."""
    for tab in tabs(page):
        select(page, tab)
        shown = text(page)
        expect(len(shown) > 60, name, tab, "is empty")
        for word in ("undefined", "NaN", "[object", "Infinity"):
            expect(word not in shown, name, tab, "shows", word)
        expect(not page.run(NAMELESS), name, tab, "without a name:", page.run(NAMELESS))
        pale = page.run(PALE)
        expect(not pale, name, tab, "too pale:", pale)
        wrong = page.run(ACCESS)
        expect(not wrong, name, tab, "accessibility:", wrong)
        wide = page.run("return [document.documentElement.scrollWidth, innerWidth]")
        expect(wide[0] <= wide[1], name, tab, "is wider than the window:", wide)
        expect(page.run("return document.querySelectorAll('#panel, [role=tablist], h1').length") == 3, name, "structure")
        expect(page.run("return new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size === document.querySelectorAll('[id]').length"), name, tab, "ids come twice")
    quiet(page, name)


def whole(number):
    return f"{number:,}"


# ---- reports, one by one ----

def look_at_cuda(page):
    open_report(page, "cuda")
    run = json.load(open(f"{folder}/cuda.json"))
    kernel, metrics = run["kernels"][0], run["kernels"][0]["metrics"]
    expect(tabs(page) == ["tab-overview", "tab-kernels", "tab-activity", "tab-system"], "tabs", tabs(page))
    expect(figure(page, "system") == "h200" and figure(page, "launches") == "1", "overview")
    expect(figure(page, "simulated time").startswith(f"{run['time_ps'] / 1e6:.1f}"), figure(page, "simulated time"), run["time_ps"])
    expect(kernel["why"] in text(page), "what bounds it, on the overview")
    select(page, "tab-kernels")
    shown = text(page)
    expect(kernel["why"] in shown, "what bounds it")
    expect(figure(page, "cycles").startswith(whole(metrics["gpc__cycles_elapsed.max"])), figure(page, "cycles"))
    expect(figure(page, "warp instructions").startswith(whole(metrics["smsp__inst_executed.sum"])), figure(page, "warp instructions"))
    # each bar says what the JSON says
    stalls, all_cycles = kernel["stall_cycles"], sum(kernel["stall_cycles"].values())
    bars = page.run("return [...document.querySelectorAll('[aria-label=\"Stall reasons\"] [role=row]')].map((r) => [r.children[0].innerText, r.children[2].innerText])")
    expect(len(bars) == sum(100 * cycles / all_cycles >= 0.05 for cycles in stalls.values()), "stalls", bars)
    for name, value in bars:
        expect(abs(float(value.split()[0]) - 100 * stalls[name] / all_cycles) <= 0.05, name, value)
    point = page.run("const p = document.querySelector('[data-point]'); return [Number(p.dataset.flops), Number(p.dataset.intensity)]")
    flops = 2 * 64 ** 3
    expect(abs(point[0] / (flops / (metrics["gpu__time_duration.sum"] * 1e-9)) - 1) < 1e-4, "roofline", point)
    expect(abs(point[1] / (flops / max(metrics["dram__bytes.sum"], 32)) - 1) < 1e-4, "roofline", point)
    flow = page.run("return Object.fromEntries([...document.querySelectorAll('[data-flow]')].map((f) => [f.dataset.flow, Number(f.dataset.bytes)]))")
    for name, metric in (("read from DRAM", "dram__bytes_read.sum"), ("from L2 to the SMs", "heddle__l2_to_sm_bytes.sum"), ("from the SMs to L2", "heddle__sm_to_l2_bytes.sum")):
        expect(flow[name] == metrics[metric], name, flow[name], metrics[metric])
    lines = page.run("return [...document.querySelectorAll('.source tr[data-line]')].map((r) => [Number(r.dataset.line), r.children[1].innerText, r.children[5].innerText])")
    issued = {}
    for place in kernel["profile"]:
        issued[place.get("ptx_line", 0)] = issued.get(place.get("ptx_line", 0), 0) + place.get("issued", 0)
    loads = [line for line in lines if "ld.global.f32" in line[1]]
    expect(loads and all(line[2] == whole(issued[line[0]]) for line in loads), "source", loads)
    select(page, "tab-activity")
    rows = [row[0] for row, values in zip(run["series"]["rows"], run["series"]["gpus"][0]["values"]) if max(values) > 0]
    drawn = page.run("return [...document.querySelectorAll('[data-series]')].map((c) => c.dataset.series)")
    expect(drawn == rows, "series", drawn, rows)
    select(page, "tab-system")
    expect("dispatch.block_cycles" in text(page), "the description")
    # all metrics, with units and help
    select(page, "tab-kernels")
    page.run("document.querySelector('details').open = true")
    rows = page.run("return new Promise((done) => setTimeout(() => done([...document.querySelectorAll('details tbody tr')].map((r) => [...r.children].map((c) => c.innerText))), 50))")
    expect(len(rows) == len(metrics), "all metrics", len(rows), len(metrics))
    expect(all(row[3] for row in rows), "a metric without a meaning")


def look_at_keyboard(page):
    open_report(page, "cuda")
    page.press("Tab")
    expect(page.run("return document.activeElement.innerText") == "Skip to the content", "the first stop")
    page.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    page.press("Right")
    expect(page.run("return document.activeElement.id") == "tab-kernels", "arrow right")
    expect(page.run("return document.getElementById('panel').getAttribute('aria-labelledby')") == "tab-kernels", "the panel's name")
    page.press("End")
    expect(page.run("return document.activeElement.id") == "tab-system", "end")
    page.press("Home")
    page.press("Right", "Tab", "Tab")
    expect(page.run("return document.activeElement.type") == "search", "the filter", page.run("return document.activeElement.outerHTML.slice(0, 80)"))
    page.press("z", "z")
    expect(page.run("return document.querySelectorAll('tbody')[0].children.length") == 0, "the filter filters")
    expect("0 of 1 kernels" in text(page), "and says so")
    page.run("document.activeElement.value = ''; document.activeElement.dispatchEvent(new Event('input'))")
    page.press("Tab", "Enter")
    expect(page.run("return document.activeElement.closest('th').getAttribute('aria-sort')") in ("ascending", "descending"), "sorting by keys")
    page.run("[...document.querySelectorAll('header button')].pop().focus()")
    before = page.run("return getComputedStyle(document.body).backgroundColor")
    page.press("Enter")
    expect(page.run("return getComputedStyle(document.body).backgroundColor") != before, "light and dark by hand")
    quiet(page, "keyboard")


def look_at_links(page, run, ends):
    """A strip for each way of a link that was used, and its mean and highest use as the samples have them."""
    times = run["series"]["gpus"][0]["time_ps"]
    span = [b - a for a, b in zip([0] + times, times)]
    wanted = {}
    for link in run["series"]["links"]["list"]:
        a, b = ends(link["name"])
        for back, name in enumerate((f"{a} to {b}", f"{b} to {a}")):
            if any(link["values"][back]):
                wanted[name] = [link["name"], sum(v * span[i] for i, v in zip(link["samples"], link["values"][back])) / times[-1], max(link["values"][back])]
    strips = page.run("return [...document.querySelectorAll('[data-strip]')].map((s) => s.dataset.strip)")
    expect(strips == list(wanted), "strips", strips)
    rows = page.run("return [...[...document.querySelectorAll('table')].find((t) => t.caption && t.caption.innerText === 'Use of links over time').tBodies[0].rows].map((r) => [...r.cells].map((c) => c.innerText))")
    expect(len(rows) == len(wanted), "ways of links", rows)
    for name, link, mean, most, *_ in rows:
        expect(link == wanted[name][0] and abs(float(mean) - wanted[name][1]) < 0.002 and abs(float(most) - wanted[name][2]) < 0.02, name, mean, most, wanted[name])
    broken = page.run("return [...document.querySelectorAll('[data-link]')].filter((l) => /undefined|NaN/.test(l.getAttribute('d'))).length")
    expect(not broken, "links without ends")


def look_at_others(page):
    open_report(page, "amd")
    select(page, "tab-kernels")
    expect("s_waitcnt" in text(page, ".source"), "GCN3 source")
    open_report(page, "gpus")
    run = json.load(open(f"{folder}/gpus.json"))
    select(page, "tab-gpus")
    links = page.run("return [...document.querySelectorAll('[data-link]')].map((l) => l.dataset.link)")
    expect(links == [link["name"] for link in run["links"]], "links", links)
    for link in run["links"]:
        expect(link["name"] in text(page), link["name"])
    look_at_links(page, run, lambda name: name.split("-"))
    open_report(page, "pages")
    run = json.load(open(f"{folder}/pages.json"))
    select(page, "tab-gpus")
    look_at_links(page, run, lambda name: [name, "pcie"])
    pages = run["series"]["pages"]
    moved = [row[0] for row, *all in zip(pages["rows"], *(part["values"] for part in pages["list"])) if any(map(any, all))]
    drawn = page.run("return [...document.querySelectorAll('[data-pages]')].map((c) => [c.dataset.pages, [...c.querySelectorAll('.key li')].map((l) => l.innerText)])")
    expect([name for name, _ in drawn] == moved and "pages received" in moved, "pages over time", drawn, moved)
    expect(drawn[0][1] == [part["name"] for part in pages["list"] if any(part["values"][0])], "by GPU", drawn[0])
    open_report(page, "functional")
    select(page, "tab-kernels")
    expect("functional mode" in text(page), "a run without time")
    open_report(page, "compared")
    before, after = (json.load(open(f"{folder}/{name}.json"))["kernels"][0]["metrics"]["gpu__time_duration.sum"] for name in ("cuda", "slow"))
    change = 100 * (after / before - 1)
    expect(f"+{change:.1f} %" in text(page), "the change", change)
    expect("dram.bandwidth" in text(page), "parameters that differ")
    page.run("const s = document.getElementById('run'); s.value = 1; s.dispatchEvent(new Event('change'))")
    select(page, "tab-overview")
    expect("slow.json" in text(page), "the second run")
    open_report(page, "measured")
    select(page, "tab-measured")
    model = json.load(open(f"{folder}/cuda.json"))["kernels"][0]["metrics"]["gpu__time_duration.sum"]
    expect(f"{100 * abs(model / 11500 - 1):.1f}" in text(page), "the error beside ncu")
    select(page, "tab-plots")
    expect(page.run("return document.querySelector('img').naturalWidth") > 0, "a drawing")


def card(page, title):
    """Text of the table, and the figures of the plot, in the card with this title."""
    return page.run('''const card = [...document.querySelectorAll('section.card')].find((c) => c.querySelector('h3').innerText === arguments[0]), table = card.querySelector('table');
        return [table && [...table.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.innerText)), [...card.querySelectorAll('[data-value]')].map((v) => Number(v.dataset.value))]''', title)


def same(some, others):
    """The page's data have seven digits."""
    return len(some) == len(others) and all(abs(a - b) <= 1e-6 * abs(b) for a, b in zip(some, others))


def look_at_experiments(page):
    """A study and a sweep, without a run."""
    open_report(page, "experiments")
    study, sweep = (json.load(open(f"{folder}/{name}.json")) for name in ("little", "sweep"))
    expect(tabs(page) == ["tab-experiments"], "tabs", tabs(page))
    expect(text(page, "h1") == study["title"], "a title with markup is shown as it is", text(page, "h1"))
    for shown in study["figures"]:
        rows, drawn = card(page, shown["title"])
        expect([row[0] for row in rows] == [row["name"] for row in shown["rows"]], "rows of a figure", rows)
        cells = [row["cells"][i] for i in range(len(shown["columns"])) for row in shown["rows"]]
        expect(same(drawn, cells), shown["title"], drawn, cells)
    times = [point["metrics"]["gpu__time_duration.sum"] for point in study["points"]]
    rows, _ = card(page, "Points")
    expect(len(rows) == len(times) and "done" in rows[0], "points", rows)
    _, drawn = card(page, "Any metric")
    expect(same(sorted(drawn), sorted(times)), "a metric of points", drawn, times)
    rates = [100 * (one["result"]["l1"]["read_misses"] + one["result"]["l1"]["write_misses"]) / (one["result"]["l1"]["reads"] + one["result"]["l1"]["writes"]) for one in sweep["configurations"]]
    _, drawn = card(page, "Counts by configuration")
    expect(same(sorted(drawn), sorted(rates)), "miss rates", drawn)
    page.run('''const s = [...document.querySelectorAll('select')].find((s) => [...s.options].some((o) => o.innerText === 'L2 evictions'));
        s.value = [...s.options].findIndex((o) => o.innerText === 'L2 evictions'); s.dispatchEvent(new Event('change'))''')
    _, drawn = card(page, "Counts by configuration")
    expect(sorted(drawn) == sorted(one["result"]["l2"]["evictions"] for one in sweep["configurations"]), "L2 evictions", drawn)
    rows, _ = card(page, "Configurations")
    expect([row[:3] for row in rows[:2]] == [["4KiB", "1", "128KiB"], ["4KiB", "1", "512KiB"]], "configurations", rows[:2])
    page.run('''[...document.querySelectorAll('th button')].find((b) => b.innerText.startsWith('L1 misses')).click()''')
    rows, _ = card(page, "Configurations")
    misses = [int(row[4].replace(",", "")) for row in rows]
    expect(misses == sorted(misses, reverse=True) and len(set(misses)) > 3, "sorted by misses", misses)
    quiet(page, "experiments")


def look_at_evil(page):
    open_report(page, "evil")
    for tab in tabs(page):
        select(page, tab)
        expect("<img src=x" in text(page), "evil names are shown as they are", tab)
        expect(page.run("return typeof hacked") == "undefined", "a name was executed", tab)
        expect(page.run("return document.querySelectorAll('img, script').length") == 2, "a name became an element", tab)
    quiet(page, "evil")


def look_at_poor(page):
    """A run's file that lacks nearly all members is shown as far as it goes."""
    open_report(page, "poor")
    for tab in tabs(page):
        select(page, tab)
    quiet(page, "poor")


with Browser(1280, 900) as page:
    look_at_cuda(page)
    look_at_keyboard(page)
    look_at_others(page)
    look_at_experiments(page)
    look_at_evil(page)
    look_at_poor(page)
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 400)):
        page.size(width, 900)
        page.colours(scheme)
        for name in ("experiments", "cuda", "amd", "gpus", "pages", "compared", "measured"):
            open_report(page, name)
            look_at_all(page, f"{name} {scheme} {width}")
sys.exit(bool(failures))
