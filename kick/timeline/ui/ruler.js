import { $, svg, ticks } from "./format.js";

const height = 44, bins = 160;

// Ruler shows the range: its hours, and below them how much happened when.
export class Ruler {
  constructor(page) {
    this.page = page;
    this.track = $("ruler").querySelector(".track");
    this.svg = this.track.querySelector("svg");
    this.brush = $("brush");
    this.track.addEventListener("pointerdown", e => this.down(e));
    this.track.addEventListener("pointermove", e => this.move(e));
    this.track.addEventListener("pointerup", e => this.up(e));
    this.track.addEventListener("pointercancel", () => this.stop());
    this.track.addEventListener("dblclick", () => page.range("all"));
  }

  draw() {
    const width = this.page.lanes.width(), view = this.page.view;
    const made = [];
    for (const bar of this.density(width)) made.push(bar);
    for (const { t, label } of ticks(view, width, this.page.clock)) {
      const x = this.page.lanes.x(t);
      made.push(svg("line", { x1: x, x2: x, y1: 18, y2: height, class: "tick" }));
      if (x < width - 30) made.push(svg("text", { x: x + 4, y: 14 }, label));
    }
    const now = this.page.lanes.x(this.page.end());
    if (now >= 0 && now <= width) made.push(svg("line", { x1: now, x2: now, y1: 18, y2: height, class: "now" }));
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.replaceChildren(...made);
  }

  density(width) {
    const { from, to } = this.page.view, counts = new Array(bins).fill(0), loud = new Array(bins).fill(0);
    for (const e of this.page.board.between(from, to)) {
      const bin = Math.min(Math.floor((e.at - from) / (to - from) * bins), bins - 1);
      counts[bin]++;
      if (e.type === "failure" || e.type === "fault") loud[bin]++;
    }
    const most = Math.max(...counts, 1), step = width / bins;
    return counts.flatMap((n, i) => {
      const h = n && Math.max(n / most * 22, 2);
      const bar = (size, name) => svg("rect", { x: i * step + .5, y: height - size, width: Math.max(step - 1, 1), height: size, class: name });
      return n ? [bar(h, "many-bar"), ...(loud[i] ? [bar(Math.max(loud[i] / most * 22, 3), "loud-bar")] : [])] : [];
    });
  }

  at(e) { return Math.min(Math.max(e.clientX - this.track.getBoundingClientRect().left, 0), this.page.lanes.width()); }

  down(e) {
    if (e.button !== 0) return;
    this.begin = this.at(e);
    this.track.setPointerCapture(e.pointerId);
  }

  move(e) {
    if (this.begin === undefined) return;
    const end = this.at(e);
    this.brush.hidden = false;
    this.brush.style.left = Math.min(this.begin, end) + "px";
    this.brush.style.width = Math.abs(end - this.begin) + "px";
  }

  up(e) {
    if (this.begin === undefined) return;
    const [a, b] = [this.begin, this.at(e)].sort((x, y) => x - y), { from, to } = this.page.view, width = this.page.lanes.width();
    this.stop();
    if (b - a > 4) this.page.look(from + a / width * (to - from), from + b / width * (to - from));
  }

  stop() { this.begin = undefined; this.brush.hidden = true; }
}
