import { $, el, many, svg } from "./format.js";

const most = 150, heading = ["Policies", "Workloads", "Sources"];

// Graph draws policy -> workload -> source of one namespace: three lists, and the lines
// between them.
export class Graph {
  constructor(page, read) {
    this.page = page;
    this.read = read;
    this.box = $("graph");
    this.lit = null;
    for (const [on, off] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
      this.box.addEventListener(on, e => this.light(e.target.closest(".node")?.id ?? null));
      this.box.addEventListener(off, () => this.light(null));
    }
    new ResizeObserver(() => this.lines()).observe(this.box);
  }

  namespaces() { return [...new Set([...this.page.board.lanes.values()].map(l => l.group))].sort(); }

  async open() {
    const all = this.namespaces(), namespace = this.page.address.get("ns") || all[0];
    if (!namespace) { this.box.replaceChildren(el("p", { class: "empty" }, this.page.emptyText)); return; }
    const got = await this.read(namespace);
    if (got) { this.got = got; this.draw(all, namespace); }
  }

  draw(all, namespace) {
    const pick = el("select", { id: "namespace" }, ...all.map(n => el("option", { value: n }, n)));
    pick.value = namespace;
    pick.addEventListener("change", () => { this.page.address.set({ ns: pick.value }); this.open(); });
    const words = this.page.board.query.toLowerCase().split(/\s+/).filter(Boolean);
    const hit = n => words.every(w => `${namespace} ${n.kind} ${n.name} ${n.state ?? ""}`.toLowerCase().includes(w));
    const workloads = this.got.nodes.filter(n => n.column === 1 && hit(n)), shown = new Set(workloads.slice(0, most).map(n => n.id));
    const edges = this.got.edges.filter(e => shown.has(e.from) || shown.has(e.to));
    const near = new Set(edges.flatMap(e => [e.from, e.to]));
    const nodes = this.got.nodes.filter(n => n.column === 1 ? shown.has(n.id) : near.has(n.id) || n.column === 0 && !words.length);
    const more = workloads.length - shown.size;
    this.svg = svg("svg", { class: "edges", "aria-hidden": "true" });
    this.edges = edges;
    this.columns = el("div", { class: "columns" }, this.svg, ...heading.map((h, c) => this.column(h, nodes.filter(n => n.column === c), edges)));
    this.box.replaceChildren(el("div", { class: "graph-bar" }, el("label", {}, "Namespace ", pick), more > 0 ? el("span", { class: "faint" }, `${many(more, "more workload")}; narrow the filter to see them`) : ""), this.columns);
    this.lines();
  }

  column(title, nodes, edges) {
    const list = el("ul", { "aria-label": title });
    for (const n of nodes) {
      const to = edges.filter(e => e.from === n.id).map(e => e.to.split("/")[1]);
      const one = el("button", { type: "button", class: "node", id: "node-" + n.id }, el("span", { class: "kind" }, n.kind), el("span", { class: "name" }, n.name),
        n.state ? el("span", { class: "word " + n.state }, n.state) : "", to.length ? el("span", { class: "hidden" }, `, leads to ${to.join(", ")}`) : "");
      if (n.column === 1) one.addEventListener("click", () => this.page.select({ lane: `${this.got.namespace}/${n.kind}/${n.name}`, group: this.got.namespace, event: null }));
      list.append(el("li", {}, one));
    }
    return el("div", { class: "column" }, el("h2", {}, title, el("span", { class: "faint" }, ` ${nodes.length}`)), list);
  }

  lines() {
    if (!this.columns || this.box.hidden) return;
    const base = this.columns.getBoundingClientRect(), made = [];
    for (const e of this.edges) {
      const [a, b] = [$("node-" + e.from), $("node-" + e.to)].map(n => n?.getBoundingClientRect());
      if (!a || !b) continue;
      const x1 = a.right - base.left, y1 = a.top + a.height / 2 - base.top, x2 = b.left - base.left, y2 = b.top + b.height / 2 - base.top, bend = (x2 - x1) / 2;
      const line = svg("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}` });
      line.ends = ["node-" + e.from, "node-" + e.to];
      made.push(line);
    }
    this.svg.setAttribute("width", this.columns.scrollWidth);
    this.svg.setAttribute("height", this.columns.scrollHeight);
    this.svg.replaceChildren(...made);
    this.light(this.lit);
  }

  // light makes the lines of a node stand out, and what they lead to.
  light(id) {
    this.lit = id;
    const near = new Set([id]);
    for (const line of this.svg?.children ?? []) {
      const touches = id !== null && line.ends.includes(id);
      line.setAttribute("class", touches ? "lit" : "");
      if (touches) line.ends.forEach(e => near.add(e));
    }
    for (const n of this.columns?.querySelectorAll(".node") ?? []) n.classList.toggle("lit", id !== null && near.has(n.id));
  }
}
