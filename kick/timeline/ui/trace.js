import { $, el, many } from "./format.js";

const story = { user: "people", fault: "faults", judge: "laws", kick: "KICK's calls and log", world: "nodes", kcm: "controllers" };
const ranks = ["Story", "Secret", "ConfigMap", "KickPolicy", "SourceObservation", "KickRequest", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ControllerRevision", "Pod"];
const runs = /^pod \S+ runs (.*)$/, ends = /: (deleted|is being deleted)/, moves = /^KickRequest \S+: (?:\S* -> )?([A-Z]\w+)/;
const stateOf = { Pending: "pending", Executing: "rolling", Succeeded: "fresh", NoLongerRequired: "fresh", Failed: "failed", DryRun: "dry-run" };
const hueOf = text => [...text].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 9973, 7) * 137 % 360;

// Trace shows the event log of a simulation instead of a cluster: one lane an object, and
// for pods what their containers have loaded. It draws even steps unless asked for true
// time, since microseconds and hours stand side by side in it.
export class Trace {
  constructor(page, data) {
    this.page = page;
    this.lines = data.lines ?? [];
    this.scenarios = [...new Set(this.lines.map(l => l.scenario))];
    this.scenario = this.scenarios[0];
    this.even = true;
    this.logs = this.all = false;
    $("what").textContent = `simulation · build ${data.build}`;
  }

  run() {
    const pick = el("select", { "aria-label": "Scenario" }, ...this.scenarios.map(s => el("option", { value: s }, s)));
    pick.addEventListener("change", () => { this.scenario = pick.value; this.fill(); });
    const options = [["even", "even steps"], ["logs", "log lines"], ["all", "all writes of the cluster"]].map(([name, text]) => {
      const box = el("input", { type: "checkbox", id: "option-" + name });
      box.checked = this[name];
      box.addEventListener("change", () => { this[name] = box.checked; this.fill(); });
      return el("label", {}, box, " " + text);
    });
    $("options").replaceChildren(...(this.scenarios.length > 1 ? [pick] : []), ...options);
    this.fill();
  }

  fill() {
    const lines = this.lines.filter(l => l.scenario === this.scenario && (this.logs || !l.log) &&
      (this.all || !["kcm", "world"].includes(l.actor) || runs.test(l.text) || /deleted|created/.test(l.text)));
    const place = this.axis(lines), lanes = new Map();
    for (const l of lines) {
      const [kind, name] = l.object ? [l.object.split(" ")[0], l.object.split(" ")[1]] : ["Story", story[l.actor] ?? l.actor];
      const id = `${kind} ${name}`;
      if (!lanes.has(id)) {
        const rank = ranks.indexOf(kind);
        lanes.set(id, { id, group: kind, rank: rank < 0 ? ranks.length : rank, kind, name, badge: "", state: "", word: "", message: "", facts: [], bands: [], events: [], search: id.toLowerCase() });
      }
      const lane = lanes.get(id);
      lane.events.push(eventOf(l, lane, place(l.t)));
      bandOf(l, lane, place(l.t));
    }
    for (const lane of lanes.values()) lane.search += " " + lane.events.map(e => e.message).join(" ").toLowerCase();
    this.page.board.replace([...lanes.values()]);
    this.page.connection("", many(lines.length, "line"));
    this.page.changed();
  }

  // axis leads from a time of the trace to its place, and the clock back.
  axis(lines) {
    const zero = lines.length ? Date.parse(lines[0].at) - lines[0].t * 1000 : 0;
    const times = [...new Set(lines.map(l => l.t))].sort((a, b) => a - b), step = 1000;
    this.page.clock.zero = zero;
    this.page.clock.warp = t => t;
    this.last = zero + (times.at(-1) ?? 0) * 1000;
    if (!this.even || times.length < 2) return t => zero + t * 1000;
    const column = new Map(times.map((t, i) => [t, i]));
    this.page.clock.warp = p => {
      const at = Math.min(Math.max((p - zero) / step, 0), times.length - 1), i = Math.floor(at), next = times[i + 1] ?? times[i];
      return zero + (times[i] + (next - times[i]) * (at - i)) * 1000;
    };
    this.last = zero + (times.length - 1) * step;
    return t => zero + column.get(t) * step;
  }

  now() { return this.last; }
  graph() { return null; }
  facts() { return null; }
}

function eventOf(l, lane, at) {
  const said = [l.actor === "judge" ? "a law broke" : l.actor, l.manager && "as " + l.manager, l.verb, l.rv && "rv " + l.rv].filter(Boolean).join(", ");
  const type = l.actor === "judge" ? "fault" : ["user", "kick", "fault", "kcm"].includes(l.actor) ? l.actor : "world";
  return { at, type, reason: said, message: l.says ? `${l.text}. ${l.says}` : l.text, lane: lane.id };
}

// bandOf carries a lane's band on: what a pod has loaded, where a request stands.
function bandOf(l, lane, at) {
  const loaded = runs.exec(l.text)?.[1], phase = moves.exec(l.text)?.[1], last = lane.bands.at(-1);
  const over = loaded || phase || ends.test(l.text);
  if (last && over && last.to === Infinity) last.to = at;
  if (loaded) lane.bands.push({ from: at, to: Infinity, state: "loaded", label: loaded, hue: hueOf(loaded) });
  if (phase) lane.bands.push({ from: at, to: Infinity, state: stateOf[phase] ?? (phase.startsWith("Waiting") ? "waiting" : "pending"), label: phase });
}
