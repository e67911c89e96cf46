/* What happened when: launches over time, and samples of the whole GPU. */

function launchChart(run) {
    const launches = run.launches, count = launches.kernel.length;
    if (!count || !run.time_ps) return null;
    const lanes = new Map();
    for (let i = 0; i < count; i++) {
        const lane = `${launches.device[i]}:${launches.stream[i]}`;
        if (!lanes.has(lane)) lanes.set(lane, [launches.device[i], launches.stream[i], []]);
        lanes.get(lane)[2].push(i);
    }
    const list = [...lanes.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 32);
    const left = 108, width = 960, row = 26, height = 24 + row * list.length + 26, end = Math.max(run.time_ps, ...launches.end_ps);
    const x = (time) => left + ((width - left - 12) * time) / end;
    const parts = ticks(end, 8).map((tick) => [draw("path", { class: "grid-line", d: `M${x(tick)} 10V${height - 24}` }), label(x(tick), height - 6, "middle", numbers.text(tick, "ps"), "small")]);
    list.forEach(([device, stream, own], lane) => {
        const y = 16 + lane * row;
        parts.push(label(left - 10, y + 14, "end", `GPU ${device}, stream ${stream}`, "small"));
        /* what is closer than half a pixel is one bar */
        let from = -1, to = -1, kind = -1, names = 0;
        const flush = () => {
            if (from < 0) return;
            parts.push(titled(draw("rect", { x: from.toFixed(2), y, width: Math.max(to - from, 0.8).toFixed(2), height: row - 8, fill: colour(kind), rx: 1.5 }),
                names > 1 ? `${names} launches` : run.kernels[kind].name));
        };
        for (const i of own) {
            const a = x(launches.start_ps[i]), b = x(launches.end_ps[i]);
            if (from >= 0 && a - to < 0.5 && b - a < 0.5) { to = Math.max(to, b); names++; continue; }
            flush();
            [from, to, kind, names] = [a, b, launches.kernel[i], 1];
        }
        flush();
    });
    const kinds = [...new Set(launches.kernel)].slice(0, 12);
    const made = wideDrawing(36, drawing(width, height, `Launches over simulated time, by GPU and stream: ${list.map(([device, stream, own]) => `GPU ${device}, stream ${stream}: ${numbers.plain(own.length)}`).join("; ")}`, parts));
    return wideCard("Launches over time", made,
        key(kinds.map((kind) => [run.kernels[kind].name, colour(kind)])),
        new Set(launches.kernel).size > kinds.length ? el("p", { class: "note" }, "Colours repeat: the key has the first kernels.") : null,
        launches.count > count ? el("p", { class: "note" }, `The first ${numbers.plain(count)} of ${numbers.plain(launches.count)} launches.`) : null);
}

/* A card for each row of samples; a line for each GPU. */
function seriesCards(run) {
    const series = run.series;
    if (!series || !series.gpus.length) return el("p", { class: "note" }, "No samples over time: run with --series CYCLES to see issue rate, blocks, DRAM and fabric use as they change.");
    const grouped = series.gpus[0].samples_of_point;
    return [grouped > 1 ? el("p", { class: "note card wide" }, `Each point is the mean of ${grouped} samples.`) : null, series.rows.map((row, column) => {
        const lines = series.gpus.map((gpu) => ({ name: `GPU ${gpu.gpu}`, values: gpu.values[column] }));
        if (!lines.some((line) => line.values.some((value) => value > 0))) return null;
        const made = card(row[0], el("p", { class: "note" }, row[2]), overTime(`${row[0]} over time`, series.gpus[0].time_ps, lines, row[1]));
        made.setAttribute("data-series", row[0]);
        return made;
    })];
}

function activityView(run) {
    return [launchChart(run), el("div", { style: "height:1rem" }), run.series ? el("p", { class: "note" }, `Samples of every ${numbers.plain(run.series.cycles)} cycles in which a kernel or copy was under way.`) : null,
        el("div", { class: "grid" }, seriesCards(run))];
}
