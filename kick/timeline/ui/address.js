// What is looked at stands in the address behind #, so that a link shows the same. It is
// never sent to a server.
const defaults = { q: "", range: "", lane: "", at: "", view: "lanes", ns: "", zone: "utc", theme: "auto" };

export class Address {
  constructor(changed) {
    this.values = { ...defaults };
    this.read();
    window.addEventListener("hashchange", () => { if (this.read()) changed(); });
  }

  // read takes the address over; false: it says what is known already.
  read() {
    const said = new URLSearchParams(location.hash.slice(1)), before = JSON.stringify(this.values);
    for (const name of Object.keys(defaults)) this.values[name] = said.get(name) ?? defaults[name];
    return JSON.stringify(this.values) !== before;
  }

  get(name) { return this.values[name]; }

  set(values) {
    Object.assign(this.values, values);
    const say = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values)) if (value !== defaults[name]) say.set(name, value);
    const hash = "#" + say.toString();
    if (hash !== location.hash) history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
  }
}

// A range is a span that follows now ("1h"), everything ("all"), or two instants.
const spans = { "15m": 900e3, "1h": 3600e3, "6h": 6 * 3600e3, "24h": 86400e3, "7d": 7 * 86400e3 };

export const presets = [...Object.keys(spans), "all"];

export function viewOf(range, board, now, last) {
  if (spans[range]) return { from: now - spans[range], to: now + spans[range] * 0.02, follows: true };
  const [from, to] = range.split("~").map(Number);
  if (range.includes("~") && to > from) return { from, to, follows: false };
  return { ...board.reach(last), follows: true };
}

export const rangeOf = view => `${round(view.from)}~${round(view.to)}`;

const round = t => Math.round(t * 1000) / 1000;
