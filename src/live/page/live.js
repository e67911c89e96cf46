"use strict";
// The live view: asks for the state every half second, and shows it. Data goes into text nodes alone.

const EVERY_MS = 500;
const byId = (id) => document.getElementById(id);
let state = null, before = null; // as it was asked for last, and before that
let chosen = null;               // the name of the component that is looked into
let focused = null;              // the tile that the keyboard is at

// ---- making elements ----

function make(name, text, attributes) {
    const element = document.createElement(name);
    if (text !== undefined && text !== null) element.append(String(text));
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    return element;
}

function fill(parent, children) {
    parent.replaceChildren(...children);
}

// heads: # is a column of numbers, ~ one whose head is only heard
function table(heads, rows, empty) {
    if (!rows.length) return [make("p", empty, { class: "faint" })];
    const made = make("table"), head = make("thead"), body = make("tbody"), line = make("tr");
    heads.forEach((text) => {
        const th = make("th", null, { scope: "col", ...(text.endsWith("#") ? { class: "n" } : {}) }), name = text.replace(/[#~]/g, "");
        th.append(text.startsWith("~") ? make("span", name, { class: "visually-hidden" }) : name);
        line.append(th);
    });
    head.append(line);
    for (const row of rows) {
        const one = make("tr");
        row.forEach((cell, i) => {
            const td = make("td", cell instanceof Node ? null : cell, heads[i].endsWith("#") ? { class: "n" } : {});
            if (cell instanceof Node) td.append(cell);
            one.append(td);
        });
        body.append(one);
    }
    made.append(head, body);
    const scroll = make("div", null, { class: "scroll", tabindex: "0", role: "group", "aria-label": heads.map((h) => h.replace(/[#~]/g, "")).join(", ") });
    scroll.append(made);
    return [scroll];
}

// ---- numbers ----

const whole = (value) => Math.round(value).toLocaleString("en-US");

function time(ps) {
    for (const [unit, size] of [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3]])
        if (ps >= size) return (ps / size).toPrecision(4) + " " + unit;
    return ps + " ps";
}

function size(bytes) {
    for (const [unit, factor] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]])
        if (bytes >= factor) return (bytes / factor).toPrecision(3) + " " + unit;
    return bytes + " B";
}

// ---- talking to the run ----

async function ask(path, order) {
    const how = order ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) } : {};
    const answer = await fetch(path, how);
    const body = await answer.json();
    if (!answer.ok) throw new Error(body.error || answer.status);
    return body;
}

async function tell(order) {
    byId("told").textContent = "";
    try {
        await ask("order", order);
        await refresh();
    } catch (error) {
        byId("told").textContent = error.message;
    }
}

let isAsking = false;
async function refresh() {
    if (isAsking) return;
    isAsking = true;
    try {
        const now = await ask("state");
        if (!state || now.time_ps !== state.time_ps || now.windows !== state.windows) before = state;
        state = now;
        show();
        if (chosen) await showComponent();
    } catch (error) {
        // a fetch that finds no server is a TypeError; what the server said is not
        if (error instanceof TypeError) end();
        else byId("told").textContent = error.message;
    }
    isAsking = false;
}

function end() {
    clearInterval(timer);
    byId("mode").textContent = "ended";
    byId("mode").dataset.mode = "gone";
    for (const id of ["pause", "go", "step", "checkpoint"]) byId(id).disabled = true;
    byId("until").querySelector("button").disabled = true;
    byId("told").textContent = "The run has ended; this is the last that was seen of it.";
}

// ---- what is shown ----

const words = { goes: "running", steps: "stepping", reaches: "running", paused: "paused" };

function showHead() {
    const mode = byId("mode");
    const waits = state.mode === "paused" && !state.in_window && !state.held;
    mode.textContent = waits ? "pausing" : words[state.mode];
    mode.dataset.mode = state.mode;
    byId("time").textContent = time(state.time_ps) + ", cycle " + whole(state.cycle) + ", window " + whole(state.windows);
    byId("pause").disabled = state.mode === "paused";
    byId("go").disabled = state.mode === "goes";
    byId("checkpoint").disabled = !state.checkpoints;
    byId("checkpoint").title = state.checkpoints ? "" : "needs --checkpoint FILE from the beginning of the run";
    document.title = words[state.mode] + ": Heddle live";
}

function showWhy() {
    const list = state.why.map((text) => make("li", text));
    if (state.held) list.unshift(make("li", "Stopped here so that you can look: " + state.held, { class: "bad" }));
    fill(byId("why"), list);
}

function showKernels() {
    const rows = state.kernels.map((k) => {
        const bar = make("progress", null, { max: k.blocks, value: k.ended, "aria-label": k.name + ": blocks that have ended" });
        return ["GPU " + k.gpu, k.name, k.grid.join("×") + " of " + k.block.join("×"), bar,
            whole(k.ended) + " of " + whole(k.blocks), time(state.time_ps - k.start_ps), whole(k.instructions)];
    });
    for (const w of state.waiting)
        rows.push(["GPU " + w.gpu, w.name, w.bytes ? size(w.bytes) : "", "", "waits, or under way", "", ""]);
    fill(byId("kernels"), table(["~where", "name", "grid, block", "~progress", "blocks#", "since#", "warp instructions#"], rows,
        "Nothing runs."));
}

// The place of the largest number; -1: there is none.
function largest(list) {
    let at = -1;
    list.forEach((value, i) => { if (value && (at < 0 || value > list[at])) at = i; });
    return at;
}

const mix = (share, colour) => "color-mix(in srgb, var(" + colour + ") " + Math.round(85 * share) + "%, var(--sunken))";

const reasonColours = {};
function reasonColour(why) {
    if (!(why in reasonColours)) reasonColours[why] = "--c" + (Object.keys(reasonColours).length % 10);
    return reasonColours[why];
}

function smColour(sm, old) {
    const how = byId("colour").value;
    if (how === "use") return sm.warps ? mix(0.2 + 0.8 * sm.warps / sm.most, "--c0") : "var(--sunken)"; // one warp is seen
    if (how === "issue") {
        const cycles = before ? state.cycle - before.cycle : 0;
        const issued = old && cycles > 0 ? (sm.instructions - old.instructions) / cycles / 4 : 0;
        return mix(Math.max(0, Math.min(1, issued)), "--c2");
    }
    const why = largest(sm.why);
    return why < 0 ? "var(--sunken)" : mix(0.8, reasonColour(why));
}

function smTitle(sm, name) {
    const why = largest(sm.why);
    return name + ": " + sm.blocks + " blocks, " + sm.warps + " of " + sm.most + " warps" +
        (why >= 0 ? ", most: " + state.reasons[why].name : "");
}

function sliceColour(slice, old) {
    if (slice.blocked) return mix(0.8, "--c3");
    const moved = old ? slice.sectors - old.sectors : 0, cycles = before ? state.cycle - before.cycle : 0;
    const use = cycles > 0 ? Math.min(1, moved / cycles) : 0;
    return slice.busy ? mix(Math.max(0.5, use), "--c1") : mix(use, "--c1");
}

// Tiles are made once for a shape of the machine, and coloured again and again: the keyboard's place stays.
let tiles = [];
function tile(label, name) {
    const button = make("button", label, { type: "button", "aria-pressed": "false", tabindex: tiles.length ? "-1" : "0" });
    button.addEventListener("click", () => choose(name));
    button.addEventListener("focus", () => { setFocus(button); });
    button.dataset.name = name;
    tiles.push(button);
    return button;
}

function setFocus(button) {
    if (focused) focused.tabIndex = -1;
    else if (tiles.length) tiles[0].tabIndex = -1;
    focused = button;
    button.tabIndex = 0;
}

let shape = "";
function makeMap() {
    const now = state.gpus.map((g) => g.sms.length + ":" + g.l2.map((m) => m.slices.length)).join();
    if (now === shape) return;
    shape = now;
    tiles = [];
    focused = null;
    const parts = [];
    state.gpus.forEach((gpu, g) => {
        const part = make("div");
        part.append(make("h3", "GPU " + g + ": SMs"));
        const sms = make("div", null, { class: "tiles", role: "group", "aria-label": "SMs of GPU " + g });
        gpu.sms.forEach((sm, i) => sms.append(tile(i, "gpu[" + g + "].sm[" + i + "]")));
        part.append(sms);
        gpu.l2.forEach((memory, m) => {
            part.append(make("h3", (gpu.l2.length > 1 ? "member " + m + ": " : "") + "slices of the L2"));
            const slices = make("div", null, { class: "tiles", role: "group", "aria-label": "slices of GPU " + g });
            memory.slices.forEach((slice, i) => slices.append(tile(i, slice.part)));
            part.append(slices);
        });
        parts.push(part);
    });
    const maps = make("div", null, { class: "maps" });
    maps.append(...parts);
    fill(byId("map"), [maps]);
}

function showMap() {
    makeMap();
    let at = 0;
    const used = new Set();
    state.gpus.forEach((gpu, g) => {
        const old = before && before.gpus[g];
        gpu.sms.forEach((sm, i) => {
            const button = tiles[at++], why = largest(sm.why);
            if (why >= 0) used.add(why);
            button.style.background = smColour(sm, old && old.sms[i]);
            button.title = smTitle(sm, "SM " + i);
            button.setAttribute("aria-label", button.title);
        });
        gpu.l2.forEach((memory, m) => memory.slices.forEach((slice, i) => {
            const button = tiles[at++], was = old && old.l2[m] && old.l2[m].slices[i];
            button.style.background = sliceColour(slice, was);
            button.title = "slice " + i + " (" + slice.part + "): " + (slice.blocked ? "full" : slice.busy ? "busy" : "idle") +
                ", " + slice.waiting + " requests in its part";
            button.setAttribute("aria-label", button.title);
        }));
    });
    for (const button of tiles) button.setAttribute("aria-pressed", String(button.dataset.name === chosen));
    showLegend(used);
}

function legendItem(colour, text) {
    const item = make("span"), box = make("i");
    box.style.background = colour;
    item.append(box, text);
    return item;
}

function showLegend(used) {
    const how = byId("colour").value, items = [];
    if (how === "use") items.push(legendItem(mix(0, "--c0"), "no warps"), legendItem(mix(1, "--c0"), "full"));
    else if (how === "issue") items.push(legendItem(mix(0, "--c2"), "none"), legendItem(mix(1, "--c2"), "4 in a cycle"));
    else for (const why of [...used].sort((a, b) => a - b))
        items.push(legendItem(mix(0.8, reasonColour(why)), state.reasons[why].name + " (" + state.reasons[why].help + ")"));
    items.push(legendItem(mix(0.8, "--c1"), "busy slice"), legendItem(mix(0.8, "--c3"), "full slice"));
    fill(byId("legend"), items);
}

// Of a machine that several programs are attached to, these are there instead of one program's streams.
function showPrograms() {
    byId("streams-title").textContent = "Programs";
    const rows = state.programs.map((p) => [p.number, p.state, whole(p.running), whole(p.waiting), p.node]);
    fill(byId("streams"), table(["program", "state", "under way#", "not begun#", "node#"], rows, "No program is attached."));
}

function showStreams() {
    if (state.programs) return showPrograms();
    const rows = state.streams.map((s) => {
        const waits = s.queue.flatMap((c) => c.waits.map((w) => "stream " + w.stream + " (command " + w.number + ")"));
        return ["GPU " + s.gpu, s.id, whole(s.done) + " of " + whole(s.submitted), s.queue.map((c) => c.kind).join(", "),
            waits.join(", ")];
    });
    fill(byId("streams"), table(["~GPU", "stream", "done#", "queue", "waits for"], rows, "No stream has anything to do."));
}

function showTables() {
    fill(byId("waits"), table(["who", "for"], state.waits.slice(0, 60).map((w) => [w.who, w.what]),
        "No part of the machine waits for room or for another."));
    const rows = state.links.map((link, i) => {
        const old = before && before.links[i], ps = before ? state.time_ps - before.time_ps : 0;
        const share = (way) => old && ps > 0
            ? Math.min(100, 100 * (link.busy_ps[way] - old.busy_ps[way]) / ps).toFixed(0) + "%" : "";
        return [link.name, size(link.bytes[0]), share(0), size(link.bytes[1]), share(1)];
    });
    fill(byId("links"), table(["link", "there#", "busy#", "back#", "busy#"], rows, "There is one GPU, and no fabric."));
    fill(byId("notes"), state.notes.length ? state.notes.map((text) => make("li", text))
        : [make("li", "None.", { class: "calm" })]);
}

function show() {
    showHead();
    showWhy();
    showKernels();
    showMap();
    showStreams();
    showTables();
}

// ---- a component ----

async function choose(name) {
    chosen = name;
    byId("inspector").hidden = false;
    byId("inspector-title").textContent = name;
    await showComponent();
    showMap();
}

function close() {
    chosen = null;
    byId("inspector").hidden = true;
    if (focused) focused.focus();
    if (state) showMap();
}

async function showComponent() {
    let parts;
    try {
        const one = await ask("component?name=" + encodeURIComponent(chosen));
        byId("inspector-title").textContent = one.name + " (" + one.type + ")";
        parts = [];
        if (one.why) {
            const rows = one.why.map((count, i) => [state.reasons[i].name, state.reasons[i].help, count]).filter((r) => r[2]);
            parts.push(make("p", one.blocks + " blocks, " + one.warps + " warps"),
                ...table(["warps now", "~meaning", "warps#"], rows, "No warps."));
            for (const where of one.where) parts.push(make("pre", where, { class: "where" }));
        }
        const all = one.counters || [], counters = all.filter((c) => c.value).map((c) => [c.name, whole(c.value), c.unit, c.help]);
        if (counters.length) parts.push(...table(["counter", "value#", "unit", "~meaning"], counters, ""));
        if (all.length > counters.length)
            parts.push(make("p", counters.length ? "The other counters are 0." : "All counters are 0.", { class: "faint" }));
        const ports = (one.ports || []).filter((p) => p.holds).map((p) => [p.number, whole(p.holds)]);
        if (ports.length) parts.push(...table(["port", "messages held#"], ports, ""));
        if (!parts.length) parts.push(make("p", "Nothing is counted here.", { class: "faint" }));
    } catch (error) {
        parts = [make("p", error.message, { class: "bad" })];
    }
    fill(byId("component"), parts);
}

// ---- what the user does ----

function save() {
    const blob = new Blob([JSON.stringify(state, null, 1)], { type: "application/json" });
    const link = make("a", null, { download: "heddle-live-" + state.cycle + ".json", href: URL.createObjectURL(blob) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function nextTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    byId("theme").textContent = isDark ? "Dark" : "Light";
}

byId("pause").addEventListener("click", () => tell({ order: "pause" }));
byId("go").addEventListener("click", () => tell({ order: "go" }));
byId("step").addEventListener("click", () => tell({ order: "step", count: 1 }));
byId("checkpoint").addEventListener("click", () => tell({ order: "checkpoint" }));
byId("until").addEventListener("submit", (event) => {
    event.preventDefault();
    const cycle = Number(byId("cycle").value);
    if (cycle >= 1) tell({ order: "until", count: Math.floor(cycle) });
});
byId("colour").addEventListener("change", () => { if (state) showMap(); });
byId("save").addEventListener("click", () => { if (state) save(); });
byId("theme").addEventListener("click", nextTheme);
byId("close").addEventListener("click", close);
byId("parameters").addEventListener("toggle", async () => {
    if (byId("parameters").open && !byId("description").firstChild)
        byId("description").textContent = (await ask("parameters")).description;
});

// Arrows go from tile to tile; letters are the buttons', but not in a field.
document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.altKey || event.metaKey) return;
    const button = { p: "pause", g: "go", s: "step" }[event.key];
    if (button && !byId(button).disabled) {
        byId(button).click();
        event.preventDefault();
    }
    if (event.key === "Escape" && chosen) close();
    const at = tiles.indexOf(document.activeElement);
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at >= 0 && by && tiles[at + by]) {
        tiles[at + by].focus();
        event.preventDefault();
    }
});

if (matchMedia("(prefers-color-scheme: dark)").matches) byId("theme").textContent = "Light";
const timer = setInterval(refresh, EVERY_MS);
refresh();
