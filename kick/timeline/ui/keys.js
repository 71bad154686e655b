import { $, el } from "./format.js";
import { icon, shapes, states } from "./marks.js";

const known = [
  ["/", "filter"], ["↑ ↓", "lane before, lane after"], ["← →", "event before, event after, in the lane"], ["Enter", "fold a namespace; go to the newest event of a lane"],
  ["Home End", "first and last row"], ["+ −", "zoom in, zoom out"], ["Shift ← →", "move the range"], ["0", "show everything"], ["l", "follow now"],
  ["v", "timeline or graph"], ["t", "light, dark, as the system"], ["u", "UTC or local time"], ["Esc", "back: event, lane, filter"], ["?", "this help"],
];

// Keys are what the page does without a mouse.
export class Keys {
  constructor(page, marks) {
    this.page = page;
    document.addEventListener("keydown", e => this.global(e));
    $("lanes").addEventListener("keydown", e => this.grid(e));
    const table = el("dl", { class: "keys" }, ...known.flatMap(([k, what]) => [el("dt", {}, ...k.split(" ").map(one => el("kbd", {}, one))), el("dd", {}, what)]));
    const shown = el("ul", { class: "legend" }, ...marks.map(m => el("li", {}, icon(m), shapes[m][1])));
    const bands = el("ul", { class: "legend" }, ...Object.entries(states).map(([s, what]) => el("li", {}, el("span", { class: "sample " + s }), what)));
    $("help-body").replaceChildren(table, el("h3", {}, "Marks"), shown, el("h3", {}, "Bands"), bands);
    $("help").addEventListener("click", () => $("help-dialog").showModal());
  }

  global(e) {
    const typing = e.target.matches("input:not([type=checkbox]), select, textarea");
    if (e.key === "Escape" && e.target === $("filter")) { this.back(); $("lanes").focus(); return; }
    if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    const act = {
      "/": () => $("filter").focus(), "+": () => this.page.zoom(.5), "=": () => this.page.zoom(.5), "-": () => this.page.zoom(2),
      "0": () => this.page.range("all"), l: () => this.page.range("1h"), v: () => this.page.flip(), t: () => $("theme").click(), u: () => $("zone").click(),
      "?": () => $("help").click(), Escape: () => this.back(),
    }[e.key];
    if (act) { e.preventDefault(); act(); }
    if (e.shiftKey && e.key.startsWith("Arrow") && /Left|Right/.test(e.key)) { e.preventDefault(); this.page.pan(e.key === "ArrowLeft" ? -.25 : .25); }
  }

  back() {
    const { selected, board } = this.page;
    if (selected.event) this.page.select({ ...selected, event: null });
    else if (selected.lane !== null) this.page.select({ lane: null, group: selected.group, event: null });
    else if (board.query) this.page.filter("");
  }

  grid(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    const rows = this.page.board.rows(), at = this.page.lanes.selectedRow();
    const screen = Math.max(Math.floor($("lanes").clientHeight / 30) - 1, 1);
    const row = { ArrowDown: at + 1, ArrowUp: at < 0 ? 0 : at - 1, PageDown: at + screen, PageUp: at - screen, Home: 0, End: rows.length - 1 }[e.key];
    if (row !== undefined && rows.length) { e.preventDefault(); this.choose(rows, Math.min(Math.max(row, 0), rows.length - 1)); }
    if (e.key === "ArrowLeft" || e.key === "ArrowRight") { e.preventDefault(); this.sideways(rows[at], e.key === "ArrowRight"); }
    if ((e.key === "Enter" || e.key === " ") && rows[at]) {
      e.preventDefault();
      if (rows[at].lane) this.go(rows[at].lane, rows[at].lane.events.at(-1));
      else { this.page.board.toggle(rows[at].group); this.page.draw(); }
    }
  }

  choose(rows, i) {
    const { lane, group } = rows[i];
    this.page.select({ lane: lane?.id ?? null, group: lane?.group ?? group, event: null });
    this.page.lanes.show(i);
  }

  // sideways goes from event to event; on a heading it folds and unfolds.
  sideways(row, right) {
    if (!row) return;
    if (!row.lane) {
      if (this.page.board.closed.has(row.group) === right) { this.page.board.toggle(row.group); this.page.draw(); }
      return;
    }
    const all = row.lane.events, was = all.indexOf(this.page.selected.event);
    const next = was < 0 ? (right ? all.findIndex(e => e.at >= this.page.view.from) : all.length - 1) : was + (right ? 1 : -1);
    if (all[next]) this.go(row.lane, all[next]);
  }

  go(lane, event) {
    if (!event) return;
    this.page.select({ lane: lane.id, group: lane.group, event });
    this.page.reveal(event.at);
  }
}
