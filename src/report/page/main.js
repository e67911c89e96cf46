/* Tabs, the choice of a run, light and dark. */
const DATA = JSON.parse(document.getElementById("data").textContent);
DATA.rows.forEach((row, i) => { rowsByName.set(row[0], [...(rowsByName.get(row[0]) || []), i]); });
/* What a run's file does not say is empty, not missing. */
for (const run of DATA.runs) {
    run.config = { gpu: {}, sm: {}, dram: {}, ...run.config };
    for (const kernel of run.kernels) {
        if (!Array.isArray(kernel.grid)) kernel.grid = [];
        if (!Array.isArray(kernel.block)) kernel.block = [];
        if (!Array.isArray(kernel.active_lanes)) kernel.active_lanes = [];
    }
    if (!Array.isArray(run.links)) run.links = [];
    for (const source of run.sources) source.isCode = source.kind === "module" && !/\.ptx$/.test(source.name) && Boolean(run.config.gpu.target);
}

(() => {
    const state = { run: DATA.runs[0], kernel: null, tab: "overview" };
    const panel = el("div", { role: "tabpanel", id: "panel", tabindex: 0 });
    const openKernel = (kernel) => { state.kernel = kernel; select("kernels"); };
    const views = [
        ["experiments", "Sweeps and studies", hasExperiments, experimentsView],
        ["overview", "Overview", () => state.run, () => overview(state.run, openKernel)],
        ["kernels", "Kernels", () => state.run, () => kernelsView(state.run, state)],
        ["activity", "Activity", () => state.run && state.run.mode === "timing", () => activityView(state.run)],
        ["gpus", "GPUs and pages", () => state.run && hasGpus(state.run), () => gpusView(state.run)],
        ["compared", "Comparison", () => DATA.compared, comparedView],
        ["measured", "Measured", () => DATA.measured, measuredView],
        ["plots", "Plots", () => DATA.plots && DATA.plots.length, plotsView],
        ["system", "System", () => state.run, () => configView(state.run)],
    ];
    const tabs = el("div", { class: "tabs no-print", role: "tablist", "aria-label": "Parts of the report" });

    function update() {
        const shown = views.filter(([, , applies]) => applies());
        if (!shown.some(([id]) => id === state.tab)) state.tab = shown[0][0];
        tabs.replaceChildren(...shown.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", "aria-selected": String(id === state.tab), tabindex: id === state.tab ? 0 : -1, onclick: () => select(id) }, name)));
        panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
        const [, name, , view] = views.find(([id]) => id === state.tab);
        panel.replaceChildren(...[el("h2", { class: "visually-hidden" }, name), view()].flat(Infinity).filter(Boolean));
        markScrollable(panel);
    }
    new ResizeObserver(() => markScrollable(panel)).observe(panel);
    function select(id) {
        state.tab = id;
        update();
    }
    tabs.addEventListener("keydown", (event) => {
        const all = [...tabs.children], at = all.indexOf(document.activeElement);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
        if (to === undefined || at < 0) return;
        event.preventDefault();
        const id = all[(to + all.length) % all.length].id;
        select(id.replace("tab-", ""));
        document.getElementById(id).focus();
    });

    const root = document.documentElement;
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const theme = el("button", { type: "button", class: "plain", onclick: () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); } });
    const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours"); };
    name();

    const titles = DATA.runs.map((run) => `${(run.program || "run").replace(/.*\//, "")} on ${run.system}`);
    const experiment = DATA.studies.length ? DATA.studies[0].title : DATA.sweeps.length ? `Sweep of caches: ${fileName(DATA.sweeps[0].path)}` : "Runs";
    document.title = `${titles[0] || experiment} - Heddle`;
    const choice = DATA.runs.length < 2 ? null : el("label", { class: "no-print" }, "Run ",
        el("select", { id: "run", onchange: (event) => { state.run = DATA.runs[Number(event.target.value)]; state.kernel = null; heading.textContent = titles[DATA.runs.indexOf(state.run)]; update(); } },
            DATA.runs.map((run, i) => el("option", { value: i }, `${titles[i]} (${run.path.replace(/.*\//, "")})`))));
    const heading = el("h1", { class: "grow" }, titles[0] || experiment);
    document.getElementById("page").replaceWith(
        el("a", { class: "skip", href: "#panel" }, "Skip to the content"),
        el("header", { class: "top" }, heading, choice, el("span", { class: "no-print" }, theme)),
        el("main", {}, tabs, panel));
    if (DATA.compared && location.hash !== "#overview") state.tab = "compared";
    update();
    root.dataset.ready = String(Math.round(performance.now()));
})();
