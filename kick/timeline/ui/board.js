// The board holds the lanes, in order, and answers what is to be seen of them. A lane is
// {id, group, name, kind, state, word, message, facts, bands, events, search}; an event
// {at, type, reason, message, source, lane}; a band {from, to, state}, its end Infinity
// while it lasts.
export class Board {
  constructor() { this.lanes = new Map(); this.closed = new Set(); this.query = ""; this.version = 0; }

  replace(lanes) { this.lanes = new Map(lanes.map(l => [l.id, l])); this.touch(); }
  put(lanes) { for (const l of lanes) this.lanes.set(l.id, l); this.touch(); }
  remove(ids) { for (const id of ids) this.lanes.delete(id); this.touch(); }
  touch() { this.version++; this.rowsOf = this.logOf = this.matchOf = null; }
  filter(query) { if (query !== this.query) { this.query = query; this.touch(); } }
  toggle(group) { if (!this.closed.delete(group)) this.closed.add(group); this.rowsOf = null; }

  // matching are the lanes that hold every word of the filter.
  matching() {
    if (!this.matchOf) {
      const words = this.query.toLowerCase().split(/\s+/).filter(Boolean);
      this.matchOf = [...this.lanes.values()].filter(l => words.every(w => l.search.includes(w))).sort(order);
    }
    return this.matchOf;
  }

  // rows are what the grid shows: a heading for each group, its lanes below.
  rows() {
    if (!this.rowsOf) {
      const out = [];
      let heading = null;
      for (const lane of this.matching()) {
        if (!heading || heading.group !== lane.group) out.push(heading = { group: lane.group, lanes: 0, states: new Map() });
        heading.lanes++;
        if (lane.state) heading.states.set(lane.state, (heading.states.get(lane.state) ?? 0) + 1);
        if (!this.closed.has(lane.group)) out.push({ lane });
      }
      this.rowsOf = out;
    }
    return this.rowsOf;
  }

  // log is every event of the matching lanes, oldest first.
  log() {
    if (!this.logOf) this.logOf = this.matching().flatMap(l => l.events).sort((a, b) => a.at - b.at);
    return this.logOf;
  }

  between(from, to) { const all = this.log(); return all.slice(first(all, from), first(all, to + 1e-3)); }

  // reach is from the first to the last thing that happened.
  reach(now) {
    let from = Infinity, to = -Infinity;
    for (const l of this.lanes.values()) {
      for (const e of l.events.length ? [l.events[0], l.events.at(-1)] : []) { from = Math.min(from, e.at); to = Math.max(to, e.at); }
    }
    if (from === Infinity) return { from: now - 3600e3, to: now };
    to = now === null ? to : now;
    const margin = Math.max((to - from) * 0.03, 1);
    return { from: from - margin, to: to + margin };
  }
}

function order(a, b) {
  return (a.rank ?? 0) - (b.rank ?? 0) || compareText(a.group, b.group) || compareText(a.name, b.name) || compareText(a.kind, b.kind);
}

const compareText = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// first is the index of the first event no earlier than t.
export function first(events, t) {
  let low = 0, high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle].at < t) low = middle + 1; else high = middle;
  }
  return low;
}
