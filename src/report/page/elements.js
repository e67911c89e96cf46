/* Elements of the page. What data says gets there as text nodes and attributes, never as markup. */
const svgSpace = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(svgSpace, tag), attributes, children);

const colour = (number) => `var(--c${number % 10})`;

/* A drawing; `title` says what it shows, to those who do not see it. */
function drawing(width, height, title, ...children) {
    return draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, preserveAspectRatio: "xMidYMid meet" },
        children);
}

/* A drawing that is moved sideways where the window is narrower than this (rem). */
function wideDrawing(least, made) {
    made.style.minWidth = `${least}rem`;
    return el("div", { class: "scroll", role: "group", "aria-label": "Chart" }, made);
}

/* What can be moved is a stop of the keyboard, and only that. */
function markScrollable(parent) {
    for (const box of parent.querySelectorAll(".scroll, .source")) {
        if (box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight) box.tabIndex = 0;
        else box.removeAttribute("tabindex");
    }
}

/* Lines that few want: under a summary. */
const folded = (summary, lines) => (lines.length ? el("details", { class: "card", style: "margin-top:1rem" }, el("summary", {}, summary), lines.map((line) => el("p", { class: "note" }, line))) : null);

const label = (x, y, anchor, text, kind) => draw("text", { x, y, "text-anchor": anchor, class: kind }, text);
const titled = (shape, text) => { shape.append(draw("title", {}, text)); return shape; };

function card(title, ...content) {
    return el("section", { class: "card" }, el("h3", {}, title), content);
}
function wideCard(title, ...content) {
    const made = card(title, ...content);
    made.classList.add("wide");
    return made;
}

function figure(name, value, unit, help) {
    const [text, shown] = typeof value === "string" ? [value, ""] : numbers.withUnit(value, unit);
    return el("div", { class: typeof value === "string" ? "text" : null, title: help, "data-figure": name },
        el("dt", { class: help ? "help" : null }, name),
        el("dd", {}, text, shown ? el("span", { class: "unit" }, shown) : null));
}
const figures = (...list) => el("dl", { class: "figures" }, list);

const key = (entries) => el("ul", { class: "key" },
    entries.map(([name, paint]) => el("li", {}, el("i", { style: `background:${paint}` }), name)));
