// A page in manual time, for tests: timers, frames, clocks, and what the probe tells of them.
"use strict";
const { PageHost, Link, install } = require("../../../inspector/probe/js/probe.js").internals;

const D = 720720000;
const NAMES = {
  1: "clock_added", 2: "clock_anchored", 3: "clock_rate", 4: "clock_paused", 5: "clock_resumed",
  16: "timer_added", 17: "timer_origin", 18: "timer_armed", 19: "timer_fired",
  20: "timer_cleared", 21: "ticks_missed", 32: "frame_began", 34: "frame_ended",
  48: "callback_failed", 49: "mark",
};

class Page {
  /** A page whose clock shows `startMs` at the start; frames come every 16 ms. */
  constructor({ startMs = 5000, title = "page" } = {}) {
    this.ms = startMs;
    this.queue = new Map();
    this.frames = new Map();
    this.number = 0;
    const page = this;
    class RealDate extends Date {
      constructor(...args) {
        super(...(args.length ? args : [page.dateMs()]));
      }
      static now() {
        return page.dateMs();
      }

      static UTC = Date.UTC;
    }
    this.listeners = [];
    this.global = {
      Date: RealDate,
      performance: { now: () => this.ms },
      setTimeout: (call, ms, ...args) => this.set(call, ms, 0, args),
      setInterval: (call, ms, ...args) => this.set(call, ms, ms, args),
      clearTimeout: (key) => this.queue.delete(key),
      clearInterval: (key) => this.queue.delete(key),
      requestAnimationFrame: (call) => (this.frames.set(++this.number, call), this.number),
      cancelAnimationFrame: (key) => this.frames.delete(key),
      document: { title, addEventListener: (type, call) => this.listeners.push([type, call]) },
      location: { href: "http://localhost/" },
      navigator: { userAgent: "Chrome/156.0" },
    };
    this.host = new PageHost(this.global);
    this.program = install(this.host);
    this.program.isWatched = true;
    this.told = [];
    this.batches = []; // events that were told and not read yet
    this.read = [];
    this.texts = [""];
    this.nextFrame = startMs + 16;
  }

  dateMs() {
    return Math.floor(1.7e12 + this.ms);
  }

  set(call, ms, period, args) {
    // As engines do with what their number of 32 bits cannot hold.
    const due = this.ms + (ms >= 2 ** 31 ? 0 : Math.max(0, Number(ms) || 0));
    this.queue.set(++this.number, { due, period, order: this.number, call: () => call(...args) });
    return this.number;
  }

  /** The file of a script has been loaded and run. */
  loaded() {
    for (const [type, call] of this.listeners) if (type === "load") call({ target: { tagName: "SCRIPT" } });
  }

  /** Let real time pass; timers and frames are called in their order. */
  pass(ms) {
    const end = this.ms + ms;
    for (;;) {
      const next = [...this.queue.entries()].sort(([, a], [, b]) => a.due - b.due || a.order - b.order)[0];
      const due = next ? next[1].due : Infinity;
      if (Math.min(due, this.nextFrame) > end) break;
      if (this.nextFrame <= due) {
        this.ms = Math.max(this.ms, this.nextFrame);
        this.nextFrame = this.ms + 16;
        const called = [...this.frames.values()];
        this.frames.clear();
        for (const call of called) call(this.ms);
      } else {
        const [key, entry] = next;
        this.ms = Math.max(this.ms, entry.due);
        if (entry.period) entry.due += entry.period * (1 + Math.floor((this.ms - entry.due) / entry.period));
        else this.queue.delete(key);
        entry.call();
      }
    }
    this.ms = Math.max(this.ms, end); // a callback may have worked for longer
  }

  /** Attach an inspector that answers the hello and acknowledges what it gets. */
  attach({ grant = "full", acknowledges = true } = {}) {
    const page = this;
    const { program } = this;
    this.connection = {
      isOpen: true,
      sendText(text) {
        const message = JSON.parse(text);
        page.told.push(message);
        if (message.method === "Events.texts") page.texts.push(...message.params.texts);
      },
      sendEvents(bytes) {
        page.batches.push(bytes);
        if (acknowledges) program.sender.acknowledge(program.sender.sent);
      },
      settle() {},
      close() {
        this.isOpen = false;
      },
    };
    program.grant = grant;
    this.link = new Link(program, this.connection, { token: "ab".repeat(16) });
    this.connection.onReady();
    this.say({ id: 0, result: { protocol: 1, role: "inspector" } });
    return this;
  }

  /** All events so far: kind, subject, the two numbers, instant. */
  get events() {
    for (const { buffer, length } of this.batches.splice(0)) {
      const view = new DataView(buffer);
      const number = (at) => view.getInt32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
      for (let i = 0; i < length; i += 40) {
        this.read.push([NAMES[number(i + 8)], number(i + 16), number(i + 24), number(i + 32), number(i)]);
      }
    }
    return this.read;
  }

  say(message) {
    this.connection.onText(JSON.stringify(message));
  }

  /** Ask for something; returns the answer. */
  ask(method, params = {}) {
    const id = (this.asked = (this.asked || 100) + 1);
    this.say({ id, method, params });
    return this.told.find((message) => message.id === id);
  }

  /** Let real time pass as `pass` does, with an inspector that lives. */
  passAttached(ms) {
    for (; ms > 0; ms -= 500) {
      this.say({ method: "Link.ping", params: { n: 1 } });
      this.pass(Math.min(ms, 500));
    }
  }

  /** Events of some kinds, so far. */
  seen(...kinds) {
    this.program.sender.flush();
    return this.events.filter(([kind]) => kinds.includes(kind));
  }

  notices(method) {
    return this.told.filter((message) => message.method === method).map(({ params }) => params);
  }
}

module.exports = { Page, D };
