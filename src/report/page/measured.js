/* A run beside what ncu measured on a real GPU: DATA.measured. */
function correlation(metric) {
    const f = { width: 420, height: 400, left: 70, right: 14, top: 14, bottom: 46 };
    const values = metric.points.flatMap((point) => [point[1], point[2]]).filter((value) => value > 1e-99 && value < 1e99);
    if (!values.length) return null;
    const low = Math.pow(10, Math.floor(Math.log10(Math.min(...values)))), high = Math.pow(10, Math.ceil(Math.log10(Math.max(...values)) + 1e-9));
    const span = Math.log10(high / low) || 1;
    const x = (value) => f.left + ((f.width - f.left - f.right) * Math.log10(Math.max(value, low) / low)) / span;
    const y = (value) => f.height - f.bottom - ((f.height - f.top - f.bottom) * Math.log10(Math.max(value, low) / low)) / span;
    const parts = [];
    for (let at = low; at <= high * 1.001; at *= 10)
        parts.push(draw("path", { class: "grid-line", d: `M${x(at)} ${f.top}V${f.height - f.bottom}M${f.left} ${y(at)}H${f.width - f.right}` }),
            label(x(at), f.height - f.bottom + 17, "middle", numbers.text(at, metric.unit), "small"), label(f.left - 7, y(at) + 4, "end", numbers.text(at, metric.unit), "small"));
    parts.push(draw("path", { d: `M${x(low)} ${y(low)}L${x(high)} ${y(high)}`, stroke: colour(8), "stroke-dasharray": "5 4" }));
    for (const [name, real, model] of metric.points)
        parts.push(titled(draw("circle", { cx: x(real), cy: y(model), r: 4, fill: colour(0), "fill-opacity": 0.75 }), `${name}: measured ${numbers.text(real, metric.unit)}, simulated ${numbers.text(model, metric.unit)}`));
    parts.push(label((f.left + f.width - f.right) / 2, f.height - 8, "middle", "measured", "small"),
        draw("text", { transform: `translate(14 ${(f.height - f.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "small" }, "simulated"));
    return drawing(f.width, f.height, `${metric.name}: simulated over measured`, parts);
}

/* Of those that were measured, the ones that say most. */
function plotted(metrics) {
    const wanted = ["gpu__time_duration.sum", "gpc__cycles_elapsed.max", "smsp__inst_executed.sum", "dram__bytes.sum", "lts__t_sectors.sum", "l1tex__t_sectors.sum", "sm__warps_active.avg.pct_of_peak_sustained_active", "lts__t_sector_hit_rate.pct"];
    const some = wanted.map((name) => metrics.find((metric) => metric.name === name)).filter(Boolean).slice(0, 4);
    return some.length ? some : metrics.slice(0, 1);
}

function measuredView() {
    const measured = DATA.measured;
    return [el("p", { class: "note" }, `Measured values: ${measured.path}. Launches are paired by the kernel's name and their order.`),
        el("div", { class: "grid" }, plotted(measured.metrics).map((metric) => card(metric.name, el("p", { class: "note" }, metric.help), correlation(metric)))),
        el("div", { style: "height:1rem" }),
        wideCard("Errors by metric", sortedTable("Errors by metric", [
            { name: "metric", text: true, value: (row) => row.name, show: (row) => el("code", { title: row.help }, row.name) },
            { name: "launches", value: (row) => row.points.length },
            { name: "mean error", unit: "%", value: (row) => row.mean_error, show: (row) => numbers.withUnit(row.mean_error, "%")[0] },
            { name: "correlation", value: (row) => row.correlation, show: (row) => (row.correlation === null || row.correlation === undefined ? "\u2013" : row.correlation.toFixed(3)) },
        ], measured.metrics, { what: "metrics", first: 1 }).element),
        el("div", { style: "height:1rem" }),
        wideCard("Launches", sortedTable("Launches beside the measurement", [
            { name: "kernel", text: true, value: (row) => row.name },
            { name: "measured", value: (row) => row.real, show: (row) => numbers.text(row.real, measured.unit) },
            { name: "simulated", value: (row) => row.model, show: (row) => numbers.text(row.model, measured.unit) },
            { name: "error", value: (row) => row.error, show: (row) => changeText(row.error) },
        ], measured.launches, { what: "launches", first: 1 }).element),
        folded("What is in one of them alone", measured.only)];
}
