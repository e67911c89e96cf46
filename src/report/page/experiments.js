/* Sweeps of caches, and studies: many runs as tables and plots. */

/* Where values are far apart, their logarithm is drawn. */
function valueScale(values, bottom, top) {
    const real = values.filter((value) => Number.isFinite(value)), most = Math.max(...real, 0), least = Math.min(...real, 0);
    const positive = real.filter((value) => value > 0), isFar = least >= 0 && positive.length > 1 && most >= 100 * Math.min(...positive);
    if (!isFar) {
        const span = most - least || 1, below = ticks(-least, 6).slice(1).map((tick) => -tick).reverse();
        return { ticks: [...(least < 0 ? below : []), ...ticks(most, 6).filter((tick) => tick <= span)], at: (value) => bottom - ((bottom - top) * (value - least)) / span };
    }
    const from = Math.floor(Math.log10(Math.min(...positive))), to = Math.max(Math.ceil(Math.log10(most)), from + 1);
    const all = [];
    for (let at = from; at <= to; at++) all.push(Math.pow(10, at));
    return { isFar, ticks: all, at: (value) => bottom - ((bottom - top) * (Math.log10(Math.max(value, all[0])) - from)) / (to - from) };
}

const valueText = (value, unit) => (Number.isFinite(value) ? numbers.text(value, unit) : "\u2013");

/* columns: texts; lines: { name, values } with a value for each column, or null. As lines, or as groups of bars. */
function columnChart(title, columns, lines, unit, isBars) {
    const f = { width: 960, height: 320, left: 84, right: 14, top: 12, bottom: 30 };
    const scale = valueScale(lines.flatMap((line) => line.values), f.height - f.bottom, f.top);
    const step = (f.width - f.left - f.right) / Math.max(columns.length, 1), x = (column) => f.left + step * (column + 0.5);
    const parts = scale.ticks.map((tick) => [draw("path", { class: "grid-line", d: `M${f.left} ${scale.at(tick)}H${f.width - f.right}` }), label(f.left - 8, scale.at(tick) + 4, "end", numbers.text(tick, unit), "small")]);
    const each = Math.ceil(columns.length / 16);
    columns.forEach((column, i) => { if (i % each === 0) parts.push(label(x(i), f.height - 8, "middle", column.length > 18 ? `${column.slice(0, 17)}\u2026` : column, "small")); });
    const wide = (step * 0.84) / lines.length;
    lines.forEach((line, number) => {
        const told = (i) => `${line.name}, ${columns[i]}: ${valueText(line.values[i], unit)}`;
        let path = "";
        line.values.forEach((value, i) => {
            if (!Number.isFinite(value)) return;
            const y = scale.at(value);
            const floor = scale.isFar ? f.height - f.bottom : scale.at(0);
            if (isBars) parts.push(titled(draw("rect", { x: x(i) - step * 0.42 + wide * number, y: Math.min(y, floor), width: Math.max(wide - 1, 0.8), height: Math.max(Math.abs(floor - y), 0.5), fill: colour(number), "data-value": value }), told(i)));
            else {
                path += `${path && Number.isFinite(line.values[i - 1]) ? "L" : "M"}${x(i)} ${y}`;
                parts.push(titled(draw("circle", { cx: x(i), cy: y, r: 3.5, fill: colour(number), "data-value": value }), told(i)));
            }
        });
        if (path) parts.push(draw("path", { d: path, fill: "none", stroke: colour(number), "stroke-width": 1.8, "stroke-dasharray": number >= 10 ? "5 3" : null }));
    });
    return [scale.isFar ? el("p", { class: "note" }, "The scale is logarithmic.") : null, wideDrawing(36, drawing(f.width, f.height, `${title}; the table below has the figures`, parts)),
        lines.length > 1 || lines[0].name ? key(lines.map((line, i) => [line.name, colour(i)])) : null];
}

const choice = (name, options, chosen, change) => el("label", {}, `${name} `, el("select", { onchange: (event) => change(Number(event.target.value)) }, options.map((option, i) => el("option", { value: i, selected: i === chosen }, option))));

/* Points as lines: those with the same values on all axes but one are a line over that one. axes: { name, value(point) -> text, all }. */
const MOST_LINES = 20;
function pointLines(axes, points, across, value) {
    const others = axes.filter((axis) => axis !== across), lines = new Map();
    for (const point of points) {
        const name = others.map((axis) => `${axis.name} ${axis.value(point)}`).join(", ");
        if (!lines.has(name)) lines.set(name, { name, values: across.all.map(() => null) });
        lines.get(name).values[across.all.indexOf(across.value(point))] = value(point);
    }
    return [...lines.values()];
}

/* A plot with a choice of what is drawn over what. metrics: { name, unit, help, value(point) }. */
function explorer(title, axes, points, metrics, first) {
    const shown = el("div", {}), note = el("p", { class: "note" });
    let metric = first.metric, across = first.across;
    const update = () => {
        const lines = axes.length ? pointLines(axes, points, axes[across], metrics[metric].value) : [];
        note.textContent = `${metrics[metric].help || metrics[metric].name}${lines.length > MOST_LINES ? `; the first ${MOST_LINES} of ${lines.length} lines` : ""}`;
        shown.replaceChildren(...(lines.length ? columnChart(`${metrics[metric].name} by ${axes[across].name}`, axes[across].all, lines.slice(0, MOST_LINES), metrics[metric].unit).filter(Boolean) : []));
    };
    update();
    return wideCard(title, el("div", { class: "row no-print" }, choice("Show", metrics.map((one) => one.name), metric, (to) => { metric = to; update(); }),
        axes.length > 1 ? choice("over", axes.map((axis) => axis.name), across, (to) => { across = to; update(); }) : null), note, shown);
}

const fileName = (path) => String(path).replace(/.*\//, "");

/* ---- sweeps ---- */

function bytesText(value) {
    if (typeof value !== "number") return String(value);
    const at = value > 0 ? [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]].find(([size]) => value % size === 0) : null;
    return at ? `${value / at[0]}${at[1]}` : `${value}B`;
}

function sweepView(sweep) {
    const count = sweep.keys.length, points = sweep.points;
    const keyText = (number) => (point) => (point[number] === null ? "\u2013" : sweep.keys[number][1] === "byte" ? bytesText(point[number]) : String(point[number]));
    const axes = sweep.keys.map((row, number) => {
        const found = [...new Set(points.map((point) => point[number]))].sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : 0));
        return { name: row[0], help: row[2], number, value: keyText(number), all: found.map((value) => keyText(number)({ [number]: value })) };
    });
    const varied = axes.filter((axis) => axis.all.length > 1), fixed = axes.filter((axis) => axis.all.length === 1 && points.length && points[0][axis.number] !== null);
    const metrics = [];
    for (let level = 0; level < sweep.levels; level++) {
        const base = count + 1 + level * sweep.counters.length, name = `L${level + 1}`;
        const at = (counter) => base + sweep.counters.findIndex((row) => row[0] === counter);
        const sum = (point, ...names) => names.reduce((all, one) => (all === null || point[at(one)] === null ? null : all + point[at(one)]), 0);
        metrics.push({ name: `${name} miss rate`, unit: "%", help: `${name}: misses, of its accesses`, value: (point) => { const all = sum(point, "reads", "writes"); return all ? (100 * sum(point, "read_misses", "write_misses")) / all : null; } },
            { name: `${name} misses`, unit: "", help: `${name}: reads and writes of lines that were not there`, value: (point) => sum(point, "read_misses", "write_misses") },
            ...sweep.counters.map((row, i) => ({ name: `${name} ${row[0].replace(/_/g, " ")}`, unit: row[1], help: `${name}: ${row[2]}`, value: (point) => point[base + i] })));
    }
    const widest = varied.reduce((best, axis, i) => (axis.all.length > varied[best].all.length || (/size$/.test(axis.name) && !/size$/.test(varied[best].name)) ? i : best), 0);
    const source = sweep.source || {}, accesses = points.length ? points[0][count] : null;
    return [
        el("h2", {}, `Caches: ${fileName(sweep.path)}`),
        figures(figure("configurations", points.length, ""), figure("accesses of each", accesses, ""), sweep.sweep ? figure("swept", String(sweep.sweep)) : null,
            sweep.impossible ? figure("left out", sweep.impossible, "", "combinations that are impossible") : null,
            source.generate ? figure("accesses by", String(source.generate), "", "generator of accesses") : figure("traces", (source.traces || []).map(fileName).join(", ") || "\u2013"),
            fixed.map((axis) => figure(axis.name, axis.all[0], "", axis.help))),
        sweep.not_shown ? el("p", { class: "note" }, `The first ${points.length} configurations: ${sweep.not_shown} more are not shown.`) : null,
        varied.length ? explorer("Counts by configuration", varied, points, metrics, { metric: 0, across: widest }) : null,
        wideCard("Configurations", sortedTable(`Configurations of ${fileName(sweep.path)}`, [
            ...(varied.length ? varied : axes.slice(0, 1)).map((axis) => ({ name: axis.name, help: axis.help, value: (point) => (point[axis.number] === null ? null : point[axis.number]), show: axis.value, text: typeof points[0][axis.number] === "string" })),
            ...metrics.map((metric) => ({ name: metric.name, unit: metric.unit, help: metric.help, value: metric.value, show: metric.unit === "%" ? (point) => (metric.value(point) === null ? "\u2013" : metric.value(point).toFixed(3)) : undefined })),
        ], points, { what: "configurations", first: 0, descending: false }).element)];
}

/* ---- studies ---- */

const cellText = (value) => (Number.isFinite(value) ? numbers.plain(value) : "\u2013");

function studyFigure(figure) {
    const rows = figure.rows.map((row) => ({ name: row.name, values: row.cells, mean: row.is_mean }));
    const lines = figure.columns.map((column, i) => ({ name: column, values: rows.map((row) => row.values[i]) }));
    return wideCard(figure.title, rows.length ? columnChart(figure.title, rows.map((row) => row.name), lines, "", true) : null,
        sortedTable(figure.title, [{ name: "row", text: true, value: (row) => row.name },
            ...figure.columns.map((column, i) => ({ name: column, value: (row) => (Number.isFinite(row.values[i]) ? row.values[i] : null), show: (row) => cellText(row.values[i]) }))],
        rows, { what: "rows", first: 0, descending: false, unsorted: true }).element);
}

function studyView(study) {
    const points = study.points, failed = points.filter((point) => point.state === "failed");
    const axes = study.axes.map((axis, number) => ({ name: axis.title || axis.name, all: axis.labels, value: (point) => String(point.labels[number]) }));
    const varied = axes.filter((axis) => axis.all.length > 1);
    const metrics = study.metrics.map(([name, unit, help], i) => ({ name, unit, help: help ? `${name}: ${help}` : name, value: (point) => point.values[i] }));
    const first = Math.max(0, metrics.findIndex((metric) => metric.name === "gpu__time_duration.sum"));
    const chosen = el("div", {});
    const show = (number) => {
        const metric = metrics[number];
        chosen.replaceChildren(sortedTable(`Points of ${study.title}`, [
            ...(varied.length ? varied : axes.slice(0, 1)).map((axis) => ({ name: axis.name, text: true, value: axis.value })),
            { name: "state", text: true, value: (point) => point.state },
            ...(metric ? [{ name: metric.name, help: metric.help, value: metric.value, show: (point) => valueText(metric.value(point), metric.unit) }] : []),
        ], points, { what: "points", first: 0, descending: false, unsorted: true }).element);
    };
    show(first);
    return [
        el("h2", {}, study.title),
        figures(figure("points", points.length, ""), figure("failed", failed.length, ""), figure("inputs", study.quick ? "small (--quick)" : "full size"), study.baseline ? figure("baseline", String(study.baseline)) : null, figure("file", fileName(study.study || study.path))),
        study.not_shown ? el("p", { class: "note" }, `The first ${points.length} points: ${study.not_shown} more are not shown one by one.`) : null,
        study.figures.map(studyFigure),
        varied.length && metrics.length ? explorer("Any metric", varied, points, metrics, { metric: first, across: varied.length - 1 }) : null,
        wideCard("Points", metrics.length ? el("div", { class: "row no-print" }, choice("With", metrics.map((metric) => metric.name), first, show)) : null, chosen),
        folded(`${failed.length} points failed`, failed.map((point) => `${point.command}: ${point.wrong || "no reason was given"}`))];
}

const hasExperiments = () => DATA.sweeps.length + DATA.studies.length > 0;
const experimentsView = () => [...DATA.studies.map(studyView), ...DATA.sweeps.map(sweepView)].map((parts) => el("section", { class: "experiment" }, parts[0], parts[1], el("div", { class: "grid" }, parts.slice(2).flat(Infinity).filter(Boolean))));
