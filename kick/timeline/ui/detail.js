import { $, el, instant, span } from "./format.js";
import { icon } from "./marks.js";

// Detail tells of the chosen lane and event in whole sentences.
export class Detail {
  constructor(page) {
    this.page = page;
    this.facts = null; // of the lane, as they were asked for
  }

  draw() {
    const { selected, board } = this.page, lane = board.lanes.get(selected.lane), event = selected.event;
    const key = [selected.lane, event?.at, event?.message, lane && JSON.stringify(lane.facts), lane?.message, this.facts?.lane, this.facts?.version, this.page.clock.zone, lane ? 0 : board.version].join("|");
    if (key === this.key) return;
    this.key = key;
    const made = lane ? this.lane(lane) : this.summary();
    if (event) made.push(this.event(event));
    $("detail").replaceChildren(...made);
  }

  summary() {
    const counts = new Map();
    for (const l of this.page.board.matching()) if (l.state) counts.set(l.state, (counts.get(l.state) ?? 0) + 1);
    const list = el("div", { class: "tallies" }, ...[...counts].map(([s, n]) => el("span", { class: "tally " + s }, `${n} ${s}`)));
    return [el("h2", {}, "Overview"), list, el("p", { class: "faint" }, "Choose a lane or a mark to see why. ? shows the keys.")];
  }

  lane(lane) {
    const clear = el("button", { type: "button", class: "plain", title: "Back to all lanes (Esc)", "aria-label": "Back to all lanes" }, "×");
    clear.addEventListener("click", () => this.page.select({ lane: null, group: lane.group, event: null }));
    const facts = el("dl");
    for (const [name, value] of lane.facts) if (value) facts.append(el("dt", {}, name), el("dd", {}, typeof value === "number" ? this.page.clock.full(value) : value));
    const made = [el("h2", {}, el("span", { class: "faint" }, lane.kind + " "), lane.name, lane.word ? el("span", { class: "word " + lane.state }, lane.word) : "", clear)];
    if (lane.message) made.push(el("p", { class: "why" }, lane.message));
    made.push(facts);
    if (this.facts?.lane === lane.id) made.push(this.reads(this.facts.got.sources), ...this.trail(this.facts.got.trail ?? []));
    return made;
  }

  // trail is what each rule says now, in the words of kubectl kick why.
  trail(lines) {
    if (!lines.length) return [];
    const list = el("ol", { class: "trail", "aria-labelledby": "trail-title", "aria-live": "off" });
    for (const l of lines) list.append(el("li", { class: l.outcome }, el("span", { class: "said" }, l.outcome), el("span", { class: "hidden" }, ` ${l.rule}: `), el("span", {}, l.message)));
    return [el("h3", { id: "trail-title" }, "What each rule says"), list];
  }

  reads(list) {
    const out = el("ul", { class: "sources", "aria-label": "What it reads" });
    for (const s of list) {
      const note = !s.present ? (s.required ? "missing, and required" : "not there, optional") : !s.inScope ? "not in the policy's scope" : s.changedAt ? `${span(this.page.end() - instant(s.changedAt))} ago` : "not on record yet";
      out.append(el("li", { title: s.changedAt ? "last change " + this.page.clock.full(instant(s.changedAt)) : "" }, el("span", {}, `${s.kind} ${s.name}`), el("span", { class: s.present || !s.required ? "faint" : "bad" }, note)));
    }
    return out;
  }

  event(e) {
    return el("div", { class: "event" }, el("div", { class: "first" }, icon(e.type), el("time", {}, this.page.clock.full(e.at)), el("span", { class: "reason" }, e.reason ?? "")), el("p", {}, e.message));
  }
}
