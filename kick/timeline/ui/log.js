import { $, el, inSight } from "./format.js";
import { icon } from "./marks.js";

const itemHeight = 46;

// Log lists what happened in the range, newest first, of the lanes that match the filter
// or, once one is chosen, of that one. Only what is in sight is in the document.
export class Log {
  constructor(page) {
    this.page = page;
    this.box = $("log");
    this.space = $("log-space");
    this.drawn = new Map(); // number -> element
    this.box.addEventListener("scroll", () => page.slide(this));
    this.space.addEventListener("click", e => {
      const item = e.target.closest("[role=option]");
      if (item) page.select({ lane: item.event.lane, group: page.board.lanes.get(item.event.lane)?.group, event: item.event });
    });
    this.box.addEventListener("keydown", e => this.key(e));
  }

  events() {
    const { view, selected, board } = this.page;
    const key = [board.version, view.from, view.to, selected.lane].join();
    if (key !== this.key_) {
      const lane = selected.lane && board.lanes.get(selected.lane);
      this.shown = (lane ? lane.events.filter(e => e.at >= view.from && e.at <= view.to) : board.between(view.from, view.to)).reverse();
      this.key_ = key;
    }
    return this.shown;
  }

  draw() {
    const all = this.events(), of = this.page.selected.lane && this.page.board.lanes.get(this.page.selected.lane);
    $("log-title").textContent = `Log${of ? ` of ${of.name}` : ""} · ${all.length}`;
    this.space.style.height = all.length * itemHeight + "px";
    this.box.style.minHeight = `min(40%, ${all.length * itemHeight}px)`; // what a short log leaves is the detail's
    this.drawn.clear();
    this.slide();
  }

  slide() {
    const all = this.events();
    this.drawn = inSight(this.box, this.space, itemHeight, 2, all.length, this.drawn, i => this.item(all, i));
    const chosen = all.indexOf(this.page.selected.event);
    if (this.drawn.has(chosen)) this.box.setAttribute("aria-activedescendant", "log-" + chosen); else this.box.removeAttribute("aria-activedescendant");
  }

  item(all, i) {
    const e = all[i], lane = this.page.board.lanes.get(e.lane), chosen = e === this.page.selected.event;
    const day = this.page.clock.date(e.at), newDay = day && (i === 0 || this.page.clock.date(all[i - 1].at) !== day);
    const item = el("div", { role: "option", id: "log-" + i, class: "item" + (chosen ? " selected" : ""), "aria-selected": chosen, "aria-setsize": all.length, "aria-posinset": i + 1, title: e.message },
      el("div", { class: "first" }, icon(e.type), el("time", {}, (newDay ? day + " " : "") + this.page.clock.time(e.at)), el("span", { class: "whose" }, lane ? lane.name : ""), el("span", { class: "reason" }, e.reason)),
      el("div", { class: "message" }, e.message));
    item.event = e;
    return item;
  }

  key(e) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[e.key];
    if (!step) return;
    e.preventDefault();
    e.stopPropagation();
    const all = this.events();
    if (!all.length) return;
    const was = all.indexOf(this.page.selected.event), i = Math.min(Math.max(was < 0 ? 0 : was + step, 0), all.length - 1);
    const event = all[i], all_ = this.page.selected.lane === null;
    this.page.select({ ...this.page.selected, lane: all_ ? null : event.lane, event });
    this.show(i);
  }

  show(i) {
    const top = i * itemHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + itemHeight > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + itemHeight - this.box.clientHeight;
  }
}
