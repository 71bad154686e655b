import { $, Clock, el, hour, many } from "./format.js";
import { Board } from "./board.js";
import { liveMarks, traceMarks } from "./marks.js";
import { Address, presets, rangeOf, viewOf } from "./address.js";
import { Lanes } from "./lanes.js";
import { Ruler } from "./ruler.js";
import { Log } from "./log.js";
import { Detail } from "./detail.js";
import { Graph } from "./graph.js";
import { Live } from "./live.js";
import { Trace } from "./trace.js";
import { Keys } from "./keys.js";

// Page is what the parts know of each other: what is chosen, what range is seen, and that
// something is to be drawn.
class Page {
  constructor(trace) {
    this.board = new Board();
    this.clock = new Clock();
    this.selected = { lane: null, group: null, event: null };
    this.emptyText = trace ? "The trace holds nothing." : "";
    this.fallback = trace ? "all" : "24h";
    this.address = new Address(() => this.adopt());
    this.source = trace ? new Trace(this, trace) : new Live(this);
    this.lanes = new Lanes(this);
    this.ruler = new Ruler(this);
    this.log = new Log(this);
    this.detail = new Detail(this);
    this.graph = new Graph(this, namespace => this.source.graph(namespace));
    this.keys = new Keys(this, trace ? traceMarks : liveMarks);
    $("view-graph").hidden = $("view-lanes").hidden = Boolean(trace);
    $("zone").hidden = Boolean(trace);
    this.controls();
    this.adopt();
  }

  controls() {
    $("filter").addEventListener("input", () => this.filter($("filter").value));
    $("view-lanes").addEventListener("click", () => this.turn("lanes"));
    $("view-graph").addEventListener("click", () => this.turn("graph"));
    $("zoom-in").addEventListener("click", () => this.zoom(.5));
    $("zoom-out").addEventListener("click", () => this.zoom(2));
    $("zone").addEventListener("click", () => { this.address.set({ zone: this.address.get("zone") === "utc" ? "local" : "utc" }); this.adopt(); });
    $("theme").addEventListener("click", () => { this.address.set({ theme: { auto: "dark", dark: "light", light: "auto" }[this.address.get("theme")] }); this.adopt(); });
    for (const p of this.source instanceof Trace ? ["all"] : presets) {
      const button = el("button", { type: "button", "aria-pressed": "false" }, p);
      button.addEventListener("click", () => this.range(p));
      $("presets").append(button);
    }
    for (const end of ["from", "to"]) $(end).addEventListener("change", () => this.typed());
    $("lanes").addEventListener("wheel", e => this.wheel(e), { passive: false });
    new ResizeObserver(() => this.draw()).observe($("timeline"));
  }

  // adopt takes over what the address says.
  adopt() {
    const get = name => this.address.get(name);
    this.board.filter(get("q"));
    $("filter").value = get("q");
    const lane = get("lane") || null, event = this.board.lanes.get(lane)?.events.find(e => String(e.at) === get("at")) ?? null;
    this.selected = { lane, group: this.board.lanes.get(lane)?.group ?? this.selected.group, event };
    this.clock.zone = get("zone") === "local" ? "local" : "utc";
    $("zone").textContent = this.clock.zone === "utc" ? "UTC" : "Local";
    if (get("theme") === "auto") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = get("theme");
    $("theme").textContent = { auto: "Auto", dark: "Dark", light: "Light" }[get("theme")] ?? "Auto";
    const graph = get("view") === "graph";
    $("timeline").hidden = graph;
    $("graph").hidden = !graph;
    $("view-lanes").setAttribute("aria-pressed", !graph);
    $("view-graph").setAttribute("aria-pressed", graph);
    if (graph) this.graph.open();
    this.ask();
    this.draw();
  }

  // changed is called when the board holds something else.
  changed() {
    const { lane, event } = this.selected, now = this.board.lanes.get(lane);
    const at = event ? String(event.at) : this.address.get("at");
    if (now) this.selected = { lane, group: now.group, event: now.events.find(e => String(e.at) === at && (!event || e.message === event.message)) ?? null };
    if (now) this.ask();
    if (this.address.get("view") === "graph") this.graph.open();
    this.draw();
  }

  filter(query) { this.address.set({ q: query }); this.adopt(); this.lanes.box.scrollTop = 0; }
  turn(view) { this.address.set({ view }); this.adopt(); }
  flip() { if (!$("view-graph").hidden) this.turn(this.address.get("view") === "graph" ? "lanes" : "graph"); }

  select(selected) {
    const other = selected.lane !== this.selected.lane;
    this.selected = selected;
    this.address.set({ lane: selected.lane ?? "", at: selected.event ? String(selected.event.at) : "" });
    if (other) { this.log.box.scrollTop = 0; this.ask(); }
    if (selected.event) this.log.show(Math.max(this.log.events().indexOf(selected.event), 0));
    this.draw();
  }

  // ask reads what the chosen workload reads, and what the rules say of it.
  async ask() {
    const lane = this.board.lanes.get(this.selected.lane);
    if (!lane) { this.detail.facts = null; return; }
    const got = await this.source.facts(lane);
    if (got && this.selected.lane === lane.id) { this.detail.facts = { lane: lane.id, got, version: this.board.version }; this.draw(); }
  }

  // end is where what is known ends: now, or the last line of a trace.
  end() { return this.source.now(); }
  range(range) { this.address.set({ range: range === this.fallback ? "" : range }); this.draw(); }
  look(from, to) { if (to - from >= 0.01) this.range(rangeOf({ from, to })); }
  zoom(by, at = .5) { const { from, to } = this.view, middle = from + (to - from) * at; this.look(middle - (middle - from) * by, middle + (to - middle) * by); }
  pan(by) { const { from, to } = this.view, step = (to - from) * by; this.look(from + step, to + step); }
  reveal(t) { const { from, to } = this.view; if (t < from || t > to) this.look(t - (to - from) / 2, t + (to - from) / 2); }

  wheel(e) {
    const x = (e.clientX - $("lanes").getBoundingClientRect().left - this.lanes.headWidth()) / this.lanes.width();
    if (e.ctrlKey) { e.preventDefault(); this.zoom(e.deltaY > 0 ? 1.25 : .8, Math.min(Math.max(x, 0), 1)); }
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); this.pan((e.deltaX || e.deltaY) / 1500); }
  }

  typed() {
    const [from, to] = ["from", "to"].map(id => Date.parse($(id).value + "Z") - this.clock.offset(this.view.from));
    if (to > from) this.look(from, to);
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.paint(); });
  }

  // slide is for a list that was scrolled: nothing else has changed, not even the range, so
  // nothing else is drawn.
  slide(list) {
    if (this.asked || list.asked || !this.view) return;
    list.asked = true;
    requestAnimationFrame(() => { list.asked = false; if (!this.asked) list.slide(); });
  }

  paint() {
    const range = this.address.get("range") || this.fallback, last = this.source instanceof Trace ? null : this.end();
    this.view = viewOf(range, this.board, this.end(), last);
    this.lanes.draw();
    this.ruler.draw();
    this.log.draw();
    this.detail.draw();
    for (const b of $("presets").children) b.setAttribute("aria-pressed", b.textContent === range);
    const shown = this.board.matching().length;
    $("count").textContent = this.board.lanes.size ? (shown === this.board.lanes.size ? many(shown, "lane") : `${shown} of ${many(this.board.lanes.size, "lane")}`) : "";
    for (const [id, t] of [["from", this.view.from], ["to", this.view.to]]) {
      $(id).closest("label").hidden = this.clock.zero !== null;
      if (document.activeElement !== $(id)) $(id).value = new Date(t + this.clock.offset(t)).toISOString().slice(0, 19);
    }
    document.documentElement.dataset.painted = String(Number(document.documentElement.dataset.painted ?? 0) + 1);
  }

  connection(state, text) { const c = $("connection"); if (c.textContent !== text) c.textContent = text; c.dataset.state = state; }
  notice(text) { $("notice").textContent = text; $("notice").hidden = !text; }

  tip(e, lines = []) {
    const tip = $("tip");
    tip.hidden = !e;
    if (!e) return;
    tip.replaceChildren(...lines);
    tip.style.left = Math.min(e.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = (e.clientY + 18 + tip.offsetHeight > window.innerHeight ? e.clientY - tip.offsetHeight - 12 : e.clientY + 18) + "px";
  }
}

const trace = $("trace") && JSON.parse($("trace").textContent);
const page = new Page(trace);
page.source.run();
if (!trace) setInterval(() => { if (page.view.follows && page.view.to - page.view.from < 30 * hour && !document.hidden) page.draw(); }, 2000);
