/* Runs beside a baseline: DATA.compared, as `heddle compare` computes it. */
function changeText(change) {
    if (change === null || change === undefined) return "\u2013";
    return `${change > 0 ? "+" : change < 0 ? "\u2212" : ""}${Math.abs(change).toFixed(Math.abs(change) >= 100 ? 0 : 1)} %`;
}

function comparedView() {
    return DATA.compared.map((compared) => el("section", { "aria-label": compared.title },
        el("h2", { style: "margin:0 0 .8rem" }, compared.title),
        figures(figure("baseline", compared.before, compared.unit, "all kernels that are in both"), figure("now", compared.after, compared.unit, "all kernels that are in both"), figure("change", changeText(compared.before ? (100 * (compared.after - compared.before)) / compared.before : null))),
        compared.kernels.length ? el("div", { class: "card" }, sortedTable("Kernels compared", [
            { name: "kernel", text: true, value: (row) => row.name },
            { name: "launches", value: (row) => row.launches },
            { name: "baseline", value: (row) => row.before, show: (row) => numbers.text(row.before, compared.unit) },
            { name: "now", value: (row) => row.after, show: (row) => numbers.text(row.after, compared.unit) },
            { name: "change", value: (row) => row.change, show: (row) => el("span", { class: row.change < -0.5 ? "good" : row.change > 0.5 ? "bad" : null }, changeText(row.change)) },
            { name: "what moved with it", text: true, value: (row) => row.why },
        ], compared.kernels, { what: "kernels", first: 4, descending: true }).element) : el("p", {}, "No kernel is in both."),
        compared.settings.length ? card("Parameters that differ", el("ul", {}, compared.settings.map((line) => el("li", {}, el("code", {}, line))))) : null,
        compared.only.map((line) => el("p", { class: "note" }, line)),
        compared.kernels.map((row) => el("details", { class: "card wide", style: "margin:.8rem 0" }, el("summary", {}, row.name),
            el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "metric"), ["baseline", "now", "change"].map((name) => el("th", { scope: "col", class: "n" }, name)), el("th", { scope: "col" }, "meaning"))),
                el("tbody", {}, row.moved.map(([name, unit, help, before, after, change]) => el("tr", {}, el("td", {}, el("code", {}, name)), el("td", { class: "n" }, numbers.text(before, unit)), el("td", { class: "n" }, numbers.text(after, unit)), el("td", { class: "n" }, changeText(change)), el("td", {}, help))))))))));
}
