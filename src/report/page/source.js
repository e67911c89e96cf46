/* The source view: lines of the program, or of its code, with what warps did there. */

const PLACE = { file: 0, line: 1, module: 2, at: 3, instruction: 4, function: 5, counters: 6 };

/* Sums by line: of the source file `file`, or of the module `module`. */
function byLine(run, kernel, source) {
    const isFile = source.kind === "file", names = isFile ? run.files : run.modules;
    const number = names.indexOf(source.name), lines = new Map();
    for (const place of kernel.places || []) {
        if (place[isFile ? PLACE.file : PLACE.module] !== number) continue;
        const at = place[isFile ? PLACE.line : PLACE.at];
        let sum = lines.get(at);
        if (!sum) lines.set(at, (sum = { counters: new Array(DATA.counters.length).fill(0), stalls: new Map(), waited: 0 }));
        DATA.counters.forEach((_, i) => { sum.counters[i] += place[PLACE.counters + i]; });
        const stalls = place[PLACE.counters + DATA.counters.length];
        for (let i = 0; i < stalls.length; i += 2) {
            sum.stalls.set(stalls[i], (sum.stalls.get(stalls[i]) || 0) + stalls[i + 1]);
            if (DATA.stalls[stalls[i]][0] !== "selected") sum.waited += stalls[i + 1];
        }
    }
    return lines;
}

function mostOf(sum) {
    let most = null;
    for (const [stall, cycles] of sum.stalls)
        if (DATA.stalls[stall][0] !== "selected" && (!most || cycles > most[1])) most = [stall, cycles];
    return most;
}

function sourceTable(run, kernel, source) {
    if (source.missing) return el("p", { class: "note" }, `${source.name}: ${source.missing}.`);
    const sums = byLine(run, kernel, source);
    const all = [...sums.values()].reduce((sum, line) => sum + line.waited, 0) || 1;
    const top = Math.max(...[...sums.values()].map((line) => line.waited), 1);
    const used = [...sums.keys()].filter((at) => at > 0);
    const from = Math.min(...used) - (source.kind === "file" ? 10 : 4), to = Math.max(...used) + (source.kind === "file" ? 6 : 3);
    const counter = (name) => DATA.counters.findIndex((row) => row[0] === name);
    const issued = counter("issued"), sectors = counter("sectors"), extra = counter("extra_sectors");
    const help = (i) => DATA.counters[i][1];
    const rows = [];
    source.at.forEach((at, i) => {
        if (at < from || at > to) return;
        const sum = sums.get(at), most = sum && mostOf(sum), share = sum ? sum.waited / all : 0;
        rows.push(el("tr", { class: share >= 0.1 ? "hot" : null, "data-line": at },
            el("td", { class: "n" }, source.kind === "module" && source.isCode ? at.toString(16) : at),
            el("td", { class: "line", title: source.text[i].length > 76 ? source.text[i] : null }, source.text[i].replace(/\t/g, "    ")),
            el("td", { class: "n" }, share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : ""),
            el("td", {}, share ? el("span", { class: "heat", style: `width:${(5 * sum.waited) / top}rem` }) : ""),
            el("td", { title: most ? DATA.stalls[most[0]][1] : null }, most && share >= 0.0005 ? DATA.stalls[most[0]][0] : ""),
            el("td", { class: "n" }, sum && sum.counters[issued] ? numbers.plain(sum.counters[issued]) : ""),
            el("td", { class: "n" }, sum && sum.counters[sectors] ? numbers.plain(sum.counters[sectors]) : ""),
            el("td", { class: "n" }, sum && sum.counters[extra] ? numbers.plain(sum.counters[extra]) : "")));
    });
    return el("div", { class: "source", tabindex: 0, role: "region", "aria-label": `Source ${source.name}` }, el("table", {},
        el("thead", {}, el("tr", {}, ["line", source.name.replace(/.*\//, "")].map((name) => el("th", { scope: "col" }, name)),
            el("th", { scope: "col", class: "n", title: "share of the time that warps waited" }, "waiting"), el("th", { scope: "col" }, el("span", { class: "visually-hidden" }, "as a bar")),
            el("th", { scope: "col", title: "why warps waited most" }, "for"),
            el("th", { scope: "col", class: "n", title: help(issued) }, "instructions"),
            el("th", { scope: "col", class: "n", title: help(sectors) }, "sectors"),
            el("th", { scope: "col", class: "n", title: help(extra) }, "extra"))),
        el("tbody", {}, rows)));
}

function sourceView(run, kernel) {
    if (!kernel.places) return el("p", { class: "note" }, "The run has no profile of this kernel: profiles are part of runs in timing mode.");
    const used = run.sources.filter((source) => byLine(run, kernel, source).size);
    if (!used.length) return el("p", { class: "note" }, "The report was made without sources.");
    const shown = el("div", {});
    const show = (number) => shown.replaceChildren(sourceTable(run, kernel, used[number]));
    const first = Math.max(0, used.findIndex((source) => !source.missing));
    show(first);
    const choice = el("select", { "aria-label": "Source to show", onchange: (event) => show(Number(event.target.value)) },
        used.map((source, i) => el("option", { value: i, selected: i === first }, source.name)));
    return [used.length > 1 ? el("div", { class: "row no-print" }, el("label", {}, "Source ", choice)) : null, shown,
        el("p", { class: "note" }, "Waiting: cycles that warps spent at the line without issuing, of all such cycles of the kernel. Extra sectors are those beyond what the bytes would fill if they were contiguous.")];
}
