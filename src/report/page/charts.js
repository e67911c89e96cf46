/* Charts: bars, lines over time, a roofline. */

/* Rows of { name, value, unit, help, paint }, of at most `most`. */
function bars(rows, most, caption) {
    const top = most || Math.max(...rows.map((row) => row.value), 1e-12);
    return el("div", { class: "bars", role: "table", "aria-label": caption }, rows.map((row) => el("div", { role: "row", style: "display:contents" },
        el("span", { role: "rowheader", title: row.help, class: row.help ? "help" : null }, row.name),
        el("div", { class: "track", role: "presentation" },
            el("div", { class: "fill", style: `width:${Math.max(0, Math.min(100, (100 * row.value) / top))}%;background:${row.paint || colour(0)}` })),
        el("span", { role: "cell", class: "value" }, numbers.text(row.value, row.unit)))));
}

const power = (value) => Math.pow(10, Math.floor(Math.log10(value)));

/* 1, 2 or 5 times a power of ten, about `count` of them from 0 to `most`. */
function ticks(most, count) {
    if (!(most > 0)) return [0, 1];
    const step = most / count, base = power(step);
    const nice = [1, 2, 5, 10].find((n) => n * base >= step * 0.999) * base;
    const all = [];
    for (let at = 0; at <= most * 1.0001; at += nice) all.push(at);
    return all;
}

const frame = { width: 640, height: 230, left: 62, right: 14, top: 12, bottom: 34 };

/* For those who do not see it: the least and the most of a line, when, and at the end. */
function lineInWords(times, line, unit) {
    if (!times.length) return "";
    const say = (value) => numbers.text(value, unit), most = line.values.reduce((a, b) => Math.max(a, b)), least = line.values.reduce((a, b) => Math.min(a, b));
    return `${line.name}: from ${say(least)} to ${say(most)}, most at ${numbers.text(times[line.values.indexOf(most)], "ps")}; ${say(line.values[line.values.length - 1])} at the end.`;
}

/* Numbers of an axis: as many digits as its steps need; a long unit stands once, above them. */
const isLong = (unit) => Boolean(unit) && unit.length > 3 && numbers.withUnit(1, unit)[1] === unit;
function tickText(value, step, unit) {
    if (unit !== "%" && !isLong(unit)) return numbers.text(value, unit);
    const digits = Math.min(6, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + (isLong(unit) ? "" : "\u00a0%");
}

/* Lines over time. times: ps; lines: { name, values, paint }; unit of the values. */
function overTime(title, times, lines, unit, most) {
    const f = frame, end = times.length ? times[times.length - 1] : 1;
    const top = most || Math.max(...lines.map((line) => line.values.reduce((a, b) => Math.max(a, b), 0)), 1e-12);
    const x = (time) => f.left + ((f.width - f.left - f.right) * time) / end;
    const y = (value) => f.height - f.bottom - ((f.height - f.top - f.bottom) * Math.min(value, top)) / top;
    const parts = [], all = ticks(top, 4);
    for (const tick of all)
        parts.push(draw("path", { class: "grid-line", d: `M${f.left} ${y(tick)}H${f.width - f.right}` }),
            label(f.left - 8, y(tick) + 4, "end", tickText(tick, all[1], unit), "small"));
    if (isLong(unit)) parts.push(label(f.left + 4, f.top + 8, "start", unit, "small"));
    for (const tick of ticks(end, 5))
        parts.push(label(x(tick), f.height - f.bottom + 18, "middle", numbers.text(tick, "ps"), "small"));
    parts.push(draw("path", { class: "axis", d: `M${f.left} ${y(0)}H${f.width - f.right}` }));
    lines.forEach((line, number) => {
        /* a value is of the time since the one before: steps */
        let path = `M${x(0).toFixed(1)} ${y(line.values[0] || 0).toFixed(1)}`;
        times.forEach((time, i) => { path += `V${y(line.values[i]).toFixed(1)}H${x(time).toFixed(1)}`; });
        parts.push(titled(draw("path", { d: path, fill: "none", stroke: line.paint || colour(number), "stroke-width": 1.5, "stroke-linejoin": "round" }), line.name));
    });
    return [wideDrawing(24, drawing(f.width, f.height, `${title}. ${lines.map((line) => lineInWords(times, line, unit)).join(" ")}`, parts)), lines.length > 1 ? key(lines.map((line, i) => [line.name, line.paint || colour(i)])) : null];
}

/* A strip for each row, one under the other: the height in it is the value. rows: { name, values, paint }. */
function strips(title, times, rows, unit, most) {
    const row = 24, f = { width: 960, left: 150, right: 66, top: 8 }, height = f.top + row * rows.length + 26, end = times.length ? times[times.length - 1] : 1;
    const x = (time) => f.left + ((f.width - f.left - f.right) * time) / end, parts = [];
    for (const tick of ticks(end, 8))
        parts.push(draw("path", { class: "grid-line", d: `M${x(tick)} ${f.top}V${height - 24}` }), label(x(tick), height - 6, "middle", numbers.text(tick, "ps"), "small"));
    rows.forEach(({ name, values, paint }, number) => {
        const floor = f.top + row * (number + 1) - 3, y = (value) => (floor - ((row - 5) * Math.min(value, most)) / most).toFixed(1);
        let path = `M${x(0).toFixed(1)} ${floor}`, at = 0;
        times.forEach((time, i) => {
            /* where nothing changes, the path goes on */
            if (values[i] !== at) path += `H${x(i ? times[i - 1] : 0).toFixed(1)}V${y(values[i])}`;
            at = values[i];
        });
        path += `H${x(end).toFixed(1)}V${floor}Z`;
        parts.push(draw("path", { class: "grid-line", d: `M${f.left} ${floor}H${f.width - f.right}` }), label(f.left - 8, floor - 3, "end", name, "small"),
            titled(draw("path", { d: path, fill: paint, "data-strip": name }), name), label(f.width - f.right + 6, floor - 3, "start", numbers.text(Math.max(...values), unit), "small"));
    });
    return wideDrawing(36, drawing(f.width, height, title, parts));
}

/* roofs: { name, flops } (a second), bandwidth (bytes a second), points: { name, intensity, flops, paint } */
function roofline(roofs, bandwidth, points) {
    const f = { width: 560, height: 330, left: 76, right: 18, top: 16, bottom: 46 };
    if (!roofs.length || !(bandwidth > 0)) return el("p", { class: "note" }, "The run's file does not say what the GPU's units and memory can do.");
    const peak = Math.max(...roofs.map((roof) => roof.flops));
    const intensities = points.map((point) => point.intensity).concat(peak / bandwidth);
    const x0 = Math.pow(10, Math.floor(Math.log10(Math.min(...intensities, 0.1)) - 0.01));
    const x1 = Math.pow(10, Math.ceil(Math.log10(Math.max(...intensities, 100)) + 0.2));
    const speeds = points.map((point) => point.flops).filter((flops) => flops > 0);
    const y1 = Math.pow(10, Math.ceil(Math.log10(Math.max(peak, ...speeds) * 1.3)));
    const y0 = Math.pow(10, Math.floor(Math.log10(Math.min(x0 * bandwidth, ...speeds) * 0.8)));
    const across = (f.width - f.left - f.right) / Math.log10(x1 / x0), up = (f.height - f.top - f.bottom) / Math.log10(y1 / y0);
    const x = (value) => f.left + Math.log10(Math.max(value, x0) / x0) * across;
    const y = (value) => f.height - f.bottom - Math.log10(Math.max(value, y0) / y0) * up;
    const parts = [];
    for (let at = x0; at <= x1 * 1.001; at *= 10)
        parts.push(draw("path", { class: "grid-line", d: `M${x(at)} ${f.top}V${f.height - f.bottom}` }),
            label(x(at), f.height - f.bottom + 17, "middle", at >= 1 ? numbers.plain(Math.round(at)) : String(Number(at.toPrecision(1))), "small"));
    for (let at = y0; at <= y1 * 1.001; at *= 10)
        parts.push(draw("path", { class: "grid-line", d: `M${f.left} ${y(at)}H${f.width - f.right}` }),
            label(f.left - 8, y(at) + 4, "end", numbers.text(at, "FLOP/s").replace(".00", ""), "small"));
    roofs.forEach((roof, i) => {
        const ridge = roof.flops / bandwidth;
        parts.push(draw("path", { d: `M${x(x0)} ${y(x0 * bandwidth)}L${x(ridge)} ${y(roof.flops)}H${x(x1)}`, fill: "none", stroke: colour(8), "stroke-width": 2, "stroke-dasharray": i ? "5 4" : null }),
            label(f.width - f.right - 4, y(roof.flops) - 6, "end", `${roof.name} ${numbers.text(roof.flops, "FLOP/s")}`, "small"));
    });
    const middle = Math.sqrt(x0 * Math.min(x1, peak / bandwidth)), angle = (-Math.atan2(up, across) * 180) / Math.PI;
    parts.push(draw("text", { transform: `translate(${x(middle)} ${y(middle * bandwidth) - 7}) rotate(${angle})`, "text-anchor": "middle", class: "small" }, `DRAM ${numbers.text(bandwidth, "byte/s")}`));
    for (const point of points)
        parts.push(titled(draw("circle", { cx: x(point.intensity), cy: y(point.flops), r: 5.5, fill: point.paint, stroke: "var(--raised)", "stroke-width": 1.5, "data-point": point.name, "data-flops": point.flops, "data-intensity": point.intensity }),
            `${point.name}: ${numbers.text(point.flops, "FLOP/s")} at ${numbers.plain(point.intensity)} FLOP/byte`));
    parts.push(label((f.left + f.width - f.right) / 2, f.height - 8, "middle", "floating-point operations for each byte of DRAM traffic", "small"));
    return [wideDrawing(24, drawing(f.width, f.height, `Roofline: operations a second by operations for each byte of memory traffic. ${points.map((point) => `${point.name}: ${numbers.text(point.flops, "FLOP/s")} at ${numbers.plain(point.intensity)} FLOP/byte.`).join(" ")} Roofs: ${roofs.map((roof) => `${roof.name} ${numbers.text(roof.flops, "FLOP/s")}`).join(", ")}, DRAM ${numbers.text(bandwidth, "byte/s")}.`, parts)),
        key(points.map((point) => [point.name, point.paint]))];
}
