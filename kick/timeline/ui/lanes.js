import { $, el, inSight, many, svg } from "./format.js";
import { first } from "./board.js";
import { gathered, shapes } from "./marks.js";

export const rowHeight = 30;

// Lanes draws the grid. Only the rows in sight are in the document, however many there are.
export class Lanes {
  constructor(page) {
    this.page = page;
    this.box = $("lanes");
    this.space = $("space");
    this.drawn = new Map(); // row number -> element
    this.box.addEventListener("scroll", () => page.slide(this));
    this.space.addEventListener("click", e => this.clicked(e));
    this.space.addEventListener("pointermove", e => this.hovered(e));
    this.space.addEventListener("pointerleave", () => page.tip(null));
  }

  // width is that of a strip. It is measured once a drawing: to measure between writes has the
  // browser lay everything out each time.
  width() { return this.wide; }
  headWidth() { return $("corner").offsetWidth; }
  x(t) { return (t - this.page.view.from) / (this.page.view.to - this.page.view.from) * this.width(); }

  draw() {
    const rows = this.page.board.rows();
    this.wide = Math.max(this.box.clientWidth - this.headWidth(), 50);
    this.space.style.height = rows.length * rowHeight + "px";
    this.box.setAttribute("aria-rowcount", rows.length);
    this.drawn.clear();
    this.slide();
    if (!rows.length) this.space.replaceChildren(this.empty());
  }

  // slide makes the rows that have come into sight, and leaves alone those that stay: all
  // that a scroll costs.
  slide() {
    const rows = this.page.board.rows();
    this.drawn = inSight(this.box, this.space, rowHeight, 3, rows.length, this.drawn, i => rows[i].lane ? this.lane(rows[i].lane, i) : this.heading(rows[i], i));
    const at = this.selectedRow();
    if (this.drawn.has(at)) this.box.setAttribute("aria-activedescendant", "row-" + at); else this.box.removeAttribute("aria-activedescendant");
  }

  empty() {
    const none = this.page.board.query ? "No lane matches the filter." : this.page.emptyText;
    return el("div", { class: "empty", role: "row" }, el("span", { role: "gridcell" }, none));
  }

  selectedRow() {
    const { lane, group } = this.page.selected;
    return this.page.board.rows().findIndex(r => r.lane ? r.lane.id === lane : lane === null && r.group === group);
  }

  heading(row, i) {
    const open = !this.page.board.closed.has(row.group);
    const tally = [...row.states].filter(([s]) => s !== "fresh").map(([s, n]) => el("span", { class: "tally " + s }, `${n} ${s}`));
    const chosen = this.page.selected.lane === null && this.page.selected.group === row.group;
    return el("div", { class: "row group" + (chosen ? " selected" : ""), role: "row", id: "row-" + i, "aria-level": 1, "aria-rowindex": i + 1, "aria-expanded": open, "aria-selected": chosen },
      el("div", { class: "head", role: "rowheader" }, el("span", { class: "fold", "aria-hidden": "true" }, open ? "▾" : "▸"), el("span", { class: "name" }, row.group || "(cluster)"), el("span", { class: "word" }, String(row.lanes))),
      el("div", { class: "tallies", role: "gridcell" }, ...tally));
  }

  lane(lane, i) {
    const chosen = this.page.selected.lane === lane.id;
    const row = el("div", { class: "row lane" + (chosen ? " selected" : ""), role: "row", id: "row-" + i, "aria-level": 2, "aria-rowindex": i + 1, "aria-selected": chosen },
      el("div", { class: "head", role: "rowheader", title: `${lane.kind} ${lane.name}` },
        el("span", { class: "kind", "aria-hidden": "true" }, lane.badge), el("span", { class: "hidden" }, lane.kind + " "), el("span", { class: "name" }, lane.name),
        lane.word ? el("span", { class: "word " + lane.state }, lane.word) : null),
      el("div", { class: "track", role: "gridcell" }, el("span", { class: "hidden" }, this.says(lane)), this.strip(lane)));
    row.lane = lane;
    return row;
  }

  // says is what the strip shows, for those who do not see it.
  says(lane) {
    const { from, to } = this.page.view, seen = first(lane.events, to) - first(lane.events, from);
    const last = lane.events.at(-1);
    return `${lane.message || ""} ${many(seen, "event")} in view${last ? `; last ${this.page.clock.full(last.at)}: ${last.message}` : ""}`;
  }

  strip(lane) {
    const width = this.width(), { from, to } = this.page.view, y = rowHeight / 2;
    const out = svg("svg", { width, height: rowHeight, "aria-hidden": "true" });
    for (const b of lane.bands) {
      if (b.to <= from || b.from >= to) continue;
      const left = Math.max(this.x(b.from), -2), right = Math.min(this.x(Math.min(b.to, this.page.end())), width + 2);
      if (right <= left) continue;
      const thick = b.state === "fresh" ? 2 : 14;
      const bar = svg("rect", { x: left, y: y - thick / 2, width: Math.max(right - left, 1.5), height: thick, rx: thick > 2 ? 3 : 1, class: "band " + b.state });
      if (b.hue !== undefined) bar.style.setProperty("--hue", b.hue);
      out.append(bar);
      if (b.label && right - left > 40) out.append(svg("text", { x: left + 9, y: y + 4, class: "label" }, b.label.slice(0, Math.max(Math.floor((right - left - 14) / 6.4), 0))));
    }
    const events = lane.events, start = first(events, from), end = first(events, to);
    for (const m of gathered(events, start, end, t => this.x(t))) {
      const chosen = this.page.selected.event ? events.indexOf(this.page.selected.event, m.from) - m.from : -1;
      const mark = svg("g", { class: "spot" + (chosen >= 0 && chosen < m.count ? " chosen" : ""), transform: `translate(${m.x.toFixed(1)} ${y})` }, svg("path", { d: shapes[m.type][0], class: "mark " + m.type }));
      if (m.count > 1) mark.append(svg("text", { x: 6, y: -4, class: "many" }, String(m.count)));
      mark.spot = m;
      out.append(mark);
    }
    return out;
  }

  // spotOf is the lane, and the mark if any, under a pointer.
  spotOf(e) {
    const row = e.target.closest(".row"), spot = e.target.closest(".spot");
    return { row, lane: row?.lane, spot: spot?.spot };
  }

  clicked(e) {
    const { row, lane, spot } = this.spotOf(e);
    if (!row) return;
    const group = this.page.board.rows()[Number(row.id.slice(4))]?.group;
    if (!lane) { this.page.board.toggle(group); this.page.select({ lane: null, group, event: null }); return; }
    this.page.select({ lane: lane.id, group: lane.group, event: spot ? lane.events[spot.from + spot.count - 1] : null });
  }

  hovered(e) {
    const { lane, spot } = this.spotOf(e);
    if (!lane || !spot) { this.page.tip(null); return; }
    const shown = lane.events.slice(spot.from, spot.from + spot.count), more = shown.length - 5;
    const lines = shown.slice(0, 5).map(ev => el("div", {}, el("time", {}, this.page.clock.full(ev.at)), ev.message));
    if (more > 0) lines.push(el("div", { class: "faint" }, `and ${more} more; zoom in to tell them apart`));
    this.page.tip(e, lines);
  }

  // show scrolls a row into sight.
  show(i) {
    const top = i * rowHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + rowHeight > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + rowHeight - this.box.clientHeight;
  }
}

