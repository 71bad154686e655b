import { $, instant, many } from "./format.js";

const badges = { Deployment: "deploy", StatefulSet: "sts", DaemonSet: "ds" };

// Live reads lanes from the server of the page, and hears of changes.
export class Live {
  constructor(page) {
    this.page = page;
    this.token = "";
    this.wait = 1000;
    this.skew = 0;
  }

  headers() { return this.token ? { Authorization: "Bearer " + this.token } : {}; }

  async get(path, parameters = {}) {
    const query = new URLSearchParams(parameters).toString();
    const answer = await fetch(path + (query ? "?" + query : ""), { headers: this.headers() });
    const body = await answer.json().catch(() => ({ error: `${path}: ${answer.status}` }));
    if (!answer.ok) throw Object.assign(new Error(body.error), { status: answer.status });
    return body;
  }

  // run shows what is there and follows what changes, for as long as the page lives.
  async run() {
    for (;;) {
      try {
        await this.follow();
      } catch (e) {
        if (e.status === 401) { await this.ask(e.message); continue; }
        this.page.connection("off", e.status ? e.message : "No connection; trying again");
        if (e.status === 403) this.page.notice(e.message);
      }
      await new Promise(done => setTimeout(done, this.wait));
      this.wait = Math.min(this.wait * 2, 30e3);
    }
  }

  // ask has the token typed in: nothing keeps one. Escape does not lead past it, as there
  // is nothing to see without one.
  ask(why) {
    $("token-why").textContent = why;
    const dialog = $("token-dialog"), form = $("token-form");
    if (!dialog.open) dialog.showModal();
    return new Promise(done => {
      const stay = () => dialog.showModal();
      dialog.addEventListener("close", stay);
      form.addEventListener("submit", e => {
        e.preventDefault();
        dialog.removeEventListener("close", stay);
        this.token = $("token").value.trim();
        $("token").value = "";
        dialog.close();
        done();
      }, { once: true });
    });
  }

  // follow reads the stream first and the overview after its hello, so that no change
  // falls in between. A browser's own EventSource cannot send a token.
  async follow() {
    const answer = await fetch("stream", { headers: { Accept: "text/event-stream", ...this.headers() } });
    if (!answer.ok) throw Object.assign(new Error((await answer.json().catch(() => ({}))).error ?? `stream: ${answer.status}`), { status: answer.status });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "", silent;
    const listen = () => { clearTimeout(silent); silent = setTimeout(() => reader.cancel(), 35e3); };
    try {
      for (;;) {
        listen();
        const { value, done } = await reader.read();
        if (done) throw new Error("the stream has ended");
        const parts = (rest + value).split("\n\n");
        rest = parts.pop();
        for (const part of parts) await this.heard(part);
      }
    } finally {
      clearTimeout(silent);
      reader.cancel().catch(() => {});
    }
  }

  async heard(part) {
    const event = /^event: (.*)$/m.exec(part)?.[1], data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? "null");
    if (event === "hello" || event === "reload") await this.overview();
    if (event === "hello") this.wait = 1000;
    if (event === "lanes") this.page.board.put(data.map(laneOf));
    if (event === "gone") this.page.board.remove(data.map(idOf));
    if (data?.now) this.skew = instant(data.now) - Date.now();
    this.page.connection("on", "Live");
    if (event === "beat") this.page.ask(); else this.page.changed(); // a beat only says that time has passed
  }

  async overview() {
    const got = await this.get("overview");
    this.skew = instant(got.now) - Date.now();
    this.page.notice("");
    this.page.emptyText = "Nothing to show: no KickPolicy selects a workload that you may see.";
    this.page.board.replace(got.lanes.map(laneOf));
  }

  now() { return Date.now() + this.skew; }

  async graph(namespace) {
    return this.get("dag", { namespace }).catch(e => { this.page.notice(e.message); return null; });
  }

  // facts are what a workload reads, and what the rules say of it now.
  async facts(lane) {
    return this.get("../timeline", { namespace: lane.group, kind: lane.kind, name: lane.name }).catch(() => null);
  }
}

const idOf = l => `${l.namespace}/${l.kind}/${l.name}`;

function laneOf(l) {
  const id = idOf(l);
  return {
    id, group: l.namespace, name: l.name, kind: l.kind, badge: badges[l.kind] ?? l.kind.toLowerCase(), state: l.state, word: l.state, message: l.message,
    search: `${l.namespace} ${l.name} ${l.kind} ${l.state} ${l.reason} ${l.policies.join(" ")}`.toLowerCase(),
    facts: [["policy", l.policies.join(", ") || "none selects it"], ["request", l.request && `${l.request} · ${l.phase}`], ["reason", l.reason],
      ["looks again", l.looksAgainAt && instant(l.looksAgainAt)], ["not shown", l.eventsDropped && many(l.eventsDropped, "older event")]],
    bands: l.bands.map(b => ({ from: instant(b.from), to: b.to ? instant(b.to) : Infinity, state: b.state })),
    events: l.events.map(e => ({ at: instant(e.at), type: e.type, reason: e.reason, message: e.message, lane: id })),
  };
}
