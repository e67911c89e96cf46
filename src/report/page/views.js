/* The whole run: what it was, its kernels, its description. */

function overview(run, open) {
    const timed = run.mode === "timing", kernels = run.kernels;
    const total = kernels.reduce((sum, kernel) => sum + (valuesOf(kernel)("gpu__time_duration.sum") || 0), 0);
    const ended = run.state === "complete" ? "complete" : run.signal ? `${run.state}: signal ${run.signal}` : `${run.state}: exit status ${run.exit_status}`;
    const slowest = kernels.filter(isTimed).map((kernel) => ({ kernel, time: valuesOf(kernel)("gpu__time_duration.sum") })).sort((a, b) => b.time - a.time).slice(0, 8);
    const copies = Object.entries(run.copies || {}).filter(([, copy]) => copy.count);
    const gpu = run.config.gpu;
    return [
        figures(figure("system", run.system, "", gpu.name), figure("mode", run.mode), figure("state", ended), figure("launches", run.launches_total, ""), figure("kernels", kernels.length, ""),
            timed ? figure("simulated time", run.time_ps, "ps", "from the first call to the end of the last launch or copy") : null,
            timed ? figure("time in kernels", total, "ns", "sum over all launches") : null,
            run.host ? figure("time it took here", run.host.wall_s * 1e9, "ns", `seconds of the machine that simulated, on ${run.host.threads} threads`) : null),
        el("div", { class: "grid" },
            slowest.length ? wideCard("Where the time goes", bars(slowest.map(({ kernel, time }, i) => ({ name: el("button", { type: "button", class: "link", onclick: () => open(kernel) }, kernel.name), value: time, unit: "ns", help: kernel.why, paint: colour(0) })), slowest[0].time, "Kernels by time"),
                el("div", { style: "height:.8rem" }), slowest.slice(0, 3).map(({ kernel }) => el("p", {}, el("strong", {}, kernel.name), ": ", kernel.why))) : null,
            copies.length ? card("Copies", el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "copies"), ["count", "bytes", "time"].map((name) => el("th", { scope: "col", class: "n" }, name)))),
                el("tbody", {}, copies.map(([name, copy]) => el("tr", {}, el("td", {}, name.replace(/_/g, " ")), el("td", { class: "n" }, numbers.plain(copy.count)), el("td", { class: "n" }, numbers.text(copy.bytes, "byte")), el("td", { class: "n" }, numbers.text(copy.busy_ps, "ps"))))))) : null,
            card("Program", el("p", {}, el("code", {}, [run.program || "several programs", ...(run.arguments || [])].join(" "))),
                Object.keys(run.options || {}).length ? el("p", { class: "note" }, Object.entries(run.options).map(([name, value]) => `${name} = ${value}`).join(", ")) : null,
                el("p", { class: "note" }, `Heddle ${run.heddle}, file ${run.path}`, run.launches_lost ? `; ${run.launches_lost} launches were lost` : "")))];
}

function kernelColumns(run, open) {
    const metric = (name, shown, unit) => ({ name: shown, unit: unit === undefined ? rowOf(name)[1] : unit, help: `${name}: ${rowOf(name)[2]}`, value: (kernel) => valuesOf(kernel)(name) });
    const time = metric("gpu__time_duration.sum", "time", "");
    time.show = (kernel) => numbers.text(time.value(kernel), "ns");
    const instructions = metric("smsp__inst_executed.sum", "instructions", "");
    instructions.show = (kernel) => numbers.text(instructions.value(kernel), "");
    return [
        { name: "kernel", text: true, value: (kernel) => kernel.name, show: (kernel) => el("button", { type: "button", class: "link", onclick: () => open(kernel) }, kernel.name) },
        time, { name: "launches", value: (kernel) => kernel.launches }, instructions,
        metric("sm__inst_executed.avg.per_cycle_active", "IPC", ""),
        metric("sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy"), metric("l1tex__t_sector_hit_rate.pct", "L1 hits"), metric("lts__t_sector_hit_rate.pct", "L2 hits"),
        metric("dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM"),
    ];
}

function kernelsView(run, state) {
    const detail = el("div", { id: "kernel", tabindex: -1, style: "margin-top:1.4rem" });
    const show = (kernel, move) => {
        state.kernel = kernel;
        detail.replaceChildren(...[kernelView(run, kernel)].flat());
        table.update();
        if (move) { detail.scrollIntoView(); detail.focus({ preventScroll: true }); }
    };
    const table = sortedTable("Kernels", kernelColumns(run, (kernel) => show(kernel, true)), run.kernels, { what: "kernels", first: run.mode === "timing" ? 1 : 3, chosen: (kernel) => kernel === state.kernel });
    if (!run.kernels.length) return el("p", {}, "The run launched no kernel.");
    const size = (kernel) => valuesOf(kernel)("gpu__time_duration.sum") || valuesOf(kernel)("smsp__inst_executed.sum") || 0;
    const slowest = run.kernels.reduce((a, b) => (size(b) > size(a) ? b : a));
    show(run.kernels.includes(state.kernel) ? state.kernel : slowest, false);
    return [el("div", { class: "card" }, table.element), detail];
}

function configView(run) {
    const rows = Object.entries(run.config).flatMap(([section, members]) => Object.entries(members).map(([name, value]) => ({ name: `${section}.${name}`, value })));
    return el("div", { class: "card" }, sortedTable("Parameters of the system", [
        { name: "parameter", text: true, value: (row) => row.name, show: (row) => el("code", {}, row.name) },
        { name: "value", text: true, value: (row) => String(row.value) },
    ], rows, { what: "parameters", first: 0, descending: false }).element,
        el("p", { class: "note" }, "`heddle params` describes each. `heddle run --dump-config FILE` writes them as a description."));
}

const plotsView = () => el("div", { class: "grid" }, DATA.plots.map((plot) => wideCard(plot.name, el("img", { src: `data:image/svg+xml;base64,${plot.svg}`, alt: plot.name, style: "max-width:100%" }))));
