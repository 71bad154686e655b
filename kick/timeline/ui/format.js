// Times and elements. An instant is milliseconds since 1970, with a fraction; the API
// sends microseconds and none of them is dropped on the way.
export const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

export function instant(text) {
  const fraction = /\.(\d+)/.exec(text);
  const whole = Date.parse(fraction ? text.replace(fraction[0], "") : text);
  return fraction ? whole + Number("0." + fraction[1]) * 1000 : whole;
}

const pad = (n, width = 2) => String(Math.floor(n)).padStart(width, "0");

// Clock says how instants are written. warp, where a trace is drawn with even steps, leads
// from a place on the axis back to the instant; zero makes times relative to it.
export class Clock {
  constructor() { this.zone = "utc"; this.zero = null; this.warp = t => t; }
  offset(t) { return this.zone === "utc" ? 0 : -new Date(t).getTimezoneOffset() * minute; }
  full(place) {
    const t = this.warp(place);
    if (this.zero !== null) return this.relative(t);
    const d = new Date(t + this.offset(t)), micro = Math.round((t - Math.floor(t / 1000) * 1000) * 1000);
    const fraction = micro ? "." + pad(micro, 6).replace(/0{1,3}$/, "") : "";
    return `${d.getUTCFullYear()}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())} ${this.hms(d)}${fraction}${this.zone === "utc" ? "Z" : ""}`;
  }
  hms(d) { return `${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}:${pad(d.getUTCSeconds())}`; }
  // time is without the date: the log has one line for it.
  time(place) {
    const t = this.warp(place);
    if (this.zero !== null) return this.relative(t);
    return this.hms(new Date(t + this.offset(t)));
  }
  date(place) { const t = this.warp(place); return this.zero === null ? new Date(t + this.offset(t)).toISOString().slice(0, 10) : ""; }
  relative(t) {
    const s = Math.abs(t - this.zero) / 1000, sign = t < this.zero ? "-" : "";
    return `${sign}${pad(s / 3600)}:${pad(s / 60 % 60)}:${pad(s % 60)}.${pad(s * 1000 % 1000 + 1e-6, 3)}`;
  }
  tick(place, step) {
    const t = this.warp(place);
    if (this.zero !== null) return this.relative(t);
    const d = new Date(t + this.offset(t));
    if (step >= day || d.getUTCHours() + d.getUTCMinutes() + d.getUTCSeconds() === 0 && step >= minute)
      return d.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
    return step >= minute ? this.hms(d).slice(0, 5) : step >= second ? this.hms(d) : this.hms(d) + "." + pad(t % 1000, 3);
  }
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, second, 2 * second, 5 * second, 10 * second, 30 * second, minute, 2 * minute, 5 * minute,
  10 * minute, 30 * minute, hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 7 * day, 14 * day, 28 * day, 90 * day, 365 * day];

// ticks are the marks of a ruler, apart far enough to be read.
export function ticks(view, width, clock, apart = 96) {
  const step = steps.find(s => s / (view.to - view.from) * width >= apart) ?? steps.at(-1);
  const shift = clock.offset(view.from), out = [];
  for (let t = Math.ceil((view.from + shift) / step) * step - shift; t <= view.to; t += step) out.push({ t, label: clock.tick(t, step) });
  return out;
}

// span is a length of time for people.
export function span(ms) {
  const s = Math.max(ms, 0) / 1000;
  if (s < 1) return `${Math.round(ms)}ms`;
  if (s < 60) return `${Math.round(s)}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${pad(s % 60)}s`;
  if (s < 86400) return `${Math.floor(s / 3600)}h${pad(s / 60 % 60)}m`;
  return `${Math.floor(s / 86400)}d${pad(s / 3600 % 24)}h`;
}

// many is a number of things, in words.
export const many = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

export const $ = id => document.getElementById(id);

// el makes an element; nothing it is given is ever read as markup.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined && value !== null) made.setAttribute(name, value);
  made.append(...children.filter(c => c !== null && c !== undefined && c !== ""));
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// inSight has space hold the lines of a list that box shows, and a few around them, each as
// high as the others. Those that were drawn stay as they are; it answers what is drawn now.
export function inSight(box, space, height, around, count, drawn, make) {
  const top = Math.max(Math.floor(box.scrollTop / height) - around, 0);
  const bottom = Math.min(Math.ceil((box.scrollTop + box.clientHeight) / height) + around, count);
  const now = new Map();
  for (let i = top; i < bottom; i++) {
    const line = drawn.get(i) ?? make(i);
    line.style.transform = `translateY(${i * height}px)`;
    now.set(i, line);
  }
  const stays = new Set(now.values());
  for (const line of [...space.children]) if (!stays.has(line)) line.remove();
  let next = space.firstChild; // what stays is in order already
  for (const line of stays) if (line === next) next = next.nextSibling; else space.insertBefore(line, next);
  return now;
}
