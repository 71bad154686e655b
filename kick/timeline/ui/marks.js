import { svg } from "./format.js";

// Marks are told apart by shape first, and by colour. Each is drawn around 0,0.
export const shapes = {
  change: ["M0-6 6 0 0 6-6 0Z", "source changed"],
  request: ["M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0M-2 0a2 2 0 1 1 4 0a2 2 0 1 1-4 0", "restart wanted"],
  waiting: ["M-4.5-5h3.2V5h-3.2ZM1.3-5h3.2V5H1.3Z", "waiting"],
  restart: ["M-4.5-6 6 0-4.5 6Z", "restarted"],
  done: ["M-6 0-3.6-2.4-1.4-.2 3.8-5.4 6.2-3-1.4 4.8Z", "nothing left to do"],
  failure: ["M-5.2-3.4-3.4-5.2 0-1.8 3.4-5.2 5.2-3.4 1.8 0 5.2 3.4 3.4 5.2 0 1.8-3.4 5.2-5.2 3.4-1.8 0Z", "failed"],
  event: ["M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0", "other record"],
  user: ["M0-6 6 0 0 6-6 0Z", "a person, or a tool"],
  kick: ["M-4.5-6 6 0-4.5 6Z", "KICK"],
  fault: ["M-5.2-3.4-3.4-5.2 0-1.8 3.4-5.2 5.2-3.4 1.8 0 5.2 3.4 3.4 5.2 0 1.8-3.4 5.2-5.2 3.4-1.8 0Z", "fault, or a law that broke"],
  kcm: ["M-4-4H4V4H-4Z", "Kubernetes' controllers"],
  world: ["M-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0-5.2 0", "nodes and the rest"],
};

export const liveMarks = ["change", "request", "waiting", "restart", "done", "failure", "event"];
export const traceMarks = ["user", "kick", "fault", "kcm", "world"];

export const states = { fresh: "fresh", pending: "changed, not judged yet", waiting: "waits", rolling: "rolling out", failed: "failed", "dry-run": "dry run" };

// weight says which mark stands for several that fall together.
const weight = { failure: 9, fault: 9, restart: 8, kick: 7, user: 6, change: 6, waiting: 5, done: 4, request: 3, kcm: 2, event: 1, world: 1 };

// icon is a mark beside text; the text says what it means.
export function icon(type) {
  return svg("svg", { class: "icon", viewBox: "-8 -8 16 16", "aria-hidden": "true" }, svg("path", { d: shapes[type][0], class: "mark " + type }));
}

// gathered puts events that would cover each other into one mark: {x, type, from, count},
// from being the index of the first. So a lane never draws more marks than it has room for.
export function gathered(events, start, end, x, apart = 9) {
  const out = [];
  for (let i = start; i < end; i++) {
    const at = x(events[i].at), last = out.at(-1);
    if (last && at - last.first < apart) {
      last.count++;
      last.x = (last.first + at) / 2;
      if (weight[events[i].type] > weight[last.type]) last.type = events[i].type;
    } else {
      out.push({ x: at, first: at, type: events[i].type, from: i, count: 1 });
    }
  }
  return out;
}
