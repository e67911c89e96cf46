/* The memory chart: what passes between the parts of the memory system, with hit rates. */
function memoryChart(value) {
    const sectorBytes = 32, box = (x, y, w, h, name, lines, share) => [
        draw("rect", { class: "box", x, y, width: w, height: h, rx: 6 }),
        share === undefined ? null : draw("rect", { x, y: y + h - 5, width: (w * Math.min(share, 100)) / 100, height: 5, fill: colour(2), rx: 2 }),
        label(x + w / 2, y + 20, "middle", name, "strong"),
        lines.map((line, i) => label(x + w / 2, y + 38 + 16 * i, "middle", line, "small")),
    ];
    const flows = [], told = [];
    function flow(x0, x1, y, bytes, requests, name) {
        const none = !bytes && !requests;
        const wide = none ? 1 : Math.max(1.5, Math.min(9, Math.log10((bytes || 1) + 1)));
        const paint = none ? "var(--line)" : colour(0);
        const way = x1 > x0 ? 1 : -1;
        if (!none) told.push(`${name}: ${numbers.text(bytes || 0, "byte")}`);
        flows.push(titled(draw("g", { "data-flow": name, "data-bytes": bytes || 0 },
            draw("path", { d: `M${x0} ${y}H${x1 - 7 * way}`, stroke: paint, "stroke-width": wide, fill: "none" }),
            draw("path", { d: `M${x1} ${y}l${-9 * way} -5v10z`, fill: paint }),
            label((x0 + x1) / 2, y - 8, "middle", numbers.text(bytes || 0, "byte"), none ? "small" : ""),
            requests ? label((x0 + x1) / 2, y + 17, "middle", requests, "small") : null), `${name}: ${numbers.text(bytes || 0, "byte")}`));
    }
    const count = (n, what) => (n ? `${numbers.text(n, "")} ${what}` : null);
    const l1 = value("l1tex__t_sector_hit_rate.pct"), l2 = value("lts__t_sector_hit_rate.pct");
    const load = value("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") || 0, store = value("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") || 0;
    const local = value("l1tex__t_sectors_pipe_lsu_mem_local.sum") || 0, atom = value("l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum") || 0;
    const parts = [
        box(4, 40, 116, 320, "SMs", [numbers.text(value("smsp__inst_executed.sum"), ""), "warp instructions"]),
        box(272, 30, 136, 178, "L1 cache", [`${numbers.plain(l1)} % hits`, count(value("l1tex__t_requests.sum"), "requests"), count(value("l1tex__t_sectors.sum"), "sectors")].filter(Boolean), l1),
        box(272, 258, 136, 112, "Shared memory", [count(value("smsp__inst_executed_op_shared.sum"), "requests") || "not used", count(value("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), "passes"), count(value("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"), "conflicts")].filter(Boolean)),
        box(538, 30, 136, 330, "L2 cache", [`${numbers.plain(l2)} % hits`, count(value("lts__t_requests.sum"), "requests"), count(value("lts__t_sectors.sum"), "sectors"), count(value("heddle__l2_evictions.sum"), "evictions")].filter(Boolean), l2),
        box(804, 30, 150, 104, "DRAM", [`${numbers.plain(value("dram__throughput.avg.pct_of_peak_sustained_elapsed"))} % of peak`, `${numbers.plain(value("heddle__dram_row_hit_rate.pct"))} % row hits`], value("dram__throughput.avg.pct_of_peak_sustained_elapsed")),
        box(804, 172, 150, 74, "Other GPUs", [(value("heddle__peer_bytes.sum") || 0) ? "over the fabric" : "not used"]),
        box(804, 284, 150, 74, "Host memory", [(value("heddle__host_bytes.sum") || 0) ? "over the host link" : "not used"]),
    ];
    flow(272, 120, 78, load * sectorBytes, count(load, "sectors"), "global loads");
    flow(120, 272, 128, store * sectorBytes, count(store, "sectors"), "global stores");
    flow(120, 272, 176, (atom + local) * sectorBytes, count(atom + local, "atomic, local"), "atomics and local memory");
    flow(120, 272, 312, (value("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum") || 0) * 128, null, "shared memory, 128 bytes a pass");
    flow(538, 408, 92, value("heddle__l2_to_sm_bytes.sum"), null, "from L2 to the SMs");
    flow(408, 538, 152, value("heddle__sm_to_l2_bytes.sum"), null, "from the SMs to L2");
    flow(804, 674, 72, value("dram__bytes_read.sum"), null, "read from DRAM");
    flow(674, 804, 116, value("dram__bytes_write.sum"), null, "written to DRAM");
    flow(674, 804, 212, value("heddle__peer_bytes.sum"), null, "other GPUs");
    flow(674, 804, 324, value("heddle__host_bytes.sum"), null, "host memory");
    return wideDrawing(44, drawing(960, 384, `Memory chart: bytes between SMs, L1, L2, DRAM, other GPUs and the host. ${told.join("; ")}.`, flows, parts));
}
