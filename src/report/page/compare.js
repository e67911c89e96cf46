/* Runs beside a baseline: DATA.compared, as `heddle compare` computes it. */
function changeText(change) {
    if (change === null || change === undefined) return "\u2013";
    return `${change > 0 ? "+" : change < 0 ? "\u2212" : ""}${Math.abs(change).toFixed(Math.abs(change) >= 100 ? 0 : 1)} %`;
}

function movedTable(row) {
    return el("div", { class: "card", style: "margin-top:1rem" }, el("h3", {}, row.name, row.shape ? ` ${row.shape}` : ""), el("p", {}, row.why), sortedTable(`What changed in ${row.name}`, [
        { name: "metric", text: true, value: (moved) => moved[0], show: (moved) => el("code", {}, moved[0]) },
        { name: "baseline", value: (moved) => moved[3], show: (moved) => numbers.text(moved[3], moved[1]) },
        { name: "now", value: (moved) => moved[4], show: (moved) => numbers.text(moved[4], moved[1]) },
        { name: "change", value: (moved) => Math.abs(moved[5] === null ? Infinity : moved[5]), show: (moved) => changeText(moved[5]) },
        { name: "meaning", text: true, value: (moved) => moved[2] },
    ], row.moved, { what: "metrics that changed", first: 3 }).element);
}

function comparedRuns(compared) {
    const detail = el("div", {});
    const state = { row: compared.kernels[0] };
    const total = compared.before ? (100 * (compared.after - compared.before)) / compared.before : null;
    const show = (row) => { state.row = row; detail.replaceChildren(movedTable(row)); table.update(); };
    const table = sortedTable("Kernels compared", [
        { name: "kernel", text: true, value: (row) => row.name, show: (row) => el("button", { type: "button", class: "link", onclick: () => show(row) }, row.name) },
        compared.kernels.some((row) => row.shape) ? { name: "grid and block", text: true, value: (row) => row.shape } : null,
        { name: "launches", value: (row) => row.launches },
        { name: "baseline", value: (row) => row.before, show: (row) => numbers.text(row.before, compared.unit) },
        { name: "now", value: (row) => row.after, show: (row) => numbers.text(row.after, compared.unit) },
        { name: "change", value: (row) => row.change, show: (row) => el("span", { class: row.change < -0.5 ? "good" : row.change > 0.5 ? "bad" : null }, changeText(row.change)) },
        { name: "what moved with it", text: true, value: (row) => row.why },
    ].filter(Boolean), compared.kernels, { what: "kernels", by: "change", chosen: (row) => row === state.row });
    if (state.row) show(state.row);
    return el("section", { "aria-label": compared.title, style: "margin-bottom:2rem" },
        el("h2", { style: "margin:0 0 .8rem" }, compared.title),
        figures(figure("baseline", compared.before, compared.unit, "all kernels that are in both"), figure("now", compared.after, compared.unit, "all kernels that are in both"), figure("change", changeText(total))),
        compared.settings.length ? el("div", { style: "margin-bottom:1rem" }, card("Parameters that differ", el("table", {}, el("tbody", {}, compared.settings.map((line) => el("tr", {}, el("td", {}, el("code", {}, line)))))))) : null,
        compared.kernels.length ? [el("div", { class: "card" }, table.element), detail] : el("p", {}, "No kernel is in both."),
        folded("What is in one of them alone", compared.only));
}

const comparedView = () => DATA.compared.map(comparedRuns);
