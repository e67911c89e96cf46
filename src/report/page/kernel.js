/* One kernel: what bounds it, and everything that says why. */

const rowsByName = new Map();

/* The figures of a kernel by the name of their row. */
function valuesOf(kernel) {
    return (name) => {
        for (const number of rowsByName.get(name) || [])
            if (kernel.metrics[number] !== null && kernel.metrics[number] !== undefined) return kernel.metrics[number];
        return null;
    };
}
const rowOf = (name) => DATA.rows[(rowsByName.get(name) || [])[0]] || [name, "", ""];
const isTimed = (kernel) => kernel.stalls.length > 0;

function metricFigure(value, name, shown) {
    const row = rowOf(name);
    return figure(shown || row[2], value(name), row[1], `${row[0]}: ${row[2]}`);
}

/* ---- speed of light ---- */

const PIPES = [["alu", "ALU"], ["fma", "FMA"], ["fp16", "FP16"], ["fp64", "FP64"], ["xu", "Special functions"], ["tensor", "Tensor"], ["lsu", "Load/store"], ["tex", "Texture"], ["uniform", "Uniform"]];

function percentRow(value, name, shown, paint) {
    const row = rowOf(name);
    return { name: shown, value: value(name) || 0, unit: "%", help: `${row[0]}: ${row[2]}`, paint };
}

function speedOfLight(value) {
    const pipes = PIPES.map(([id, shown]) => percentRow(value, `sm__inst_executed_pipe_${id}.avg.pct_of_peak_sustained_active`, shown, colour(0)))
        .filter((row) => row.value >= 0.5).sort((a, b) => b.value - a.value).slice(0, 5);
    return card("Speed of light",
        el("p", { class: "note" }, "How much of what each part can do was used."),
        bars([percentRow(value, "smsp__issue_active.avg.pct_of_peak_sustained_active", "Issue slots", colour(0)), ...pipes,
            percentRow(value, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", "L1, shared data", colour(2)),
            percentRow(value, "lts__throughput.avg.pct_of_peak_sustained_elapsed", "L2", colour(2)),
            percentRow(value, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM", colour(2))], 100, "Speed of light"),
        key([["compute", colour(0)], ["memory", colour(2)]]));
}

/* ---- roofline ---- */

/* What units of the description can do, in operations a second. */
function peaksOf(run) {
    const gpu = run.config.gpu, sm = run.config.sm, amd = Boolean(gpu.target);
    const lanes = gpu.sm_count * gpu.subcores_per_sm * gpu.warp_lanes * numbers.parse(gpu.clock) * 2;
    const of = (interval) => (interval ? lanes / interval : 0);
    return amd ? { fp32: of(sm.vector_interval), fp64: of(sm.vector_double_interval) }
        : { fp32: of(sm.fma_interval), fp64: of(sm.fp64_interval) };
}

const FLOP_KINDS = [["fp32", "FP32", 0], ["fp64", "FP64", 1], ["fp16", "FP16", 4], ["tensor", "Tensor cores", 6]];

function rooflineCard(run, kernel, value) {
    const seconds = value("gpu__time_duration.sum") * 1e-9, bytes = value("dram__bytes.sum"), flops = kernel.flops || {};
    const points = FLOP_KINDS.filter(([kind]) => flops[kind] > 0 && seconds > 0)
        .map(([kind, name, paint]) => ({ name, flops: flops[kind] / seconds, intensity: flops[kind] / Math.max(bytes, 32), paint: colour(paint) }));
    const all = points.map((point) => figure(point.name, point.flops, "FLOP/s", "floating-point operations a second, counted from the profile: additions and products 1, fused ones 2, matrices 2mnk"));
    if (!points.length)
        return card("Roofline", el("p", { class: "note" }, kernel.places ? "The kernel executes no floating-point arithmetic that is counted." : "The run has no profile of this kernel, from which operations are counted."));
    const peaks = peaksOf(run), roofs = [{ name: "FP32", flops: peaks.fp32 }, { name: "FP64", flops: peaks.fp64 }]
        .filter((roof) => roof.flops > 0 && (roof.name === "FP32" || flops.fp64 > 0));
    return card("Roofline", figures(all), roofline(roofs, numbers.parse(run.config.dram.bandwidth), points),
        el("p", { class: "note" }, "Roofs are what the description's units and DRAM can do.", flops.tensor > 0 ? " No roof is drawn for tensor cores: their peak depends on the shape." : "", bytes ? "" : " The kernel moved no bytes of DRAM: it is drawn as if it had moved one sector."));
}

/* ---- the rest ---- */

function stallsCard(kernel) {
    const all = kernel.stalls.reduce((sum, cycles) => sum + cycles, 0) || 1;
    const rows = kernel.stalls.map((cycles, i) => ({ name: DATA.stalls[i][0], value: (100 * cycles) / all, unit: "%", help: DATA.stalls[i][1], paint: DATA.stalls[i][0] === "selected" ? colour(2) : colour(1) }))
        .filter((row) => row.value >= 0.05).sort((a, b) => b.value - a.value);
    return card("Why warps did not issue", el("p", { class: "note" }, "Share of the cycles of all warps. Green: they did."), bars(rows, Math.max(...rows.map((r) => r.value), 1), "Stall reasons"));
}

function occupancyCard(value) {
    const limits = [["blocks", "slots for blocks"], ["registers", "registers"], ["shared_mem", "shared memory"], ["warps", "slots for warps"]]
        .map(([id, name]) => ({ id, name, value: value(`launch__occupancy_limit_${id}`) })).filter((limit) => limit.value !== null);
    const least = Math.min(...limits.map((limit) => limit.value));
    const by = limits.filter((limit) => limit.value === least).map((limit) => limit.name).join(", ");
    const waves = value("launch__waves_per_multiprocessor");
    return card("Occupancy",
        bars([percentRow(value, "sm__maximum_warps_per_active_cycle_pct", "Limit", colour(8)),
            percentRow(value, "sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved", colour(0))], 100, "Occupancy"),
        el("p", { style: "margin-top:.7rem" }, limits.length ? `${numbers.plain(least)} blocks fit on an SM, limited by ${by}. The grid fills the GPU ${numbers.plain(waves)} times.` : ""),
        figures(limits.map((limit) => figure(`by ${limit.name}`, limit.value, "block", `launch__occupancy_limit_${limit.id}`)),
            metricFigure(value, "launch__registers_per_thread", "registers per thread"),
            metricFigure(value, "launch__shared_mem_per_block_static", "shared memory, static"),
            metricFigure(value, "launch__shared_mem_per_block_dynamic", "shared memory, dynamic")));
}

function mixCard(kernel, value) {
    const pipes = DATA.rows.map((row, i) => [row, kernel.metrics[i]]).filter(([row, count]) => /^sm__inst_executed_pipe_[a-z0-9]+\.sum$/.test(row[0]) && count > 0);
    const all = pipes.reduce((sum, [, count]) => sum + count, 0) || 1;
    const rows = pipes.map(([row, count]) => ({ name: row[2].replace(/^AMD: /, ""), value: (100 * count) / all, unit: "%", help: `${row[0]}: ${numbers.plain(count)}`, paint: colour(4) })).sort((a, b) => b.value - a.value);
    const lanes = kernel.active_lanes || [], executed = lanes.reduce((a, b) => a + b, 0);
    const mean = executed ? lanes.reduce((sum, count, lane) => sum + count * lane, 0) / executed : 0;
    return card("Instructions", bars(rows, Math.max(...rows.map((r) => r.value), 1), "Instruction mix"),
        executed ? el("p", { style: "margin-top:.7rem", "data-lanes": mean.toFixed(3) }, `On average ${mean.toFixed(1)} of ${lanes.length - 1} lanes of an instruction are active.`) : null);
}


/* Every figure that there is, with its row's name, unit and help. */
function allMetrics(kernel) {
    const rows = DATA.rows.map((row, i) => ({ row, value: kernel.metrics[i] })).filter((entry) => entry.value !== null && entry.value !== undefined);
    return sortedTable("All metrics", [
        { name: "metric", text: true, value: (entry) => entry.row[0], show: (entry) => el("code", {}, entry.row[0]) },
        { name: "value", value: (entry) => entry.value, show: (entry) => numbers.plain(entry.value) },
        { name: "unit", text: true, value: (entry) => entry.row[1] },
        { name: "meaning", text: true, value: (entry) => entry.row[2] },
    ], rows, { what: "metrics", first: 0, descending: false, unsorted: true }).element; /* meanings lean on the row before */
}

function kernelView(run, kernel) {
    const value = valuesOf(kernel), timed = isTimed(kernel);
    const head = el("div", {},
        el("h2", { id: "kernel-name" }, kernel.name),
        kernel.why ? el("p", { class: "why" }, kernel.why) : null,
        kernel.failed ? el("p", { class: "bad" }, `${numbers.plain(kernel.launches_failed || 1)} of its launches failed: ${kernel.failed}`) : null,
        figures(figure("launches", kernel.launches, "", "how many; counts below are sums over all of them"),
            figure("grid", kernel.grid.join(" \u00d7 "), "", "blocks of the longest launch"), figure("block", kernel.block.join(" \u00d7 "), "", "threads of a block"),
            timed ? [metricFigure(value, "gpu__time_duration.sum", "time"), metricFigure(value, "gpc__cycles_elapsed.max", "cycles"),
                metricFigure(value, "sm__inst_executed.avg.per_cycle_active", "IPC"), metricFigure(value, "heddle__sms_used", "SMs used")]
                : null,
            metricFigure(value, "smsp__inst_executed.sum", "warp instructions")));
    if (!timed)
        return [head, el("p", { class: "note" }, "This kernel ran without time (functional mode): there is nothing on what bounds it. Run it with --mode timing."), wideCard("All metrics", allMetrics(kernel))];
    const more = el("details", { class: "card wide" }, el("summary", {}, "All metrics"));
    more.addEventListener("toggle", () => { if (more.open && more.children.length === 1) more.append(allMetrics(kernel)); });
    return [head, el("div", { class: "grid" }, speedOfLight(value), rooflineCard(run, kernel, value), wideCard("Memory", memoryChart(value)),
        el("div", { class: "grid three" }, stallsCard(kernel), mixCard(kernel, value), occupancyCard(value)), wideCard("Source", sourceView(run, kernel)), more)];
}
