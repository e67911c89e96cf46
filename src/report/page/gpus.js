/* Several GPUs: the fabric with its links, and pages that moved. */

function fabricMap(run) {
    const links = run.links, time = run.time_ps || 1;
    const ends = (link) => link.name.split("-");
    const nodes = [...new Set(links.flatMap(ends))];
    const outer = nodes.filter((node) => !/^switch/.test(node)), inner = nodes.filter((node) => /^switch/.test(node));
    const width = 640, height = 420, places = new Map();
    outer.forEach((node, i) => {
        const angle = (2 * Math.PI * i) / outer.length - Math.PI / 2;
        places.set(node, [width / 2 + 250 * Math.cos(angle), height / 2 + 165 * Math.sin(angle)]);
    });
    inner.forEach((node, i) => places.set(node, [width / 2 + (i - (inner.length - 1) / 2) * 110, height / 2]));
    const share = (link) => (100 * Math.max(...link.busy_ps)) / time;
    const top = Math.max(...links.map(share), 1e-9);
    const parts = links.map((link) => {
        const [a, b] = ends(link).map((node) => places.get(node) || [width / 2, height / 2]);
        return titled(draw("path", { d: `M${a}L${b}`, stroke: share(link) > 0 ? colour(1) : "var(--line)", "stroke-width": 1.5 + (7 * share(link)) / top, "stroke-linecap": "round", "data-link": link.name }),
            `${link.name}: ${numbers.text(link.bytes[0], "byte")} and ${numbers.text(link.bytes[1], "byte")} back, busy ${share(link).toFixed(2)} % of the time`);
    });
    for (const [node, [x, y]] of places)
        parts.push(draw("rect", { class: "box", x: x - 36, y: y - 15, width: 72, height: 30, rx: 6 }), label(x, y + 4, "middle", node, "strong"));
    return wideCard("Fabric", el("p", { class: "note" }, "Thicker: the link was busy for longer, in its busier direction."), el("div", { style: "max-width:40rem;margin:0 auto" }, drawing(width, height, "Map of the fabric", parts)));
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

/* Pages and managed memory, launch by launch, added up over time. */
function pageCards(run) {
    const launches = run.launches;
    return ["heddle__pages_received.sum", "heddle__page_bytes.sum", "heddle__managed_faults.sum", "heddle__managed_bytes_in.sum", "heddle__peer_bytes.sum"].map((name) => {
        const values = launches.metrics[name], row = rowOf(name);
        if (!values) return null;
        const order = launches.end_ps.map((time, i) => [time, values[i]]).sort((a, b) => a[0] - b[0]);
        let sum = 0;
        const times = order.map((entry) => entry[0]), sums = order.map((entry) => (sum += entry[1]));
        return card(row[2], el("p", { class: "note" }, `${name}, added up as launches ended`), overTime(row[2], times, [{ name: row[2], values: sums }], row[1]));
    });
}

const hasGpus = (run) => (run.links && run.links.length > 0) || ["heddle__pages_received.sum", "heddle__managed_faults.sum", "heddle__peer_bytes.sum"].some((name) => run.launches.metrics[name]);

const gpusView = (run) => el("div", { class: "grid" }, run.links && run.links.length ? [fabricMap(run), linkTable(run)] : null, pageCards(run));
