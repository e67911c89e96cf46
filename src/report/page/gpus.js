/* Several GPUs: the fabric with its links, and pages that moved. */

/* What a link connects: its name says so, or the description, where `gpu*` makes a link of each GPU. */
function linkEnds(run, name) {
    const bus = name.endsWith(".bus"), base = bus ? name.slice(0, -4) : name;
    const section = Object.keys(run.config).filter((key) => key.startsWith("fabric.link.") && base.startsWith(key.slice(12)) && /^\d*$/.test(base.slice(key.length - 12)))
        .sort((a, b) => b.length - a.length)[0];
    const words = section ? String(run.config[section].ends).trim().split(/\s+/).map((word) => word.replace(/\*$/, base.slice(section.length - 12))) : base.split("-");
    const ends = words.length === 2 ? words : [base, "?"];
    if (bus) return [`bus ${base}`, ends[1]];
    return run.links.some((link) => link.name === `${base}.bus`) ? [ends[0], `bus ${base}`] : ends;
}

function fabricMap(run) {
    const links = run.links, time = run.time_ps || 1;
    const ends = (link) => linkEnds(run, link.name);
    const nodes = [...new Set(links.flatMap(ends))];
    const isOuter = (node) => /^(gpu\d+|host|.*\.gpu\d+)$/.test(node);
    const outer = nodes.filter(isOuter), inner = nodes.filter((node) => !isOuter(node));
    const width = 640, height = 420, places = new Map();
    outer.forEach((node, i) => {
        const angle = (2 * Math.PI * i) / outer.length - Math.PI / 2;
        places.set(node, [width / 2 + 250 * Math.cos(angle), height / 2 + 165 * Math.sin(angle)]);
    });
    inner.forEach((node, i) => {
        const angle = (2 * Math.PI * i) / inner.length - Math.PI / 3, part = inner.length > 1 ? 1 : 0;
        places.set(node, [width / 2 + 105 * part * Math.cos(angle), height / 2 + 62 * part * Math.sin(angle)]);
    });
    const share = (link) => (100 * Math.max(...link.busy_ps)) / time;
    const top = Math.max(...links.map(share), 1e-9);
    const parts = links.map((link) => {
        const [a, b] = ends(link).map((node) => places.get(node) || [width / 2, height / 2]);
        return titled(draw("path", { d: `M${a}L${b}`, stroke: share(link) > 0 ? colour(1) : "var(--line)", "stroke-width": 1.5 + (7 * share(link)) / top, "stroke-linecap": "round", "data-link": link.name }),
            `${link.name}: ${numbers.text(link.bytes[0], "byte")} and ${numbers.text(link.bytes[1], "byte")} back, busy ${share(link).toFixed(2)} % of the time`);
    });
    for (const [node, [x, y]] of places)
        parts.push(draw("rect", { class: "box", x: x - 36, y: y - 15, width: 72, height: 30, rx: 6 }), label(x, y + 4, "middle", node, "strong"));
    return wideCard("Fabric", el("p", { class: "note" }, "Thicker: the link was busy for longer, in its busier direction."), el("div", { style: "max-width:40rem;margin:0 auto" }, drawing(width, height, `Map of the fabric: ${links.length} links, ${outer.length} GPUs and hosts; the table below has the figures`, parts)));
}

function linkTable(run) {
    const rows = run.links.map((link) => ({ link }));
    const both = (name, unit, back) => ({ name: `${name}${back ? ", back" : ""}`, unit: unit === "byte" ? "" : unit, value: (row) => row.link[name === "bytes" ? "bytes" : "messages"][back], show: (row) => numbers.text(row.link[name === "bytes" ? "bytes" : "messages"][back], unit) });
    return wideCard("Links", sortedTable("Links of the fabric", [
        { name: "link", text: true, value: (row) => row.link.name },
        { name: "bandwidth", value: (row) => row.link.bytes_per_s, show: (row) => numbers.text(row.link.bytes_per_s, "byte/s") },
        both("bytes", "byte", 0), both("bytes", "byte", 1), both("messages", "", 0), both("messages", "", 1),
        { name: "busy", unit: "%", value: (row) => (100 * Math.max(...row.link.busy_ps)) / (run.time_ps || 1), show: (row) => ((100 * Math.max(...row.link.busy_ps)) / (run.time_ps || 1)).toFixed(3) },
    ], rows, { what: "links", first: 6 }).element);
}

/* ---- over time ---- */

/* Parts that have samples only where they did something, as lists of all samples. */
const timesOf = (series) => (series && series.gpus.length ? series.gpus[0].time_ps : []);
function filled(part, row, count) {
    const values = new Array(count).fill(0);
    part.samples.forEach((at, i) => { values[at] = part.values[row][i]; });
    return values;
}
const samplesNote = (series, what) => `${series.gpus[0].samples_of_point > 1 ? `Each point is the mean of ${series.gpus[0].samples_of_point} samples of` : "Samples of"} ${numbers.plain(series.cycles)} cycles. ${what}`;

function linksOverTime(run) {
    const series = run.series, times = timesOf(series);
    if (!series || !series.links || !times.length) return run.links.length ? wideCard("Links over time", el("p", { class: "note" }, "No samples: run with --series CYCLES to see when each link was busy.")) : null;
    const ways = series.links.list.flatMap((link) => [0, 1].map((back) => {
        const [a, b] = linkEnds(run, link.name);
        return { link: link.name, name: back ? `${b} to ${a}` : `${a} to ${b}`, values: filled(link, back, times.length), traffic: filled(link, 2 + back, times.length), paint: colour(back) };
    })).filter((way) => way.values.some((value) => value > 0));
    const spans = times.map((time, i) => time - (i ? times[i - 1] : 0)), all = times[times.length - 1];
    const mean = (values) => values.reduce((sum, value, i) => sum + value * spans[i], 0) / all;
    for (const way of ways) {
        way.peak = Math.max(...way.values);
        way.at = way.values.indexOf(way.peak);
        way.mean = mean(way.values);
        way.bytes = mean(way.traffic);
    }
    const top = Math.max(...ways.map((way) => way.peak), 1e-9), unit = series.links.rows[0][1], most = 32;
    const drawn = [...ways].sort((a, b) => b.mean - a.mean).slice(0, most), shown = ways.filter((way) => drawn.includes(way));
    return [
        wideCard("Links over time", el("p", { class: "note" }, samplesNote(series, `Height: how busy a link was that way, of ${numbers.text(top, unit)} at most; the number at the right is its highest.`)),
            strips("Use of links over time, a strip for each way of a link; the table below has the figures", times, shown, unit, top),
            ways.length > most ? el("p", { class: "note" }, `The ${most} busiest of ${ways.length} ways.`) : null,
            series.links.left_out ? el("p", { class: "note" }, `${series.links.left_out} links that carried less are left out.`) : null),
        wideCard("Links by use", sortedTable("Use of links over time", [
            { name: "way", text: true, value: (way) => way.name }, { name: "link", text: true, value: (way) => way.link },
            { name: "mean", unit, help: series.links.rows[0][2], value: (way) => way.mean, show: (way) => way.mean.toFixed(3) },
            { name: "highest", unit, help: `${series.links.rows[0][2]}: of all samples`, value: (way) => way.peak, show: (way) => way.peak.toFixed(2) },
            { name: "until", help: "end of the sample with the highest use", value: (way) => times[way.at], show: (way) => numbers.text(times[way.at], "ps") },
            { name: "mean traffic", help: series.links.rows[2][2], value: (way) => way.bytes, show: (way) => numbers.text(way.bytes, "byte/s") },
        ], ways, { what: "ways", first: 2 }).element)];
}

/* Pages and managed memory by GPU: of samples, if the run has them, or launch by launch, added up. */
function pagesOverTime(run) {
    const series = run.series, times = timesOf(series);
    if (!series || !series.pages || !times.length) return null;
    return series.pages.rows.map(([name, unit, help], row) => {
        const lines = series.pages.list.map((part) => ({ name: part.name, values: filled(part, row, times.length) })).filter((line) => line.values.some((value) => value > 0));
        if (!lines.length) return null;
        const made = card(`${name} over time`, el("p", { class: "note" }, samplesNote(series, `In each: ${help}.`)), overTime(`${name} over time, by GPU`, times, lines, unit));
        made.setAttribute("data-pages", name);
        return made;
    });
}

function pageSums(run) {
    const launches = run.launches;
    return ["heddle__pages_received.sum", "heddle__page_bytes.sum", "heddle__managed_faults.sum", "heddle__managed_bytes_in.sum", "heddle__peer_bytes.sum"].map((name) => {
        const values = launches.metrics[name], row = rowOf(name);
        if (!values) return null;
        const order = launches.end_ps.map((time, i) => [time, values[i], launches.device[i]]).sort((a, b) => a[0] - b[0]);
        const times = order.map((entry) => entry[0]), devices = [...new Set(order.map((entry) => entry[2]))].sort((a, b) => a - b);
        const lines = devices.map((device) => {
            let sum = 0;
            return { name: `GPU ${device}`, values: order.map((entry) => (sum += entry[2] === device ? entry[1] : 0)) };
        });
        return card(row[2], el("p", { class: "note" }, `${name}, added up as launches ended`), overTime(`${row[2]}, by GPU`, times, lines, row[1]));
    });
}

const hasGpus = (run) => run.links.length > 0 || Boolean(run.series && run.series.pages) || ["heddle__pages_received.sum", "heddle__managed_faults.sum", "heddle__peer_bytes.sum"].some((name) => run.launches.metrics[name]);

const gpusView = (run) => el("div", { class: "grid" }, run.links.length ? [fabricMap(run), linkTable(run), linksOverTime(run)] : null, pagesOverTime(run), pageSums(run));
