/* Tables that are sorted by their heads and filtered by a word. */

/* columns: { name, unit, help, value(row) -> number or text, show(row) -> child, text }; options.unsorted: rows
 * keep their order until a head is pressed. */
function sortedTable(caption, columns, rows, options) {
    const { chosen, first, descending } = options || {};
    let by = options && options.unsorted ? -1 : options && options.by ? columns.findIndex((column) => column.name === options.by) : first || 0, down = descending !== false, word = "";
    const body = el("tbody", {}), head = columns.find((column) => column.text); /* what a row is called */
    const heads = columns.map((column, number) => el("th", { scope: "col", class: column.text ? null : "n", title: column.help },
        el("button", { type: "button", onclick: () => { down = by === number ? !down : !column.text; by = number; update(); } },
            column.name, column.unit ? el("span", { class: "unit" }, column.unit) : null)));
    function compare(a, b) {
        const x = columns[by].value(a), y = columns[by].value(b);
        const order = typeof x === "string" ? x.localeCompare(y) : (x === null ? -Infinity : x) - (y === null ? -Infinity : y);
        return down ? -order : order;
    }
    function update() {
        heads.forEach((head, i) => head.setAttribute("aria-sort", i !== by ? "none" : down ? "descending" : "ascending"));
        const shown = rows.filter((row) => !word || columns.some((c) => c.text && String(c.value(row)).toLowerCase().includes(word)));
        if (by >= 0) shown.sort(compare);
        body.replaceChildren(...shown.map((row) => el("tr", { class: chosen && chosen(row) ? "chosen" : null },
            columns.map((column) => el(column === head ? "th" : "td", { scope: column === head ? "row" : null, class: column.text ? "name" : "n" }, column.show ? column.show(row) : column.text ? column.value(row) : numbers.withUnit(column.value(row), column.unit)[0])))));
        count.textContent = shown.length === rows.length ? `${numbers.plain(rows.length)} ${rows.length === 1 ? options.what.replace(/(che)?s$/, (end) => (end === "ches" ? "ch" : "")) : options.what}` : `${numbers.plain(shown.length)} of ${numbers.plain(rows.length)} ${options.what}`;
    }
    const count = el("span", { class: "faint", role: "status" });
    const search = el("input", { type: "search", placeholder: "name", "aria-label": `Filter ${options.what}`,
        oninput: (event) => { word = event.target.value.toLowerCase(); update(); } });
    update();
    return { element: el("div", {},
        el("div", { class: "row no-print" }, el("label", {}, "Filter ", search), count),
        el("div", { class: "scroll tall", role: "region", "aria-label": caption }, el("table", {}, el("caption", { class: "visually-hidden" }, caption), el("thead", {}, el("tr", {}, heads)), body))), update };
}
