// The probe for JavaScript: what runs inside Node programs and pages that are looked at.
//
// The program's clock stands between it and real time: `Date`, `performance.now`, timers and
// animation frames read and wait for local time, `local = (real * n + off) / D` in whole
// nanoseconds. Everything that happens is told to the inspector as events; the help page
// *Protocol* describes the messages. Nothing here evaluates code that was received.
//
// Node loads this file by `--require` and dials as the environment says. In a page it is started
// by the inspector, or by the page: `timelineProbe.connect({url, token})`.
(function () {
  "use strict";

  const PROTOCOL = 1;
  /** The oldest version of the vocabulary that has every kind sent here. */
  const VOCABULARY = 7;

  /** Rates are whole multiples of one over D. */
  const D = 720720000;
  const BIG_D = 720720000n;
  const MAX_RATE = 1000000 * D;
  const NEVER = Infinity; // sent as 2^63 - 1

  const CLOCK_ADDED = 1, CLOCK_ANCHORED = 2, CLOCK_RATE = 3, CLOCK_PAUSED = 4, CLOCK_RESUMED = 5;
  const TIMER_ADDED = 16, TIMER_ORIGIN = 17, TIMER_ARMED = 18, TIMER_FIRED = 19;
  const TIMER_CLEARED = 20, TICKS_MISSED = 21;
  const FRAME_BEGAN = 32, FRAME_ENDED = 34, CALLBACK_FAILED = 48, MARK = 49;
  const STACK_FRAME = 80, RUNNING_CALL = 81, SAMPLE_TIMES = 83, SAMPLED = 84;
  const SAW_WAIT = 2, SAW_NO_TIMES = 4, SAW_END = 16, SAW_EARLIER = 128;
  const RUNS_CALLBACK = 0, RUNS_FRAME = 2;
  const TIMEOUT = 0, INTERVAL_DELAY = 2, INTERVAL_SKIP = 3;

  const MAX_MESSAGE = 1 << 20, MAX_NESTING = 8, MAX_TEXT = 1 << 16, MAX_NUMBER = 2 ** 63;
  const MAX_TEXTS = 200000, MAX_NAME = 256;
  const MAX_EVENTS = 1024, EVENT_BYTES = 40, WINDOW_BYTES = 8 << 20;
  const BATCH_MS = 16, BEAT_MS = 500, SILENCE_MS = 2000, HELLO_MS = 5000, SLICE_NS = 4e6;

  const MALFORMED = 1, UNKNOWN_METHOD = 2, BAD_PARAMS = 3, NOT_GRANTED = 4, NOT_POSSIBLE = 5;
  const NO_SUCH = 6, TOO_LARGE = 7;

  /** The program's clock, the only one of a page or of an event loop of Node. */
  const CLOCK = 1;
  /** Runtimes round to milliseconds: a timer that is called this much early is on time. */
  const EARLY_NS = 1.2e6;
  const LONGEST_MS = 2 ** 31 - 1;
  /** Immediates in a row, each set by the one before, that are called while held. */
  const MOST_IMMEDIATES = 8;
  /** Readings in one turn of the event loop, and how long it took, that are taken for waiting. */
  const SPIN_READINGS = 1000, SPIN_HELD_NS = 5e8, SPIN_SLOW_NS = 15e8;
  const FRAME_NS = 1e9 / 60;
  /** Timers of engines are looked at once a frame, so this much later or earlier is no change. */
  const ENGINE_NS = 5e7;
  const MOST_HOOK_MS = 0.1, MOST_FLUSH_MS = 5;

  /** What runs a program that sees other files. */
  const ELSEWHERE = /(^|\/)(bwrap|chroot|docker|firejail|flatpak|nsenter|podman|proot|unshare)$/;
  const SHELL = /(^|\/)(ash|bash|dash|ksh|sh|zsh)$/;
  /** Longer shell scripts are not looked through. */
  const SCRIPT_BYTES = 65536;
  /** What NODE_OPTIONS has of ours. */
  const PRELOAD = /--require "([^"\\]|\\.)*probe\.js"/;
  /** A turn of a loop is long from here on; V8 looks at the thread so often, in microseconds. */
  const LONG_NS = 1e7, LOOK_US = 20000;
  /** What was looked at is kept for so long; reading it again waits for so many times its cost. */
  const RING_NS = 1e10, READ_SHARE = 50;
  /** Without a long turn for so long, V8 does not look any more until there is one. */
  const QUIET_NS = 3e10;
  const MOST_FRAMES = 120, WHOLE_EVERY = 32;
  /** Functions of Node that wait, and the files they are in. */
  const WAITS = /^(spawn|exec|execFile|open|read|write|readFile|writeFile|fsync|copyFile|rm|readv|writev)Sync$/;
  const WAITING_FILES = /^node:(internal\/)?(child_process|fs)(\/|$)/;
  /** A thread that was busy for less of the time has waited. */
  const HARDLY = 0.25;
  const COLLECTION = "(garbage collector)";

  /** What paths of installed packages have. */
  const PACKAGE = /[\\/]node_modules[\\/]/;
  const OWN_FILE = typeof __filename === "string" ? __filename : "";
  /** What Deno must allow for a program to be seen. */
  const NEEDED_IN_DENO = ["env", "read", "write", "net", "sys"];

  const LATE = "attached late: what was set before is not seen until the page is reloaded";

  const RECORD = Symbol("timeline.record");
  const TYPE_JSON = 74, TYPE_EVENTS = 69;
  /** Half of a character that takes two units of UTF-16. */
  const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

  class Refusal extends Error {
    constructor(code, message) {
      super(message);
      this.code = code;
    }
  }

  // ------------------------------------------------------------------ the clock

  function floorDiv(a, b) {
    const quotient = a / b;
    return a % b < 0n ? quotient - 1n : quotient;
  }

  /** Local time as an exact function of real time; both are whole nanoseconds. */
  class Clock {
    constructor() {
      this.rate = D; // what it runs at unless paused
      this.isPaused = false;
      this.n = D; // what it runs at now
      this._set(0n);
    }

    _set(off) {
      this.off = off;
      this.whole = Number(floorDiv(off, BIG_D));
    }

    local(at) {
      if (this.n === D) return at + this.whole;
      if (this.n === 0) return this.whole;
      return Number(floorDiv(BigInt(at) * BigInt(this.n) + this.off, BIG_D));
    }

    /** The first real instant at which local time has reached `due`, Infinity while it stands. */
    realAt(due) {
      if (this.n === D) return due - this.whole;
      if (this.n === 0) return due <= this.whole ? -Infinity : Infinity;
      return Number(-floorDiv(this.off - BigInt(due) * BIG_D, BigInt(this.n)));
    }

    /** Pause it or change its rate at a real instant; local time never jumps. */
    change(at, isPaused, rate) {
      const n = isPaused ? 0 : rate;
      this._set(this.off + BigInt(at) * BigInt(this.n - n));
      this.n = n;
      this.rate = rate;
      this.isPaused = isPaused;
    }

    /** Drop the fraction of a nanosecond, and return the real instant at which it would be 0. */
    anchor(at) {
      const local = this.local(at);
      this._set(BigInt(local) * BIG_D - BigInt(at) * BigInt(this.n));
      return at - local;
    }
  }

  // ----------------------------------------------------------- what is told: events

  /** Batches of events and the texts they use; bounded, and what is lost is counted. */
  class Sender {
    constructor(host) {
      this.host = host;
      this.link = null;
      this.onGap = null; // called when events may be sent again after a loss
      this.turns = null; // looks at long turns, where the runtime can
      this.reset();
    }

    reset() {
      this.bytes = new DataView(new ArrayBuffer(MAX_EVENTS * EVENT_BYTES));
      this.count = 0;
      this.oldest = this.latest = 0;
      this.timer = null;
      this.sent = 0;
      this.acknowledged = 0;
      this.dropped = 0;
      this.cost = 0; // nanoseconds spent outside of hooks
      this.lost = null; // counts by kind while events are dropped
      this.texts = new Map([["", 0]]);
      this.waiting = [];
    }

    /** The number of a text, sent before the events that use it. */
    text(text) {
      let number = this.texts.get(text);
      if (number === undefined) {
        if (this.texts.size >= MAX_TEXTS) return this.texts.get("…");
        if (this.texts.size === MAX_TEXTS - 1) text = "…";
        number = this.texts.size;
        this.texts.set(text, number);
        this.waiting.push(cut(text));
      }
      return number;
    }

    event(at, kind, subject, a, b) {
      if (this.link === null) return;
      if (this.turns !== null && at - this.latest > LONG_NS) this.turns.look(at);
      if (this.lost !== null) {
        this.lost[kind] = (this.lost[kind] || 0) + 1;
        this.dropped++;
        return;
      }
      const place = this.count * EVENT_BYTES;
      if (at < this.latest) at = this.latest;
      this.latest = at;
      this._instant(place, at);
      this._number(place + 8, kind);
      this._number(place + 16, subject);
      this._number(place + 24, a);
      this._number(place + 32, b);
      if (this.count++ === 0) {
        this.oldest = at;
        if (this.timer === null) {
          this.timer = this.host.later(BATCH_MS, () => {
            const began = this.host.performanceNow();
            this.timer = null;
            this.flush();
            this.cost += Math.min(this.host.performanceNow() - began, MOST_FLUSH_MS) * 1e6;
          });
        }
      } else if (this.count === MAX_EVENTS || at - this.oldest > BATCH_MS * 1e6) {
        this.flush();
      }
    }

    _number(place, value) {
      if (value === NEVER) {
        this.bytes.setUint32(place, 0xffffffff, true);
        this.bytes.setUint32(place + 4, 0x7fffffff, true);
      } else {
        this.bytes.setUint32(place, value, true);
        this.bytes.setUint32(place + 4, Math.floor(value / 4294967296), true);
      }
    }

    /** Write a real instant: what the host's clock showed at the start is added in halves. */
    _instant(place, at) {
      const low = (at >>> 0) + this.host.originLow;
      this.bytes.setUint32(place, low, true);
      const carry = low > 0xffffffff ? 1 : 0;
      this.bytes.setUint32(place + 4, Math.floor(at / 4294967296) + this.host.originHigh + carry, true);
    }

    /** The event CLOCK_ANCHORED, whose first number is a real instant. */
    anchored(at, zero) {
      const place = this.count * EVENT_BYTES;
      this.event(at, CLOCK_ANCHORED, CLOCK, 0, D);
      if (this.link !== null && this.lost === null && this.count > place / EVENT_BYTES) {
        this._instant(place + 24, zero);
      }
    }

    flush() {
      if (this.link === null || this.count === 0) return;
      for (let first = this.texts.size - this.waiting.length; this.waiting.length; ) {
        let size = 0;
        let many = 0;
        while (many < this.waiting.length && size < MAX_MESSAGE / 2) {
          size += 6 * this.waiting[many++].length + 3;
          if (many > 1 && size > MAX_MESSAGE / 2) many--, (size = MAX_MESSAGE);
        }
        const texts = this.waiting.splice(0, many);
        this.link.notify("Events.texts", { first, texts });
        first += many;
      }
      const batch = new Uint8Array(this.bytes.buffer.slice(0, this.count * EVENT_BYTES));
      this.sent += this.count;
      this.count = 0;
      this.link.connection.sendEvents(batch);
      if ((this.sent - this.acknowledged) * EVENT_BYTES > WINDOW_BYTES) this.lost = {};
    }

    acknowledge(events) {
      this.acknowledged = Math.min(Math.max(events, this.acknowledged), this.sent);
      if (this.lost !== null && this.unacknowledged() < WINDOW_BYTES / 2) {
        const counts = this.lost;
        this.lost = null;
        this.link.notify("Events.lost", { counts });
        this.onGap();
      }
    }

    unacknowledged() {
      return (this.sent - this.acknowledged) * EVENT_BYTES;
    }
  }

  /** The name of a function, or the place where it was set. */
  function nameOf({ name: given }, site) {
    const name = typeof given === "string" ? given.replace(/^(bound )+/, "") : "";
    if (name !== "") return name.slice(0, MAX_NAME);
    const [, place] = /([^/\\]*:\d+)( in .*)?$/.exec(site) || [];
    return place ? `anonymous (${place.slice(0, MAX_NAME)})` : "anonymous";
  }

  function cut(text) {
    const whole = HALF.test(text) ? text.replace(new RegExp(HALF, "g"), "\ufffd") : text;
    return whole.length * 3 <= MAX_TEXT ? whole : whole.slice(0, MAX_TEXT / 3 - 1) + "…";
  }

  // ------------------------------------------------------------------ the program

  /** The program's time, timers and frames, and what can be done with them. */
  class Program {
    constructor(host) {
      this.host = host;
      this.clock = new Clock();
      this.sender = new Sender(host);
      this.sender.onGap = () => this.keyframe();
      this.grant = "full";
      this.title = host.title();
      this.isWatched = false; // without an inspector, hooks go straight to the runtime
      this.isMoved = false; // whether local time has ever left real time
      this.stood = this.standsSince = 0; // real time in which the clock stood still, and since when
      this.dateShift = 0; // at rate 1, added to the date
      this.dateBase = 0; // at another rate, the date at local 0
      this.timers = new Set(); // records that are pending
      this.calling = null; // the record of the timer that is being called
      this.timerCount = 0;
      this.generation = 0; // of keyframes
      this.parked = []; // immediates that wait while held
      this.depth = 0; // of the immediate that is being called
      this.stayAwake = null;
      this.step = null;
      this.stepEnd = Infinity; // real instant
      this.allowed = -Infinity; // while held, timers due until then are called
      this.frames = new Frames(this);
      this.turnBegan = -1;
      this.readings = 0;
      this.longestTurn = this.longestCause = 0; // held after a longer frame, on whose account
      this.refusal = ""; // why it cannot be held or slowed
      this.failing = null;
      this.calls = 0;
      this.cost = 0;
      this.fire = this.fire.bind(this);
    }

    /** The present real instant; ends a step whose end it has passed. */
    now() {
      const at = this.host.now();
      if (at >= this.stepEnd) this._reachStep();
      return at;
    }

    // ------------------------------------------------------- what the program reads

    /** Local time, for the program. */
    read() {
      const at = this.now();
      if (this.clock.n < D) this._watchWaiting(at);
      return this.clock.local(at);
    }

    performanceNow() {
      return this.isMoved ? this.host.performance0 + this.read() / 1e6 : this.host.performanceNow();
    }

    dateNow() {
      if (!this.isMoved) return this.host.dateNow();
      const local = this.read();
      if (this.clock.n === D) return this.host.dateNow() + this.dateShift;
      return Math.floor(this.dateBase + local / 1e6);
    }

    /** A loop that waits for the clock without returning to the event loop is let go. */
    _watchWaiting(at) {
      if (this.turnBegan < 0) {
        this.turnBegan = at;
        this.readings = 0;
        this.host.afterTurn(() => (this.turnBegan = -1));
      } else if (++this.readings > SPIN_READINGS) {
        const limit = this.clock.n === 0 ? SPIN_HELD_NS : SPIN_SLOW_NS;
        if (at - this.turnBegan < limit) return;
        this.refusal = "the program waits for its clock in a loop that does not return to the event loop";
        this.letGo(at);
        this.mark(`let go: ${this.refusal}`);
        this.changed();
      }
    }

    // ----------------------------------------------------------------- pause and rate

    /** Pause the clock or change its rate, from a real instant on. */
    change(at, isPaused, rate, cause) {
      const { clock } = this;
      const wasPaused = clock.isPaused;
      const oldRate = clock.rate;
      const oldN = clock.n;
      if (wasPaused === isPaused && oldRate === rate) return;
      const local = clock.local(at);
      const real = this.host.dateNow() - (this.host.now() - at) / 1e6; // the date at that instant
      const date = oldN === D ? real + this.dateShift : this.dateBase + local / 1e6;
      clock.change(at, isPaused, rate);
      if (oldN !== 0 && clock.n === 0) this.standsSince = at;
      else if (oldN === 0 && clock.n !== 0) this.stood += at - this.standsSince;
      this.dateBase = date - local / 1e6;
      this.dateShift = Math.round(date - real);
      this.isMoved = true;
      if (oldRate !== rate) this.sender.event(at, CLOCK_RATE, CLOCK, rate, cause);
      if (isPaused && !wasPaused) this.sender.event(at, CLOCK_PAUSED, CLOCK, cause, 0);
      if (wasPaused && !isPaused) this.sender.event(at, CLOCK_RESUMED, CLOCK, cause, 0);
      if (clock.n > oldN) this._rearm();
      if (clock.n !== 0) this._unpark();
    }

    /** For how much real time the clock has stood still up to an instant. */
    stoodAt(at) {
      return this.clock.n === 0 ? this.stood + at - this.standsSince : this.stood;
    }

    hold(at, cause) {
      this._dropStep();
      this.allowed = -Infinity;
      this.change(at, true, this.clock.rate, cause);
    }

    resume(at, cause) {
      this._dropStep();
      this.change(at, false, this.clock.rate, cause);
    }

    /** Give everything back: real rate, nothing held, time continuous. */
    letGo(at) {
      this.longestTurn = 0;
      this._dropStep();
      this.change(at, false, D, 0);
    }

    // ---------------------------------------------------------------------------- steps

    /** Let the clock run for `local_ns`, to the next timer or for a number of frames. */
    begin({ localNs, toNextTimer, frames }, cause) {
      const at = this.now();
      const { clock } = this;
      if (clock.rate === 0) throw new Refusal(NOT_POSSIBLE, "the rate is 0, so no time passes");
      this._dropStep();
      const from = clock.local(at);
      let target;
      if (toNextTimer) {
        target = NEVER;
        for (const record of this.timers) {
          if (!record.isUnarmed) target = Math.min(target, Math.max(record.due, from));
        }
        if (target === NEVER) throw new Refusal(NOT_POSSIBLE, "no timer is pending");
      } else if (frames) {
        if (!this.frames.waiting.size) throw new Refusal(NOT_POSSIBLE, "no frame is requested");
        target = this.frames.nextAt(from);
      } else {
        target = from + localNs;
      }
      this.allowed = -Infinity;
      this.step = { target, frames: frames || 0, cause };
      this.change(at, false, clock.rate, cause);
      this._aim();
    }

    /** Wait for the end of the step. */
    _aim() {
      const { step } = this;
      this.stepEnd = this.clock.realAt(step.target);
      const ms = Math.min(Math.max(0, Math.ceil((this.stepEnd - this.host.now()) / 1e6)), LONGEST_MS);
      step.timer = this.host.later(ms, () => {
        this.now();
        if (this.step === step && this.stepEnd !== Infinity) this._aim();
      });
    }

    /** The instant has come: stand still exactly there, and call what is due. */
    _reachStep() {
      const { step } = this;
      const at = this.stepEnd;
      this.stepEnd = Infinity;
      this.host.forget(step.timer);
      this.allowed = step.target;
      this.change(at, true, this.clock.rate, step.cause);
      step.due = new Set();
      for (const record of this.timers) {
        if (record.due <= step.target && !record.isUnarmed) {
          step.due.add(record);
          this.host.rearm(record, 0);
        }
      }
      if (step.frames) this.frames.allowOne();
      this.stepped(null);
    }

    /** A timer or a frame of the step is done. */
    stepped(record, frame = 0) {
      const { step } = this;
      if (step === null || step.due === undefined) return;
      step.due.delete(record);
      if (frame) step.frames--;
      if (frame && step.frames > 0) {
        step.due = undefined;
        step.target = this.frames.nextAt(this.clock.whole);
        this.change(this.host.now(), false, this.clock.rate, step.cause);
        this._aim();
      } else if (step.due.size === 0 && step.frames === 0) {
        this.step = null;
        this.tellHeld();
      }
    }

    _dropStep() {
      if (this.step === null) return;
      this.host.forget(this.step.timer);
      this.step = null;
      this.stepEnd = Infinity;
      this.frames.allowNone();
    }

    tellHeld() {
      this.sender.flush();
      const { link } = this.sender;
      if (link !== null) link.notify("Program.held", { held: this.clock.isPaused, frame: this.frames.index });
    }

    // --------------------------------------------------------------------------- timers

    /** Set a timer; `record` has what is called, and `first` the delay as the program gave it. */
    add(kind, callback, args, delay, hook) {
      const sample = this._sample();
      const shortest = kind === TIMEOUT ? this.host.shortestMs : 1;
      const ms = delay >= shortest && delay <= LONGEST_MS ? Math.trunc(delay) : shortest;
      const local = this.clock.local(this.now());
      const site = this.siteOf(hook);
      const record = {
        id: 0, kind, callback, args, period: ms * 1e6, due: local + ms * 1e6, depth: 0,
        handle: null, known: -1, name: nameOf(callback, site), site,
      };
      this._insert(record);
      if (this.clock.n === D) this.host.arm(record, delay);
      else this.host.arm(record, this._waitMs(record));
      this._measured(sample);
      return record;
    }

    _insert(record) {
      record.id = ++this.timerCount;
      record.known = -1;
      this.timers.add(record);
      this.describe(record);
    }

    /** Tell of a timer, unless it is known already since the last keyframe. */
    describe(record, at = this.now()) {
      const { sender } = this;
      if (record.known === this.generation || sender.link === null || sender.lost !== null) return;
      record.known = this.generation;
      sender.event(at, TIMER_ADDED, record.id, CLOCK, sender.text(record.name));
      sender.event(at, TIMER_ORIGIN, record.id, sender.text(record.site), record.kind);
      const period = record.kind === TIMEOUT ? 0 : record.period;
      sender.event(at, TIMER_ARMED, record.id, record.due, period);
    }

    _waitMs(record) {
      const wait = this.clock.realAt(record.due) - this.host.now();
      return wait >= LONGEST_MS * 1e6 ? LONGEST_MS : Math.max(0, Math.ceil(wait / 1e6));
    }

    _rearm() {
      for (const record of this.timers) this._schedule(record);
    }

    _schedule(record) {
      if (record.isUnarmed) return;
      if (this.clock.n === 0) this.host.park(record);
      else this.host.rearm(record, this._waitMs(record));
    }

    /** The runtime calls a timer: call the program unless it is too early in local time. */
    fire(record) {
      if (!this.timers.has(record)) return;
      const sample = this._sample();
      const at = this.now();
      const { clock } = this;
      const local = clock.local(at);
      const isEarly = clock.n === 0
        ? record.due > this.allowed
        : local < record.due && clock.realAt(record.due) - at > EARLY_NS;
      if (isEarly) {
        this._schedule(record);
        return;
      }
      const isInterval = record.kind !== TIMEOUT;
      const late = Math.max(0, local - record.due);
      const { turns } = this.sender;
      if (late > LONG_NS && turns !== null) turns.look(at, true);
      let next = NEVER;
      if (isInterval) {
        next = record.kind === INTERVAL_SKIP ? record.due + record.period : local + record.period;
        if (next <= local) {
          const missed = Math.floor((local - next) / record.period) + 1;
          next += missed * record.period;
          this.describe(record, at);
          this.sender.event(at, TICKS_MISSED, record.id, missed, record.kind);
        }
      } else {
        this._remove(record);
      }
      this.describe(record, at);
      record.due = next;
      this.sender.event(at, TIMER_FIRED, record.id, late, next);
      this._measured(sample);
      this._call(record);
      if (isInterval && this.timers.has(record)) this._again(record, next);
      this.stepped(record);
    }

    _again(record, next) {
      if (record.kind === INTERVAL_DELAY) {
        const at = this.now();
        const due = this.clock.local(at) + record.period;
        // Node counts from the end of the callback, in milliseconds.
        if (record.due === next && due - next >= 1e6) {
          record.due = due;
          this.sender.event(at, TIMER_ARMED, record.id, due, record.period);
        }
      }
      this._schedule(record);
    }

    /** Call the program; what it raises goes on to the runtime, and is told. */
    _call(record) {
      let isDone = false;
      const began = this._began();
      const outer = this.calling;
      this.calling = record;
      try {
        record.callback.apply(this.host.receiver(record), record.args);
        isDone = true;
      } finally {
        this.calling = outer;
        if (began >= 0) this._called(record, began);
        if (!isDone) {
          this.failing = record;
          if (record.kind !== TIMEOUT && this.timers.has(record)) this._again(record, record.due);
          this.stepped(record);
        }
      }
    }

    /** When a call begins, -1 where its length need not be known. */
    _began() {
      return this.sender.turns instanceof PageTurns ? this.host.now() : -1;
    }

    _called(record, began) {
      const ended = this.host.now();
      const { turns } = this.sender;
      if (ended - began > LONG_NS && turns !== null) turns.called(record, began, ended);
    }

    /** What the runtime says about a failed callback. */
    failed(error) {
      const record = this.failing;
      this.failing = null;
      if (record === null || this.sender.link === null) return;
      const trace = String((error && error.stack) || error);
      const { sender } = this;
      const at = this.now();
      sender.event(at, CALLBACK_FAILED, record.id, sender.text(record.name), sender.text(trace));
      sender.flush();
    }

    _remove(record) {
      this.host.dropped(record);
      return this.timers.delete(record);
    }

    /** Clear a timer; whether it was pending. */
    clear(record, hook, cause = 0) {
      if (!this._remove(record)) return false;
      this.describe(record);
      const site = hook === null ? 0 : this.sender.text(this.siteOf(hook));
      this.sender.event(this.now(), TIMER_CLEARED, record.id, site, cause);
      if (record.isUnarmed) this.parked = this.parked.filter((one) => one.record !== record);
      this.stepped(record);
      return true;
    }

    /** Start a timer again with its own delay, as `refresh` of Node does. */
    refresh(record) {
      const at = this.now();
      record.due = this.clock.local(at) + record.period;
      if (!this.timers.has(record)) {
        this._insert(record);
      } else {
        this.describe(record);
        const period = record.kind === TIMEOUT ? 0 : record.period;
        this.sender.event(at, TIMER_ARMED, record.id, record.due, period);
      }
      this._schedule(record);
    }

    // ----------------------------------------------------------------------- immediates

    addImmediate(callback, args, hook) {
      const sample = this._sample();
      const at = this.now();
      const site = this.siteOf(hook);
      const record = {
        id: 0, kind: TIMEOUT, callback, args, period: 0, due: this.clock.local(at),
        depth: this.depth + 1, isUnarmed: true, handle: null, known: -1,
        name: nameOf(callback, site), site,
      };
      this._insert(record);
      this._measured(sample);
      return record;
    }

    /** A loop of immediates stands still while held; single ones are called. */
    fireImmediate(record) {
      if (!this.timers.has(record)) return;
      const sample = this._sample();
      const at = this.now();
      if (this.clock.n === 0 && record.depth > MOST_IMMEDIATES) {
        this.parked.push({ record, call: this.host.bound(() => this.fireImmediate(record)) });
        if (this.stayAwake === null) this.stayAwake = this.host.stayAwake();
        return;
      }
      this._remove(record);
      this.describe(record, at);
      const late = Math.max(0, this.clock.local(at) - record.due);
      this.sender.event(at, TIMER_FIRED, record.id, late, NEVER);
      this._measured(sample);
      const outer = this.depth;
      this.depth = record.depth;
      try {
        this._call(record);
      } finally {
        this.depth = outer;
      }
      this.stepped(record);
    }

    _unpark() {
      const parked = this.parked;
      this.parked = [];
      for (const { call } of parked) this.host.soon(call);
      if (this.stayAwake !== null) this.host.forget(this.stayAwake);
      this.stayAwake = null;
      this.frames.release();
    }

    // --------------------------------------------------------------- telling the inspector

    mark(text) {
      this.sender.event(this.now(), MARK, CLOCK, this.sender.text(String(text)), 0);
    }

    /** File and line of the program that called a hook. */
    siteOf(hook) {
      const site = this.isWatched ? callSite(hook) : "";
      // What a package calls sets its next timer on behalf of the line that has set the first.
      return this.calling !== null && PACKAGE.test(site) ? this.calling.site : site;
    }

    /** Describe the present: the clock and every pending timer, in slices of 4 ms. */
    keyframe() {
      const { sender, clock } = this;
      const generation = ++this.generation;
      const state = (value) => {
        sender.flush();
        if (sender.link !== null) sender.link.notify("Events.keyframe", { state: value });
      };
      state("begun");
      const at = this.now();
      const zero = clock.anchor(at);
      sender.event(at, CLOCK_ADDED, CLOCK, 0, sender.text(this.title));
      sender.anchored(at, zero);
      if (clock.rate !== D) sender.event(at, CLOCK_RATE, CLOCK, clock.rate, 0);
      if (clock.isPaused) sender.event(at, CLOCK_PAUSED, CLOCK, 0, 0);
      const pending = this.timers.values();
      const slice = () => {
        if (generation !== this.generation || sender.link === null) return;
        if (sender.unacknowledged() > WINDOW_BYTES / 2) {
          this.host.later(5, slice); // the rest would be dropped
          return;
        }
        const until = this.host.now() + SLICE_NS;
        for (let n = 0; ; n++) {
          const { value, done } = pending.next();
          if (done) break;
          this.describe(value);
          if ((n & 15) === 15 && this.host.now() >= until) {
            state("partial");
            this.host.later(0, slice);
            return;
          }
        }
        state("complete");
      };
      slice();
    }

    capabilities() {
      const granted = { "read-only": 0, step: 1, full: 2 }[this.grant];
      const can = (level, reason) =>
        reason || (granted >= level ? true : `the program grants “${this.grant}” only`);
      return {
        pause: can(1, this.refusal),
        rate: can(2, this.refusal),
        step_frame: can(1, this.refusal || this.frames.refusal()),
        step_timer: can(1, this.refusal),
        step_time: can(1, this.refusal),
        clear_timer: can(2, this.host.clearRefusal),
      };
    }

    changed() {
      const { link } = this.sender;
      if (link === null) return;
      const { title, grant } = this;
      const clocks = [{ clock: CLOCK, adapter: "javascript", title, capabilities: this.capabilities() }];
      link.notify("Program.changed", { clocks, adapters: this.adapters(), grant });
    }

    /** The engines of the page: all follow through frames, timers and clocks. */
    adapters() {
      const { library, version } = this.host;
      const message = this.host.isLate ? LATE : "";
      const own = { name: "javascript", library, version, state: "active", message };
      const engines = this.host.engines().map(([name, engineVersion, unseen]) => ({
        name: name.toLowerCase(), library: name, version: engineVersion, state: "active",
        message: unseen ? `follows the clock of the page, but ${unseen} not seen` : "",
      }));
      return [own, ...engines];
    }

    ended(reason) {
      const { link } = this.sender;
      if (link === null) return;
      this.sender.flush();
      link.end(reason);
    }

    /** The instant a hook began, for one hook in sixteen. */
    _sample() {
      return (++this.calls & 15) === 0 ? this.host.performanceNow() : -1;
    }

    _measured(sample) {
      // Longer ones were interrupted by others on a busy machine.
      if (sample >= 0) this.cost += Math.min(this.host.performanceNow() - sample, MOST_HOOK_MS) * 16e6;
    }
  }

  // ----------------------------------------------------------------------------- frames

  /** Animation frames, called one by one by the runtime and gated while the clock is held. */
  class Frames {
    constructor(program) {
      this.program = program;
      this.waiting = new Map(); // public number to record
      this.index = 0;
      this.stamp = -1; // of the runtime's frame that is going on
      this.left = 0; // callbacks of that frame not yet called
      this.previousLocal = -1;
      this.period = FRAME_NS;
      this.isAllowed = false; // one frame, while held
      this.allowedStamp = -1;
      this.forget();
    }

    /** Begin again, with a frame whose length is not known. */
    forget() {
      this.isOpen = false;
      this.began = this.ended = -1; // real instants, of the latest frame
      this.isHeld = false; // whether the clock stood still when it began
      this.busy = this.length = 0;
      this.stoodAtBegan = this.stoodAtEnd = 0;
    }

    refusal() {
      if (!this.program.host.requestFrame) {
        return "a program without animation frames has no frames to step; step to the next timer";
      }
      return "";
    }

    request(callback) {
      const record = { callback, handle: 0, isParked: false, frame: -1 };
      this._ask(record);
      this.waiting.set((record.key = record.handle), record);
      return record.key;
    }

    _ask(record) {
      record.isParked = false;
      record.handle = this.program.host.requestFrame((stamp) => this._run(record, stamp));
    }

    cancel(key) {
      const record = this.waiting.get(key);
      if (record === undefined) return false;
      this.waiting.delete(key);
      this.program.host.cancelFrame(record.handle);
      if (record.frame === this.index && this.isOpen && --this.left <= 0) this.end();
      return true;
    }

    release() {
      for (const record of this.waiting.values()) if (record.isParked) this._ask(record);
    }

    allowOne() {
      this.isAllowed = true;
      this.allowedStamp = -1;
      this.release();
    }

    allowNone() {
      this.isAllowed = false;
    }

    /** Local instant of the next frame: one frame of the display after the last. */
    nextAt(local) {
      const period = Math.max(1, Math.round((this.period * this.program.clock.rate) / D));
      return local + period;
    }

    _run(record, stamp) {
      const { program } = this;
      if (this.waiting.get(record.key) !== record) return;
      const at = program.now();
      const isGated = program.clock.n === 0 || (program.step !== null && program.step.frames > 0);
      if (isGated && !this._mayRun(stamp)) {
        record.isParked = true;
        return;
      }
      this.waiting.delete(record.key);
      if (stamp !== this.stamp) this._begin(at, stamp, program.clock.local(this._drawn(stamp)));
      const began = program._began();
      try {
        record.callback.call(program.host.global, program.host.performance0 + this.local / 1e6);
      } finally {
        if (began >= 0) program._called(record, began);
        if (--this.left <= 0) this.end();
      }
    }

    _mayRun(stamp) {
      if (!this.isAllowed) return false;
      if (this.allowedStamp < 0) this.allowedStamp = stamp;
      return this.allowedStamp === stamp;
    }

    /** The runtime's instant of a frame; what the clock did since the last frame counts. */
    _drawn(stamp) {
      return Math.max(this.program.host.instantOf(stamp), this.began);
    }

    /** A loop without animation frames tells of its turns. */
    turn() {
      const at = this.program.now();
      this._begin(at, at, this.program.clock.local(at));
    }

    _begin(at, stamp, local) {
      this.end(at);
      const { program } = this;
      this.stamp = stamp;
      this.isOpen = true;
      this.left = 1;
      this.index++;
      for (const other of this.waiting.values()) {
        if (other.isParked) continue;
        other.frame = this.index;
        this.left++;
      }
      this.local = Math.max(local, this.previousLocal);
      const isFirst = this.ended < 0;
      const real = at - this.began;
      if (!isFirst && real > 1e6 && real < 1e8) this.period += (real - this.period) / 8;
      this.began = at;
      this.isHeld = program.clock.n === 0;
      // Held in between, nothing of the program ran.
      const stood = program.stoodAt(at);
      this.length = isFirst ? 0 : this.busy + at - this.ended - (stood - this.stoodAtEnd);
      this.stoodAtBegan = stood;
      const delta = isFirst ? 0 : this.local - this.previousLocal;
      this.previousLocal = this.local;
      program.sender.event(at, FRAME_BEGAN, CLOCK, this.index, delta);
    }

    end(at = this.program.now()) {
      if (!this.isOpen) return;
      this.isOpen = false;
      const { program } = this;
      this.ended = at;
      this.stoodAtEnd = program.stoodAt(at);
      this.busy = at - this.began;
      if (!this.isHeld) this.busy -= this.stoodAtEnd - this.stoodAtBegan;
      program.sender.event(at, FRAME_ENDED, CLOCK, this.length, this.busy);
      if (program.longestTurn > 0 && this.busy > program.longestTurn && !program.clock.isPaused) {
        program.hold(at, program.longestCause);
        program.tellHeld();
      }
      if (this.isAllowed) {
        this.isAllowed = false;
        program.stepped(null, 1);
      }
    }
  }

  // ----------------------------------------------------------------------- long turns

  /**
   * Tell what was seen of a turn that is over, in order: what each sample stands for ends at
   * `until`. Meanwhile the program could tell nothing.
   */
  function tellTurn(program, at, samples) {
    const { sender } = program;
    let before = [];
    let part = 0;
    let running = "";
    samples.forEach(({ until, covers, ready, stack, name, kind, flags }, number) => {
      const isWhole = number % WHOLE_EVERY === 0;
      // What is not known belongs to what was called before.
      const isOther = name !== null && name !== running;
      if (isOther && number > 0) part++;
      if (isOther) running = name;
      if (isWhole || isOther) sender.event(at, RUNNING_CALL, CLOCK, sender.text(running), kind);
      if (isWhole) before = [];
      stack.forEach((site, place) => {
        if (site !== before[place]) sender.event(at, STACK_FRAME, CLOCK, place, sender.text(site));
      });
      before = stack;
      sender.event(at, SAMPLE_TIMES, CLOCK, Math.round(ready), Math.max(0, at - Math.round(until)));
      const form = Math.min(part, 0xffff) * 2 ** 32 + (number & 0xffff) * 2 ** 16;
      sender.event(at, SAMPLED, CLOCK, Math.round(covers), form + stack.length * 256 + (flags | SAW_EARLIER));
    });
  }

  /**
   * Long turns of Node: V8's profiler is read after one. It takes 1 % of a processor, so it ends
   * when the program has none, and begins with the next, of which it has seen nothing then.
   */
  class NodeTurns {
    constructor(program, load) {
      this.program = program;
      this.host = program.host;
      const { openSync, readSync, closeSync } = load("fs");
      this.files = { openSync, readSync, closeSync };
      this.own = typeof __filename === "string" ? String(load("url").pathToFileURL(__filename)) : "";
      const { Session, console: profiler } = load("inspector");
      this.profiler = profiler;
      this.session = new Session();
      this.session.connect();
      this.session.post("Profiler.enable");
      this.session.post("Profiler.setSamplingInterval", { interval: LOOK_US });
      this.session.on("Profiler.consoleProfileFinished", ({ params }) => {
        if (params.title === this.title) this.profile = params.profile;
      });
      this.count = 0;
      this.profile = null;
      this.isReading = false;
      this.restsUntil = this.readAt = 0;
      this.active = this._active();
      this.schedule = this._opened();
      this.text = new Uint8Array(100);
      this.times = null;
      this.busy = [];
      this.title = "";
      this.longAt = 0;
      this._begin(program.now());
    }

    _begin(at) {
      this.longAt = this.readAt = at;
      this.times = this._times(at);
      this.profiler.profile((this.title = this._title()));
    }

    _title() {
      return `timeline-probe ${++this.count}`;
    }

    /** For how long the loop has been busy so far, in nanoseconds. */
    _active() {
      return this.host.utilization().active * 1e6;
    }

    _opened() {
      try {
        return this.files.openSync("/proc/thread-self/schedstat");
      } catch (error) {
        return -1;
      }
    }

    /** For how long this thread has run, and was ready without a processor; `null` where not known. */
    _times(at) {
      if (this.schedule < 0) return null;
      const size = this.files.readSync(this.schedule, this.text, 0, this.text.length, 0);
      const [run, ready] = String.fromCharCode(...this.text.subarray(0, size)).split(" ");
      return { at, run: +run, ready: +ready, active: this.active };
    }

    /** Tell of the long turns until now, if the loop has been busy; `isLate`: a timer was. */
    look(at, isLate = false) {
      if (this.isReading) return;
      const { active, times: before } = this;
      this.active = this._active();
      const worked = this.active - active;
      if (this.title === "") {
        if (worked >= LONG_NS) this._begin(at);
        return;
      }
      if (at - this.longAt > QUIET_NS) {
        this._stop();
        return;
      }
      this.times = this._times(at);
      // The profiler interrupts a loop without work, which makes that look like work to Node.
      const used = before === null ? worked : this.times.run + this.times.ready - before.run - before.ready;
      const wasLong = worked >= LONG_NS && (isLate || used >= LONG_NS / 2 || worked >= 5 * LONG_NS);
      if (wasLong && before !== null) this.busy.push({ before, now: this.times });
      const isLong = wasLong && at >= this.restsUntil;
      if (!isLong && at - this.readAt < RING_NS) return;
      this.isReading = true;
      const began = this.host.performanceNow();
      const { latest } = this.program.sender;
      const profile = this._read();
      if (isLong && profile !== null && this._tell(profile, latest, at) > 0) this.longAt = at;
      this.busy = [];
      const cost = (this.host.performanceNow() - began) * 1e6;
      this.program.cost += cost;
      this.readAt = at;
      this.restsUntil = at + READ_SHARE * cost;
      this.isReading = false;
    }

    /** Take what was looked at since the last time; the next profile begins before this one ends. */
    _read() {
      const next = this._title();
      this.profile = null;
      this.profiler.profile(next);
      this.profiler.profileEnd(this.title);
      this.title = next;
      return this.profile;
    }

    /** Tell of the long turns in a profile that ends now; returns how many there were. */
    _tell(profile, latest, at) {
      const nodes = new Map(profile.nodes.map((node) => [node.id, { node, above: null, seen: null }]));
      for (const above of nodes.values()) {
        for (const child of above.node.children || []) nodes.get(child).above = above;
      }
      const shift = this.host.now() - profile.endTime * 1e3;
      const turns = [];
      let time = profile.startTime;
      let turn = null;
      let idle = -Infinity;
      profile.samples.forEach((id, place) => {
        time += profile.timeDeltas[place];
        const instant = Math.min(time * 1e3 + shift, at);
        const seen = this._seen(nodes.get(id));
        if (seen === null) {
          if (turn !== null) turn.isOver = true;
          turn = null;
          idle = instant;
          return;
        }
        if (turn === null) {
          // It began after the loop was last seen without work; events tell when at the latest.
          const begin = idle < latest && latest < instant ? latest : instant;
          turns.push((turn = { begin, reached: begin, samples: [], isOver: false }));
        }
        const covers = instant - turn.reached;
        if (covers <= 0) return;
        turn.reached = instant;
        turn.samples.push({ until: instant, covers, ready: 0, kind: RUNS_CALLBACK, ...seen });
      });
      let told = 0;
      for (const { begin, reached, samples, isOver } of turns) {
        if (samples.length === 0) continue;
        const last = samples[samples.length - 1];
        if (!isOver && at > reached) {
          samples.push({ ...last, until: at, covers: at - reached, flags: last.flags | SAW_END });
        }
        if (samples[samples.length - 1].until - begin < LONG_NS) continue;
        this._divide(samples);
        tellTurn(this.program, at, samples);
        told++;
      }
      return told;
    }

    /** What the thread was at; `null`: the loop had no work. */
    _seen(entry) {
      if (entry.seen !== null || entry.isIdle) return entry.seen;
      const { functionName } = entry.node.callFrame;
      if (functionName === "(idle)") {
        entry.isIdle = true;
        return null;
      }
      const stack = [];
      let [name, waits, isProgram] = [null, "", false];
      if (functionName === COLLECTION) stack.push(`<built-in>:0 in ${COLLECTION}`);
      for (let each = entry; each !== null; each = each.above) {
        const { node } = each;
        const { functionName: called, url, lineNumber } = node.callFrame;
        if (called.startsWith("(") || (url && url === this.own)) continue;
        if (!url) {
          stack.push(`<built-in>:0 in ${called || "<anonymous>"}`);
          continue;
        }
        if (WAITS.test(called) && WAITING_FILES.test(url)) waits = called;
        if (!url.startsWith("node:")) [name, isProgram] = [called, true];
        const first = lineNumber + 1;
        stack.push(siteText(url, each === entry ? hottestLine(node, first) : first, called || "<anonymous>"));
      }
      // Nobody is to be blamed for what only Node or the probe does.
      if (!isProgram && functionName !== COLLECTION) stack.length = 0;
      stack.splice(MOST_FRAMES);
      stack.reverse();
      if (waits && stack.length) stack.push(`<built-in>:0 in ${waits}`);
      entry.seen = { stack, name, flags: waits ? SAW_WAIT : 0 };
      return entry.seen;
    }

    /** Say of samples for how long the thread had no processor, and which of them have waited. */
    _divide(samples) {
      const total = samples.reduce((sum, { covers }) => sum + covers, 0);
      const { until } = samples[samples.length - 1];
      // The times are those between the looks that the turn ended between.
      const looks = this.busy.find(({ now }) => now.at >= until);
      if (looks === undefined || looks.before.at >= until) {
        for (const each of samples) each.flags |= SAW_NO_TIMES;
        return;
      }
      const { before, now } = looks;
      const [ran, lacked] = [now.run - before.run, now.ready - before.ready];
      // What the loop did besides counts as computed, as far as its thread has run: Node counts
      // time without work as active while the profiler interrupts it.
      const besides = Math.max(0, Math.min(now.active - before.active, ran + lacked) - total);
      const run = Math.max(0, ran - besides);
      const ready = Math.min(lacked, Math.max(0, total - run));
      const open = samples.reduce((sum, { flags, covers }) => sum + (flags & SAW_WAIT ? 0 : covers), 0);
      const hasWaited = run + ready < HARDLY * open;
      for (const each of samples) {
        each.ready = (ready * each.covers) / total;
        if (hasWaited) each.flags |= SAW_WAIT;
      }
    }

    _stop() {
      if (this.title !== "") this.profiler.profileEnd(this.title);
      this.title = "";
    }

    end() {
      this.isReading = true;
      this._stop();
      this.session.disconnect();
      if (this.schedule >= 0) this.files.closeSync(this.schedule);
    }
  }

  /** The line of a function that was seen most. */
  function hottestLine({ positionTicks }, first) {
    const lines = (positionTicks || []).filter(({ line }) => line >= first);
    return lines.reduce((best, each) => (each.ticks > best.ticks ? each : best), { line: first, ticks: 0 }).line;
  }

  /**
   * Long turns of pages: calls of timers and frames that took long, and where the browser tells of
   * long animation frames, the scripts in them that it called itself.
   */
  class PageTurns {
    constructor(program) {
      this.program = program;
      const { PerformanceObserver: Observer } = program.host.global;
      const types = (Observer && Observer.supportedEntryTypes) || [];
      this.observer = null;
      if (types.includes("long-animation-frame")) {
        this.observer = new Observer((list) => this._take(list.getEntries()));
        this.observer.observe({ type: "long-animation-frame" });
      }
    }

    /** A call of the program's has taken long; a frame has no site. */
    called({ callback, site }, began, ended) {
      const isFrame = site === undefined;
      const name = nameOf(callback, "");
      const [, file, line] = /^(.*):(\d+)/.exec(site || "") || [null, "", 0];
      const isNamed = name !== "anonymous";
      // Only of an anonymous function it is known that it is where it was set.
      const stack = [file ? siteText(file, isNamed ? 0 : line, isNamed ? name : "<anonymous>") : name];
      const kind = isFrame ? RUNS_FRAME : RUNS_CALLBACK;
      const sample = { until: ended, covers: ended - began, ready: 0, stack, name: isFrame ? "" : name, kind, flags: SAW_NO_TIMES };
      tellTurn(this.program, ended, [sample]);
    }

    look() {
      if (this.observer !== null) this._take(this.observer.takeRecords());
    }

    _take(entries) {
      const { program } = this;
      const at = program.now();
      for (const { scripts } of entries) {
        const samples = [];
        for (const { startTime, duration, sourceURL, sourceFunctionName, invoker } of scripts) {
          // What the probe calls has no address.
          if (!sourceURL || duration <= 0) continue;
          const until = program.host.instantOf(startTime + duration);
          // Where in its file is told in characters, not as a line.
          const stack = [siteText(sourceURL, 0, sourceFunctionName || "<anonymous>")];
          const name = String(invoker).slice(0, MAX_NAME);
          samples.push({ until, covers: duration * 1e6, ready: 0, stack, name, kind: RUNS_CALLBACK, flags: SAW_NO_TIMES });
        }
        tellTurn(program, at, samples);
      }
    }

    end() {
      if (this.observer !== null) this.observer.disconnect();
    }
  }

  // -------------------------------------------------------------------------- engines

  /** Timers that an engine looks at in each frame. */
  class EngineTimers {
    constructor(program) {
      this.program = program;
      this.records = new Map(); // timer of the engine to record
      this.isBroken = false; // the engine is not as we know it
    }

    /** Look at the timers after each call of a method. */
    lookAfter(object, name) {
      this.after(object, name, (self) => {
        if (this.program.sender.link !== null) this.look(self);
      });
    }

    /** Call `look` with object, result and hook after a method; what it meets never reaches the program. */
    after(object, name, look) {
      const adapter = this;
      const method = object[name];
      const hook = function (...args) {
        const result = method.apply(this, args);
        if (adapter.isBroken) return result;
        try {
          look(this, result, hook);
        } catch {
          adapter.isBroken = true;
          for (const record of adapter.records.values()) adapter.program.clear(record, null);
          adapter.records.clear();
        }
        return result;
      };
      object[name] = hook;
    }

    _insert(timer, due, facts) {
      const record = { id: 0, args: [], due, depth: 0, isUnarmed: true, known: -1, site: "", ...facts };
      this.records.set(timer, record);
      this.program._insert(record);
    }

    _arm(record, due) {
      record.due = due;
      const { program } = this;
      program.describe(record);
      program.sender.event(program.now(), TIMER_ARMED, record.id, due, record.period);
    }

    /** A timer was called, and is due again; never if that was the last time. */
    _tell(timer, record, next) {
      const { program } = this;
      const at = program.now();
      const late = Math.max(0, program.clock.local(at) - record.due);
      program.describe(record, at);
      record.due = next;
      program.sender.event(at, TIMER_FIRED, record.id, late, next);
      if (next !== NEVER) return;
      this.records.delete(timer);
      program._remove(record);
    }
  }

  /** The timer events of Phaser's scenes. */
  class PhaserTimers extends EngineTimers {
    constructor(program, { Scenes, Time }) {
      super(program);
      // Games call it by its name in each frame; clocks of scenes are called by reference.
      this.lookAfter(Scenes.SceneManager.prototype, "update");
      const clocks = Time && Time.Clock && Time.Clock.prototype;
      if (!clocks || typeof clocks.addEvent !== "function") return;
      this.after(clocks, "addEvent", (...set) => this._set(...set));
      this.delayed = null; // the hook of delayedCall while it calls addEvent
      const adapter = this;
      const { delayedCall } = clocks;
      clocks.delayedCall = function hook(...args) {
        adapter.delayed = hook;
        try {
          return delayedCall.apply(this, args);
        } finally {
          adapter.delayed = null;
        }
      };
    }

    /** A timer event was set, whose first delay and place are known now and not in the next frame. */
    _set(clock, timer, hook) {
      const { program, records } = this;
      const { sys } = clock.scene || {};
      if (!sys || !timer || records.has(timer)) return;
      const scale = clock.timeScale * timer.timeScale;
      const runs = !clock.paused && !timer.paused && scale > 0;
      const due = runs ? program.clock.local(program.now()) + this._left(timer, scale) : NEVER;
      this._add(sys.game.scene, clock.scene, timer, due, program.siteOf(this.delayed || hook));
    }

    _left(timer, scale) {
      return Math.max(0, Math.round(((timer.delay - timer.elapsed) * 1e6) / scale));
    }

    /** After a frame of a game: what is new, what was called, what is gone. */
    look(manager) {
      const { program, records } = this;
      const seen = new Set();
      const local = program.clock.local(program.now());
      for (const scene of manager.scenes || []) {
        const { sys } = scene;
        const clock = scene.time || (sys && sys.time);
        if (!clock || !Array.isArray(clock._active)) continue;
        const stands = clock.paused || !sys.isActive();
        for (const timer of [...clock._active, ...(clock._pendingInsertion || [])]) {
          if (timer.hasDispatched && !timer.repeatCount) continue; // taken out with the next frame
          seen.add(timer);
          const scale = clock.timeScale * timer.timeScale;
          const runs = !stands && !timer.paused && scale > 0;
          const due = runs ? local + this._left(timer, scale) : NEVER;
          const record = records.get(timer);
          if (record === undefined) this._add(manager, scene, timer, due);
          else if (timer.repeatCount !== record.left) {
            record.left = timer.repeatCount;
            this._tell(timer, record, due);
          } else if (Math.abs(due - record.due) > ENGINE_NS) this._arm(record, due);
        }
      }
      for (const [timer, record] of records) {
        if (seen.has(timer) || record.manager !== manager) continue;
        if (record.due <= local + ENGINE_NS) {
          this._tell(timer, record, NEVER);
        } else {
          records.delete(timer);
          program.clear(record, null);
        }
      }
    }

    _add(manager, scene, timer, due, site = "") {
      const { callback, callbackScope: scope, delay, repeatCount } = timer;
      if (typeof callback !== "function") return;
      const owner = scope && scope !== timer ? scope : { name: scene.sys.settings.key };
      this._insert(timer, due, {
        kind: repeatCount > 0 ? INTERVAL_DELAY : TIMEOUT, callback,
        period: repeatCount > 0 ? Math.round(delay * 1e6) : 0,
        handle: { cancel: () => timer.remove() }, name: callName(owner, callback), left: repeatCount, manager, site,
      });
    }
  }

  /** The timers of a Cocos scheduler, by the names of their targets and callbacks. */
  class CocosTimers extends EngineTimers {
    constructor(program, scheduler) {
      super(program);
      this.scheduler = scheduler;
      this.lookAfter(scheduler, "update");
    }

    /** After a turn of the scheduler: what is new, what is due at another time, what is gone. */
    look() {
      const { program, records } = this;
      const seen = new Set();
      const local = program.clock.local(program.now());
      for (const { timers, target, paused } of this.scheduler._arrayForTimers) {
        for (const timer of timers || []) {
          if (!(timer._interval > 0 || timer._useDelay)) continue; // called in every frame
          seen.add(timer);
          const due = paused ? NEVER : local + this._leftNs(timer);
          const record = records.get(timer);
          if (record === undefined || record.callback !== callbackOf(timer)) this._add(timer, target, due);
          else if (Math.abs(due - record.due) > ENGINE_NS) this._arm(record, due);
        }
      }
      for (const [timer, record] of records) {
        if (seen.has(timer)) continue;
        records.delete(timer);
        program.clear(record, null);
      }
    }

    _leftNs(timer) {
      const wait = timer._useDelay ? timer._delay : timer._interval;
      return this._ns(wait - Math.max(0, timer._elapsed));
    }

    /** Seconds of the scheduler as nanoseconds of the program. */
    _ns(seconds) {
      const scale = this.scheduler._timeScale;
      return scale > 0 ? Math.max(0, Math.round((seconds * 1e9) / scale)) : NEVER;
    }

    _add(timer, target, due) {
      const { program, records } = this;
      const stale = records.get(timer);
      if (stale !== undefined) program.clear(stale, null);
      const callback = callbackOf(timer);
      this._insert(timer, due, {
        kind: timer._repeat > 0 ? INTERVAL_DELAY : TIMEOUT, callback, period: this._ns(timer._interval),
        handle: { cancel: () => timer.cancel() }, name: callName(target, callback),
      });
      if (Object.prototype.hasOwnProperty.call(timer, "trigger")) return;
      const adapter = this;
      const { trigger } = timer;
      timer.trigger = function (...args) {
        adapter._fired(timer);
        return trigger.apply(this, args);
      };
    }

    _fired(timer) {
      const { program } = this;
      const record = this.records.get(timer);
      if (record === undefined) return;
      const isLast = !timer._runForever && timer._timesExecuted + 1 > timer._repeat;
      const next = program.clock.local(program.now()) + this._ns(timer._interval);
      this._tell(timer, record, isLast ? NEVER : next);
    }
  }

  /** Callbacks of GSAP's delayed calls, tweens and timelines: at their ends, and once a repetition. */
  class GsapTimers extends EngineTimers {
    constructor(program, gsap) {
      super(program);
      this.gsap = gsap;
      this.lookAfter(gsap.globalTimeline, "render");
      // The first delay and the place are known when it is set, and not after the next frame.
      for (const name of ["delayedCall", "to", "from", "fromTo"]) {
        if (typeof gsap[name] !== "function") continue;
        this.after(gsap, name, (_, animation, hook) => this._lookAt(animation, new Set(), program.siteOf(hook)));
      }
    }

    /** After all animations were rendered: what is new, what was called, what is gone. */
    look() {
      const { program, records } = this;
      const seen = new Set();
      for (const animation of this.gsap.globalTimeline.getChildren(true, true, true)) this._lookAt(animation, seen);
      for (const [animation, record] of records) {
        if (seen.has(animation)) continue;
        if (animation.totalProgress() === 1) {
          this._tell(animation, record, NEVER);
        } else {
          records.delete(animation);
          program.clear(record, null);
        }
      }
    }

    _lookAt(animation, seen, site = "") {
      const { onComplete, onRepeat } = animation.vars;
      const repeats = typeof onRepeat === "function" && animation.repeat() !== 0;
      if (!repeats && typeof onComplete !== "function") return;
      if (animation.totalProgress() === 1) return; // kept in its timeline after its end
      seen.add(animation);
      const { program, records } = this;
      const local = program.clock.local(program.now());
      const cycle = animation.duration() + animation.repeatDelay();
      const count = repeats && cycle > 0 ? Math.floor(animation.totalTime() / cycle) : 0;
      const end = repeats ? Math.min(animation.totalDuration(), (count + 1) * cycle) : animation.totalDuration();
      const due = this._runs(animation) ? local + this._ns(animation.globalTime(end) - this.gsap.ticker.time) : NEVER;
      const record = records.get(animation);
      if (record === undefined) this._add(animation, due, count, repeats, site);
      else if (count > record.count) {
        record.count = count;
        this._tell(animation, record, due);
      } else if (Math.abs(due - record.due) > ENGINE_NS) this._arm(record, due);
    }

    /** Whether neither it nor a timeline above it is paused, or goes backwards. */
    _runs(animation) {
      for (let each = animation; each; each = each.parent) if (each.paused() || each.timeScale() <= 0) return false;
      return true;
    }

    _ns(seconds) {
      return Math.max(0, Math.round(seconds * 1e9));
    }

    _add(animation, due, count, repeats, site) {
      const { vars } = animation;
      const callback = repeats ? vars.onRepeat : vars.onComplete;
      const cycle = animation.duration() + animation.repeatDelay();
      const period = repeats ? this._ns(animation.globalTime(cycle) - animation.globalTime(0)) : 0;
      this._insert(animation, due, {
        kind: repeats ? INTERVAL_DELAY : TIMEOUT, callback, period, count,
        handle: { cancel: () => animation.kill() }, name: callName(this._owner(animation, callback), callback), site,
      });
    }

    /** What an animation is about: its scope, its id, or what it moves; a delayed call is about nothing. */
    _owner(animation, callback) {
      const { id, callbackScope } = animation.vars;
      if (id) return { name: String(id) };
      const [target] = animation.targets ? animation.targets() : [];
      if (callbackScope || target === callback) return callbackScope;
      return target && target.id ? { name: `#${target.id}` } : target;
    }
  }

  /** Egret's timers, and its setTimeout and setInterval. */
  class EgretTimers extends EngineTimers {
    constructor(program, egret, ticker) {
      super(program);
      this.egret = egret;
      this.ticker = ticker;
      this.lookAfter(ticker, "update");
      // The first delay and the place are known when it is started; what it calls may come later.
      this.after(egret.Timer.prototype, "start", (timer, _, hook) => {
        if (listenerOf(timer) && ticker.thisObjectList.includes(timer)) this._lookAt(timer, program.siteOf(hook));
      });
      this.follows = false;
      this.follow();
    }

    /** Follow what the module "game" of the engine adds, if it is loaded. */
    follow() {
      const { setTimeout: once, setInterval: again } = this.egret;
      if (this.follows || typeof once !== "function" || typeof again !== "function") return;
      this.follows = true;
      this._follow("setTimeout", "clearTimeout", false);
      this._follow("setInterval", "clearInterval", true);
    }

    /** After a tick: which timers are new, were called, have stopped. */
    look() {
      const { program, records } = this;
      const { Timer } = this.egret;
      const seen = new Set();
      for (const timer of this.ticker.thisObjectList) {
        if (!(timer instanceof Timer)) continue;
        seen.add(timer);
        this._lookAt(timer, "");
      }
      for (const [timer, record] of records) {
        if (seen.has(timer) || !(timer instanceof Timer)) continue;
        if (timer.currentCount > record.count) {
          this._tell(timer, record, NEVER);
        } else {
          records.delete(timer);
          program.clear(record, null);
        }
      }
    }

    _lookAt(timer, site) {
      const local = this.program.clock.local(this.program.now());
      const left = Math.max(0, Math.round((timer.lastTimeStamp + timer.delay - this.egret.getTimer()) * 1e6));
      const due = local + left;
      const record = this.records.get(timer);
      if (record === undefined) this._add(timer, due, site);
      else if (timer.currentCount > record.count) {
        record.count = timer.currentCount;
        this._tell(timer, record, due);
      } else if (Math.abs(due - record.due) > ENGINE_NS) this._arm(record, due);
    }

    _add(timer, due, site) {
      const { delay, repeatCount, currentCount } = timer;
      const first = listenerOf(timer);
      const callback = first ? first.listener : timer.dispatchEvent;
      const repeats = repeatCount === 0 || repeatCount - currentCount > 1;
      this._insert(timer, due, {
        kind: repeats ? INTERVAL_DELAY : TIMEOUT, callback, period: repeats ? Math.round(delay * 1e6) : 0,
        count: currentCount, handle: { cancel: () => timer.stop() },
        name: first ? callName(first.thisObject, callback) : "Timer", site,
      });
    }

    _follow(set, clear, repeats) {
      const { egret, program, records } = this;
      const adapter = this;
      const { [set]: original, [clear]: originalClear } = egret;
      if (typeof originalClear !== "function") return;
      egret[set] = function hook(listener, scope, ms, ...args) {
        const period = Math.round(Math.max(0, Number(ms) || 0) * 1e6);
        const called = function (...given) {
          const record = records.get(key);
          if (record) adapter._tell(key, record, repeats ? program.clock.local(program.now()) + period : NEVER);
          return listener.apply(this, given);
        };
        const number = original.call(this, called, scope, ms, ...args);
        const key = `${set} ${number}`;
        adapter._insert(key, program.clock.local(program.now()) + period, {
          kind: repeats ? INTERVAL_DELAY : TIMEOUT, callback: listener, period: repeats ? period : 0,
          handle: { cancel: () => originalClear.call(egret, number) }, name: callName(scope, listener), site: program.siteOf(hook),
        });
        return number;
      };
      egret[clear] = function (number) {
        const record = records.get(`${set} ${number}`);
        records.delete(`${set} ${number}`);
        if (record) program.clear(record, null);
        return originalClear.call(this, number);
      };
    }
  }

  function callbackOf(timer) {
    return timer._callback || timer._selector || timer.trigger;
  }

  /** The first listener of a timer of Egret. */
  function listenerOf({ $EventDispatcher: listeners }) {
    return ((listeners && listeners[1] && (listeners[1].timer || listeners[1].timerComplete)) || [])[0];
  }

  /** `Class.method`, as far as target and callback have names. */
  function callName(target, callback) {
    const owner = (target && (target.name || target._name || (target.constructor && target.constructor.name))) || "";
    let method = callback.name || "";
    for (const key in target) if (target[key] === callback) method = key;
    return `${owner ? `${owner}.` : ""}${method || "callback"}`.slice(0, MAX_NAME);
  }

  // ------------------------------------------------------------------------- the link

  /** Takes a stream apart into frames; every limit is checked before memory is taken. */
  class FrameReader {
    constructor() {
      this.parts = [];
      this.length = 0;
    }

    /** Take received bytes; call with type and payload for each frame that is complete now. */
    feed(data, take) {
      this.parts.push(data);
      this.length += data.length;
      while (this.length >= 5) {
        if (this.parts[0].length < 5) this._join();
        const length = this.parts[0].readUInt32LE(0);
        const type = this.parts[0][4];
        if (length > MAX_MESSAGE) throw new Refusal(TOO_LARGE, "a frame is too large");
        if (length === 0 || (type !== TYPE_JSON && type !== TYPE_EVENTS)) {
          throw new Refusal(MALFORMED, "not a frame of this protocol");
        }
        if (this.length < length + 4) return;
        this._join();
        const [whole] = this.parts;
        this.parts = [whole.subarray(length + 4)];
        this.length -= length + 4;
        take(type, whole.subarray(5, length + 4));
      }
    }

    _join() {
      if (this.parts.length > 1) this.parts = [Buffer.concat(this.parts)];
    }
  }

  function textOf(payload) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    } catch (error) {
      throw new Refusal(MALFORMED, "not UTF-8");
    }
  }

  function checkEvents(payload) {
    const count = payload.length / EVENT_BYTES;
    if (count > MAX_EVENTS) throw new Refusal(TOO_LARGE, "a batch has too many events");
    if (count === 0 || !Number.isInteger(count)) throw new Refusal(MALFORMED, "not a batch of events");
  }

  /** A message, checked against the limits of the protocol. */
  function checked(text) {
    if (text.length >= MAX_MESSAGE) throw new Refusal(TOO_LARGE, "the message is too large");
    let message;
    try {
      message = JSON.parse(text);
    } catch (error) {
      throw new Refusal(MALFORMED, "not JSON");
    }
    if (!isObject(message)) throw new Refusal(MALFORMED, "a message is an object");
    checkValue(message, MAX_NESTING);
    checkNumbers(text);
    checkShape(message);
    return message;
  }

  function checkShape(message) {
    const { id, error } = message;
    const isNumbered = Number.isInteger(id) && id >= 0 && id <= 2 ** 53;
    let isSound = isNumbered && isObject(message.result);
    if ("method" in message) {
      if (!("params" in message)) message.params = {};
      isSound = typeof message.method === "string" && isObject(message.params);
    } else if ("error" in message) {
      isSound = isNumbered && isObject(error) && Number.isInteger(error.code) && typeof error.message === "string";
    }
    if (!isSound || ("id" in message && !isNumbered)) {
      throw new Refusal(MALFORMED, "neither a request nor an answer");
    }
  }

  function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
  }

  function checkValue(value, depth) {
    if (typeof value === "string") {
      if (value.length > MAX_TEXT || (value.length * 3 > MAX_TEXT && new TextEncoder().encode(value).length > MAX_TEXT)) {
        throw new Refusal(TOO_LARGE, "a text is too long");
      }
      if (HALF.test(value)) throw new Refusal(MALFORMED, "a text holds half a character");
    } else if (typeof value === "number") {
      if (!(Math.abs(value) <= MAX_NUMBER)) throw new Refusal(TOO_LARGE, "a number is out of range");
    } else if (typeof value === "object" && value !== null) {
      if (depth === 0) throw new Refusal(TOO_LARGE, `values nest at most ${MAX_NESTING} deep`);
      for (const name of Object.keys(value)) {
        checkValue(name, 0);
        checkValue(value[name], depth - 1);
      }
    }
  }

  /** Beyond 2^53 a number does not show whether it lies within 64 bits; its digits do. */
  function checkNumbers(text) {
    if (!/\d{19}/.test(text)) return;
    for (const [found] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d{19,}(?![\d.eE])/g)) {
      if (found[0] !== '"' && BigInt.asIntN(64, BigInt(found)) !== BigInt(found)) {
        throw new Refusal(TOO_LARGE, "a number is out of range");
      }
    }
  }

  /** A whole number of the parameters. */
  function whole(params, name, lowest, highest) {
    const value = params[name];
    if (!Number.isSafeInteger(value) || value < lowest || value > highest) {
      throw new Refusal(BAD_PARAMS, `${name} is a whole number from ${lowest} to ${highest}`);
    }
    return value;
  }

  const causeOf = (params) => ("cause" in params ? whole(params, "cause", 0, 2 ** 40) : 0);

  function ofClock(params) {
    if (whole(params, "clock", 1, 2 ** 40) !== CLOCK) throw new Refusal(NO_SUCH, "no such clock");
  }

  /** What the inspector may ask: the capability it needs, and what is done. */
  const METHODS = {
    "Program.time": [null, (program) => ({ clock_ns: program.host.wireNs(program.now()) })],
    "Program.grant": [null, (program) => ({ grant: program.grant })],
    "Events.keyframe": [null, (program) => program.keyframe()],
    "Events.ack": [null, (program, params) => {
      program.sender.acknowledge(whole(params, "events", 0, 2 ** 53 - 1));
    }],
    "Link.release": [null, (program) => {
      program.letGo(program.now());
      program.tellHeld();
    }],
    "Program.hold_after": ["pause", (program, params) => {
      program.longestTurn = whole(params, "turn_ns", 0, 2 ** 53 - 1);
      program.longestCause = causeOf(params);
    }],
    "Clock.pause": ["pause", (program, params) => {
      ofClock(params);
      program.hold(program.now(), causeOf(params));
      program.tellHeld();
    }],
    "Clock.resume": ["pause", (program, params) => {
      ofClock(params);
      program.resume(program.now(), causeOf(params));
      program.tellHeld();
    }],
    "Clock.rate": ["rate", (program, params) => {
      ofClock(params);
      const rate = whole(params, "rate_n", 0, MAX_RATE);
      program.change(program.now(), program.clock.isPaused, rate, causeOf(params));
    }],
    "Program.step": [stepCapability, (program, params) => {
      if ("clock" in params) ofClock(params);
      const request = { toNextTimer: params.to === "next_timer" };
      if ("frames" in params) request.frames = whole(params, "frames", 1, 1e6);
      if ("local_ns" in params) request.localNs = whole(params, "local_ns", 0, 2 ** 53 - 1);
      program.begin(request, causeOf(params));
    }],
    "Timer.clear": ["clear_timer", (program, params) => {
      const number = whole(params, "timer", 1, 2 ** 40);
      for (const record of program.timers) {
        if (record.id !== number) continue;
        program.host.disarm(record);
        program.clear(record, null, causeOf(params));
        return;
      }
      throw new Refusal(NO_SUCH, "no such timer, or it is gone");
    }],
  };

  function stepCapability(params) {
    const wanted = ["frames", "local_ns", "to"].filter((name) => name in params);
    if (wanted.length !== 1 || (wanted[0] === "to" && params.to !== "next_timer")) {
      throw new Refusal(BAD_PARAMS, "a step has frames, local_ns or to: next_timer");
    }
    return { frames: "step_frame", local_ns: "step_time", to: "step_timer" }[wanted[0]];
  }

  /** One connection to an inspector: hello, requests, heartbeat, end. */
  class Link {
    constructor(program, connection, options) {
      this.program = program;
      this.connection = connection;
      this.options = options;
      this.isOpen = true;
      this.isWelcome = false;
      this.number = 0;
      this.pings = 0;
      this.heard = this.beaten = program.host.now();
      this.costAt = this.heard;
      this.costEvents = 0;
      connection.onText = (text) => this.receive(text);
      connection.onFault = (fault) => this.refuse(fault);
      connection.onClose = () => this.close("");
      connection.onReady = () => {
        if (options.dials !== false) this.ask("Link.hello", { ...this.hello(), token: options.token });
      };
      this.heartbeat = program.host.every(BEAT_MS, () => this.beat());
    }

    hello() {
      const { program, options } = this;
      const { host } = program;
      return {
        protocol: PROTOCOL, role: "probe", vocabulary: VOCABULARY,
        pid: options.pid || host.pid, parent_pid: options.parentPid || host.parentPid,
        name: program.title, argv: host.argv().map(cut),
        runtime: { language: "javascript", version: host.version, implementation: host.library },
        clock_ns: host.wireNs(program.now()), grant: program.grant, adapters: program.adapters(),
      };
    }

    ask(method, params) {
      this.send({ id: this.number++, method, params });
    }

    notify(method, params) {
      this.send({ method, params });
    }

    send(message) {
      if (this.isOpen) this.connection.sendText(JSON.stringify(message));
    }

    receive(text) {
      if (!this.isOpen) return;
      let message = {};
      try {
        message = checked(text);
        this.heard = this.program.host.now();
        if ("method" in message) this.handle(message);
        else this.answered(message);
      } catch (error) {
        const { code, message: why } = error;
        // A mistake of the probe's own ends the link, never the program.
        if (!(error instanceof Refusal)) this.end(`the probe has failed: ${why}`);
        else if (!("method" in message)) this.refuse(error);
        else if ("id" in message) this.send({ id: message.id, error: { code, message: why } });
      }
    }

    /** The inspector does not follow the protocol: tell it and end. */
    refuse({ code = MALFORMED, message }) {
      this.send({ id: 0, error: { code, message } });
      this.end(message);
    }

    handle({ id, method, params }) {
      if (method === "Link.hello" && this.options.dials === false && !this.isWelcome) {
        if (!isSame(params.token, this.options.token)) {
          this.send({ id, error: { code: 8, message: "wrong token" } });
          this.end("wrong token");
          return;
        }
        this.agree(params, (result) => this.send({ id, result }));
        return;
      }
      if (!this.isWelcome) {
        this.end("the first message is Link.hello");
        return;
      }
      if (method === "Link.ping") this.notify("Link.pong", { n: params.n });
      else if (method === "Link.bye") this.close("");
      else if (method !== "Link.pong") this.execute(id, method, params);
    }

    execute(id, method, params) {
      const { program } = this;
      if (!Object.prototype.hasOwnProperty.call(METHODS, method)) {
        throw new Refusal(UNKNOWN_METHOD, "no such method");
      }
      const [needs, run] = METHODS[method];
      const capability = typeof needs === "function" ? needs(params) : needs;
      if (capability !== null) {
        const can = program.capabilities()[capability];
        const isGrant = can !== true && can.startsWith("the program grants");
        if (can !== true) throw new Refusal(isGrant ? NOT_GRANTED : NOT_POSSIBLE, can);
      }
      const result = run(program, params) || {};
      program.sender.flush();
      if (id !== undefined) this.send({ id, result });
    }

    answered({ result, error }) {
      if (this.isWelcome) return;
      if (error) this.end(error.message);
      else this.agree(result, () => {});
    }

    agree(params, reply) {
      const { program } = this;
      if (params.protocol !== PROTOCOL) {
        this.end(`protocol ${params.protocol} is not ${PROTOCOL}`);
        return;
      }
      this.isWelcome = true;
      reply(this.hello());
      program.sender.reset();
      program.sender.link = this;
      program.sender.turns = program.host.turnsOf(program);
      program.frames.forget();
      program.changed();
      program.keyframe();
      if (program.clock.isPaused) program.tellHeld();
      this.connection.settle();
    }

    /** Twice a second: tell that we live, and see whether the inspector does. */
    beat() {
      const { program } = this;
      const now = program.host.now();
      // A loop that was busy for long has had no chance to listen.
      const wasBusy = now - this.beaten > (BEAT_MS + 500) * 1e6;
      this.beaten = now;
      const limit = (this.isWelcome ? SILENCE_MS : HELLO_MS) * 1e6;
      if (now - this.heard > limit && !wasBusy) {
        this.close(this.isWelcome ? "the inspector did not answer in time, so it goes on by itself" : "no inspector answers");
        return;
      }
      if (!this.isWelcome) return;
      this.notify("Link.ping", { n: ++this.pings });
      if (program.sender.turns !== null) program.sender.turns.look(now);
      program.sender.flush();
      if (now - this.costAt > 9e8) this.tellCost(now);
    }

    tellCost(now) {
      const { program } = this;
      const { sender } = program;
      const events = sender.sent + sender.count;
      this.notify("Program.cost", {
        cpu_ns: Math.round(program.cost + sender.cost), interval_ns: now - this.costAt,
        events: events - this.costEvents, dropped: sender.dropped,
        queued_bytes: sender.unacknowledged(),
      });
      program.cost = sender.cost = 0;
      program.host.meetEngines(program);
      this.costAt = now;
      this.costEvents = events;
      const engines = JSON.stringify(program.adapters());
      if (engines !== this.engines || program.host.title() !== program.title) {
        this.engines = engines;
        program.title = program.host.title();
        program.changed();
      }
    }

    /** Tell the inspector why, and end. */
    end(reason) {
      this.notify("Link.bye", { reason });
      this.close(reason);
    }

    close(reason) {
      if (!this.isOpen) return;
      this.isOpen = false;
      const { program } = this;
      if (program.sender.link === this) {
        program.sender.link = null;
        if (program.sender.turns !== null) program.sender.turns.end();
        program.sender.turns = null;
      }
      program.host.forget(this.heartbeat);
      // A program that listens is watched for the next inspector.
      program.isWatched = this.options.dials === false;
      program.letGo(program.now());
      this.connection.close();
      if (reason && this.options.onEnd) this.options.onEnd(reason);
    }
  }

  /** Compare in a time that does not depend on where two texts differ. */
  function isSame(a, b) {
    if (typeof a !== "string" || a.length !== b.length) return false;
    let difference = 0;
    for (let i = 0; i < b.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
    return difference === 0;
  }

  // ------------------------------------------------------------------------ call sites

  const returnSites = (error, sites) => sites;

  /**
   * `file:line in function` of the code that called a hook, "" where it cannot be read: the
   * innermost of the program's own; where only packages are on the way, theirs.
   */
  function callSite(hook) {
    const { stackTraceLimit: limit, prepareStackTrace: prepare, captureStackTrace: capture } = Error;
    if (!capture) return siteInText(new Error().stack);
    try {
      Error.prepareStackTrace = returnSites;
      // Most callers are the program's own; others are looked through in a second try.
      for (const depth of [1, 40]) {
        Error.stackTraceLimit = depth;
        const holder = {};
        capture(holder, hook);
        const { stack } = holder;
        const sites = Array.isArray(stack) ? stack.filter((site) => !isInternal(site.getFileName())) : [];
        const own = sites.find((site) => !PACKAGE.test(site.getFileName()));
        const found = own || (depth > 1 && sites[0]);
        if (found) return siteText(found.getFileName(), found.getLineNumber(), found.getFunctionName());
      }
    } catch (error) {
      // A program may have frozen Error.
    } finally {
      try {
        Error.stackTraceLimit = limit;
        Error.prepareStackTrace = prepare;
      } catch (error) {
        // Nothing was changed then.
      }
    }
    return "";
  }

  function isInternal(file) {
    return !file || /^(node|wasm):/.test(file) || (OWN_FILE !== "" && file.endsWith(OWN_FILE));
  }

  function siteText(file, line, name) {
    const path = file.startsWith("file://") ? decodeURI(file.slice(7)) : file;
    return `${path}:${line}${name ? ` in ${name}` : ""}`;
  }

  /** The third line of a stack in Firefox and Safari: `name@file:line:column`. */
  function siteInText(stack) {
    const match = /^([^@\n]*)@(.*):(\d+):\d+$/m.exec(String(stack).split("\n").slice(3).join("\n"));
    return match ? siteText(match[2], match[3], match[1]) : "";
  }

  // --------------------------------------------------------------------------- hosts

  /** What the probe needs of a runtime: the functions that the hooks replace, and the clock. */
  class Host {
    constructor(global) {
      this.global = global;
      const { performance, Date: RealDate } = global;
      this.performanceNow = performance.now.bind(performance);
      this.RealDate = RealDate;
      this.dateNow = RealDate.now;
      this.timeout = global.setTimeout;
      this.interval = global.setInterval;
      this.clearTimeout = global.clearTimeout;
      this.performance0 = this.performanceNow();
      this.clearRefusal = "";
    }

    set origin(ns) {
      this.originLow = Number(ns & 0xffffffffn);
      this.originHigh = Number(ns >> 32n);
      this.originNs = Number(ns);
    }

    /** Real nanoseconds since the start of the probe. */
    now() {
      return Math.round((this.performanceNow() - this.performance0) * 1e6);
    }

    wireNs(at) {
      return this.originNs + at;
    }

    instantOf(stamp) {
      return Math.round((stamp - this.performance0) * 1e6);
    }

    later(ms, call) {
      return this.timeout.call(this.global, call, ms);
    }

    every(ms, call) {
      return this.interval.call(this.global, call, ms);
    }

    forget(handle) {
      this.clearTimeout.call(this.global, handle);
    }
  }

  /** A page, a frame of it or a worker: timers are numbers. */
  class PageHost extends Host {
    constructor(global) {
      super(global);
      this.isLate = false;
      this.origin = BigInt(Math.round(this.performance0 * 1e6));
      this.shortestMs = 0;
      this.intervalKind = INTERVAL_SKIP;
      this.records = new Map();
      this.pid = this.parentPid = 0;
      const agent = String((global.navigator && global.navigator.userAgent) || "");
      const [, name, version] = /(Chrome|Firefox|Version)\/([\d.]+)/.exec(agent) || [null, "page", ""];
      this.library = name === "Version" ? "Safari" : name;
      this.version = version;
      if (global.requestAnimationFrame) {
        this.requestFrame = global.requestAnimationFrame.bind(global);
        this.cancelFrame = global.cancelAnimationFrame.bind(global);
      }
      if (global.MessageChannel) {
        const { port1, port2 } = new global.MessageChannel();
        this.turns = [];
        port1.onmessage = () => this.turns.shift()();
        this.port = port2;
      }
    }

    title() {
      const { document } = this.global;
      return String((document && document.title) || this.place()).slice(0, MAX_NAME);
    }

    argv() {
      return [this.address()];
    }

    /** The address as people know it: without scheme and query. */
    place() {
      const { location } = this.global;
      if (!location || !location.pathname) return this.address();
      const name = location.protocol === "file:" ? location.pathname.split("/").pop() : "";
      return decodeURI(name) || location.host + location.pathname;
    }

    address() {
      const { location } = this.global;
      return String((location && location.href) || "page");
    }

    afterTurn(call) {
      if (!this.port) return this.later(0, call);
      this.turns.push(call);
      return this.port.postMessage(0);
    }

    turnsOf(program) {
      return new PageTurns(program);
    }

    bound(call) {
      return call;
    }

    soon(call) {
      this.later(0, call);
    }

    stayAwake() {
      return null; // a page stays
    }

    arm(record, ms) {
      record.handle = this.later(ms, () => this.fire(record));
      record.key = record.handle;
      this.records.set(record.key, record);
    }

    rearm(record, ms) {
      this.forget(record.handle);
      record.handle = this.later(ms, () => this.fire(record));
    }

    park(record) {
      this.disarm(record);
    }

    disarm(record) {
      if (record.isUnarmed) record.handle.cancel();
      else this.forget(record.handle);
    }

    dropped(record) {
      this.records.delete(record.key);
    }

    receiver() {
      return this.global;
    }

    find(key) {
      return this.records.get(Number(key));
    }

    engines() {
      const { Phaser, PIXI, __THREE__: three, cc, egret, gsap } = this.global;
      const found = [];
      const isSeen = (adapter) => adapter !== undefined && !adapter.isBroken;
      // Name, version, and what is not seen of it.
      const timers = "its own timers are";
      if (Phaser && Phaser.VERSION) found.push(["Phaser", String(Phaser.VERSION), isSeen(this.phaser) ? "" : timers]);
      if (PIXI && PIXI.VERSION) found.push(["PixiJS", String(PIXI.VERSION), "what its tickers call in each frame is"]);
      if (three) found.push(["three.js", String(three), ""]);
      if (cc && cc.ENGINE_VERSION) found.push(["Cocos", String(cc.ENGINE_VERSION), isSeen(this.cocos) ? "" : timers]);
      if (egret && egret.Capabilities) found.push(["Egret", String(egret.Capabilities.engineVersion), isSeen(this.egret) ? "" : timers]);
      if (gsap && gsap.version) found.push(["GSAP", String(gsap.version), isSeen(this.gsap) ? "" : "its tweens and delayed calls are"]);
      return found;
    }

    /** In the middle of the page's own code, where nothing of the probe may be raised. */
    tryEngines(program) {
      try {
        this.meetEngines(program);
      } catch {
        // The engine is not complete yet; it is tried again each second.
      }
    }

    /** Read the scheduler of an engine as soon as it is there. */
    meetEngines(program) {
      const { cc, egret, gsap, Phaser } = this.global;
      const root = gsap && gsap.globalTimeline;
      if (!this.gsap && root && typeof root.getChildren === "function" && gsap.ticker) this.gsap = new GsapTimers(program, gsap);
      const ticker = egret && (egret.ticker || (egret.sys && egret.sys.$ticker));
      if (!this.egret && ticker && Array.isArray(ticker.thisObjectList) && typeof egret.Timer === "function") {
        this.egret = new EgretTimers(program, egret, ticker);
      }
      if (this.egret) this.egret.follow();
      const manager = Phaser && Phaser.Scenes && Phaser.Scenes.SceneManager;
      if (!this.phaser && manager && typeof manager.prototype.update === "function") {
        this.phaser = new PhaserTimers(program, Phaser);
      }
      const director = cc && cc.director;
      if (this.cocos || !director || typeof director.getScheduler !== "function") return;
      const scheduler = director.getScheduler();
      // Other versions keep their timers elsewhere: those follow, but are not seen.
      if (scheduler && Array.isArray(scheduler._arrayForTimers)) this.cocos = new CocosTimers(program, scheduler);
    }

    install(program) {
      const { global } = this;
      const { document } = global;
      // Games set their first timers when the engine's file is loaded, or in their first frame.
      if (document && document.addEventListener) {
        document.addEventListener("load", ({ target }) => target && target.tagName === "SCRIPT" && this.tryEngines(program), true);
      }
      const timers = hooksOfTimers(program, this.interval, (record) => record.key);
      timers.clearInterval = timers.clearTimeout = function clearTimeout(key) {
        const record = program.host.find(key);
        if (record) program.clear(record, clearTimeout);
        program.host.forget(record ? record.handle : key);
      };
      if (this.requestFrame) {
        timers.requestAnimationFrame = function requestAnimationFrame(callback) {
          if (!program.isWatched || typeof callback !== "function") return program.host.requestFrame(callback);
          if (program.frames.index === 0) program.host.tryEngines(program);
          return program.frames.request(callback);
        };
        timers.cancelAnimationFrame = function cancelAnimationFrame(key) {
          if (!program.frames.cancel(Number(key))) program.host.cancelFrame(key);
        };
      }
      for (const name of Object.keys(timers)) replace(global, name, timers[name]);
      if (global.addEventListener) {
        global.addEventListener("error", (event) => program.failed(event.error || event.message));
        global.addEventListener("pagehide", () => program.ended("the page is left"));
      }
    }
  }

  /** Node: timers are objects that can be armed again. */
  class NodeHost extends Host {
    /** `script`: the name of the program, which its worker threads do not know. */
    constructor(global, load, script) {
      super(global);
      this.load = load;
      const { process } = global;
      this.script = script || (process.argv[1] ? load("path").basename(process.argv[1]) : "node");
      this.hrtime = process.hrtime;
      const { performance } = global;
      this.utilization = performance.eventLoopUtilization && performance.eventLoopUtilization.bind(performance);
      this.origin = process.hrtime.bigint() - BigInt(this.now());
      this.shortestMs = 1;
      this.intervalKind = INTERVAL_DELAY;
      this.immediate = global.setImmediate;
      this.clearImmediate = global.clearImmediate;
      this.threads = load("worker_threads");
      this.AsyncResource = load("async_hooks").AsyncResource;
      this.primitives = new Map();
      this.own = new WeakSet(); // the probe's own timers
      this.pid = process.pid;
      this.parentPid = this.threads.isMainThread ? process.ppid : process.pid;
      this.library = "Node.js";
      this.version = process.version.slice(1);
      const sample = this.timeout(() => {}, 1);
      this.Timeout = Object.getPrototypeOf(sample);
      this.refresh = this.Timeout.refresh;
      this.canRearm = "_idleTimeout" in sample && typeof this.refresh === "function";
      this.clearTimeout(sample);
    }

    title() {
      return this.threads.isMainThread ? this.script : `${this.script}, worker ${this.threads.threadId}`;
    }

    argv() {
      return this.global.process.argv.map(String);
    }

    later(ms, call) {
      return this._own(this.timeout(call, ms)).unref();
    }

    every(ms, call) {
      return this._own(this.interval(call, ms)).unref();
    }

    _own(handle) {
      this.own.add(handle);
      return handle;
    }

    afterTurn(call) {
      this.immediate(call);
    }

    soon(call) {
      this.immediate(call);
    }

    bound(call) {
      return this.AsyncResource.bind(call);
    }

    stayAwake() {
      return this._own(this.timeout(() => {}, LONGEST_MS));
    }

    /** What looks at long turns; `null` where this Node has no inspector, or does not allow it. */
    turnsOf(program) {
      if (this.utilization === undefined) return null;
      try {
        return new NodeTurns(program, this.load);
      } catch (error) {
        return null;
      }
    }

    arm(record, ms) {
      record.handle = this.timeout(this.fire, ms, record);
      record.handle[RECORD] = record;
    }

    rearm(record, ms) {
      record.handle._idleTimeout = Math.max(1, ms);
      this.refresh.call(record.handle);
    }

    /** Keep it waiting, and the process with it if it did so before. */
    park(record) {
      this.rearm(record, LONGEST_MS);
    }

    disarm(record) {
      if (record.isUnarmed) this.clearImmediate(record.handle);
      else this.clearTimeout(record.handle);
    }

    dropped(record) {
      if (record.primitive) this.primitives.delete(record.primitive);
    }

    receiver(record) {
      return record.handle;
    }

    find(handle) {
      if (typeof handle === "object" && handle !== null) return handle[RECORD];
      return this.primitives.get(String(handle));
    }

    engines() {
      return [];
    }

    meetEngines() {}

    install(program) {
      const { global, load, Timeout } = this;
      const { process } = global;
      const host = this;
      const hooks = hooksOfTimers(program, this.interval, (record) => record.handle);
      hooks.clearTimeout = function clearTimeout(handle) {
        const record = host.find(handle);
        if (record) program.clear(record, clearTimeout);
        host.clearTimeout(record ? record.handle : handle);
      };
      hooks.clearInterval = hooks.clearTimeout;
      hooks.setImmediate = function setImmediate(callback, ...args) {
        if (!program.isWatched || typeof callback !== "function") return host.immediate(...arguments);
        const record = program.addImmediate(callback, args, setImmediate);
        record.handle = host.immediate((one) => program.fireImmediate(one), record);
        record.handle[RECORD] = record;
        return record.handle;
      };
      hooks.clearImmediate = function clearImmediate(handle) {
        const record = host.find(handle);
        if (record) program.clear(record, clearImmediate);
        host.clearImmediate(handle);
      };
      const { refresh, close, [Symbol.toPrimitive]: toPrimitive, [Symbol.dispose]: dispose } = Timeout;
      replace(Timeout, "refresh", function () {
        const record = this[RECORD];
        if (record === undefined) return refresh.call(this);
        program.refresh(record);
        return this;
      });
      const closing = (original) => function close() {
        if (this[RECORD]) program.clear(this[RECORD], close);
        return original.call(this);
      };
      replace(Timeout, "close", closing(close));
      if (dispose) replace(Timeout, Symbol.dispose, closing(dispose));
      if (toPrimitive) {
        replace(Timeout, Symbol.toPrimitive, function () {
          const number = toPrimitive.call(this);
          const record = this[RECORD];
          if (record && program.timers.has(record)) {
            record.primitive = String(number);
            host.primitives.set(record.primitive, record);
          }
          return number;
        });
      }
      const timers = load("timers");
      const promised = hooksOfPromises(program, hooks, load("timers/promises"));
      const { custom } = load("util").promisify;
      Object.defineProperty(hooks.setTimeout, custom, { value: promised.setTimeout });
      Object.defineProperty(hooks.setImmediate, custom, { value: promised.setImmediate });
      for (const name of Object.keys(hooks)) {
        replace(global, name, hooks[name]);
        replace(timers, name, hooks[name]);
      }
      for (const name of Object.keys(promised)) replace(timers.promises, name, promised[name]);
      this._installClocks(program, process);
      load("module").syncBuiltinESMExports();
      process.on("uncaughtExceptionMonitor", (error) => program.failed(error));
      process.on("exit", () => program.ended("the program has ended"));
    }

    /** Node's own clocks: `process.hrtime`, `process.uptime`. */
    _installClocks(program, process) {
      const { hrtime } = this;
      const { bigint } = hrtime;
      const shift = () => (program.isMoved ? BigInt(program.read() - program.host.now()) : 0n);
      const scaled = function hrtimeOfProgram(since) {
        if (!program.isMoved) return hrtime.call(process, since);
        const now = bigint() + shift();
        const seconds = Number(now / 1000000000n);
        const rest = Number(now % 1000000000n);
        if (since === undefined) return [seconds, rest];
        const isLess = rest < since[1];
        return [seconds - since[0] - (isLess ? 1 : 0), rest - since[1] + (isLess ? 1e9 : 0)];
      };
      scaled.bigint = () => (program.isMoved ? bigint() + shift() : bigint());
      replace(process, "hrtime", scaled);
      const { uptime } = process;
      replace(process, "uptime", () => uptime.call(process) + Number(shift()) / 1e9);
    }

    /** Take over timers that were set before the probe came; Node keeps all it needs in them. */
    adopt(program, timeouts, sites) {
      const sample = this.timeout(() => {}, 1);
      const libuvNow = sample._idleStart;
      this.clearTimeout(sample);
      const at = program.now();
      let index = -1;
      for (const handle of timeouts) {
        index++;
        const callback = handle._onTimeout;
        // A timer that is being called waits in no list of Node's.
        if (handle[RECORD] || !handle._idleNext || typeof callback !== "function") continue;
        if (callback === this.fire || this.own.has(handle)) continue;
        if (sites[index] && isInternal(sites[index])) continue; // a timer of Node's own
        const period = Math.max(1, handle._repeat || handle._idleTimeout);
        const left = Math.max(0, handle._idleStart + handle._idleTimeout - libuvNow);
        const record = {
          id: 0, kind: handle._repeat ? INTERVAL_DELAY : TIMEOUT, callback,
          args: handle._timerArgs || [], period: period * 1e6,
          due: program.clock.local(at) + left * 1e6, depth: 0, handle, known: -1,
          name: nameOf(callback, sites[index] || ""), site: sites[index] || "",
        };
        handle[RECORD] = record;
        handle._onTimeout = () => program.fire(record);
        handle._repeat = null;
        program._insert(record);
        program._schedule(record);
      }
    }
  }

  function replace(target, name, value) {
    const known = Object.getOwnPropertyDescriptor(target, name) || { enumerable: false };
    Object.defineProperty(target, name, {
      value, enumerable: known.enumerable, configurable: true, writable: true,
    });
  }

  /** `setTimeout` and `setInterval`. */
  function hooksOfTimers(program, interval, handleOf) {
    const { host } = program;
    const { timeout, global, intervalKind } = host;
    return {
      setTimeout: function setTimeout(callback, delay, ...args) {
        if (!program.isWatched || typeof callback !== "function") return timeout.apply(global, arguments);
        return handleOf(program.add(TIMEOUT, callback, args, +delay, setTimeout));
      },
      setInterval: function setInterval(callback, delay, ...args) {
        if (!program.isWatched || typeof callback !== "function") return interval.apply(global, arguments);
        return handleOf(program.add(intervalKind, callback, args, +delay, setInterval));
      },
    };
  }

  /** The functions of `timers/promises`, made from the hooks. */
  function hooksOfPromises(program, hooks, native) {
    const abort = (signal) => {
      const error = new Error("The operation was aborted", { cause: signal.reason });
      return Object.assign(error, { name: "AbortError", code: "ABORT_ERR" });
    };
    const waiting = (set, clear, delay, value, { signal, ref = true } = {}) =>
      new Promise((resolve, reject) => {
        if (signal && signal.aborted) return reject(abort(signal));
        const stop = () => (clear(handle), reject(abort(signal)));
        const sleep = () => {
          if (signal) signal.removeEventListener("abort", stop);
          resolve(value);
        };
        const handle = set(sleep, delay);
        if (!ref) handle.unref();
        if (signal) signal.addEventListener("abort", stop, { once: true });
      });
    const isPlain = (options) => options === undefined || isObject(options);
    const promised = {
      setTimeout(delay, value, options) {
        if (!program.isWatched || !isPlain(options)) return native.setTimeout(delay, value, options);
        return waiting(hooks.setTimeout, hooks.clearTimeout, delay, value, options);
      },
      setImmediate(value, options) {
        if (!program.isWatched || !isPlain(options)) return native.setImmediate(value, options);
        const set = (done) => hooks.setImmediate(done);
        return waiting(set, hooks.clearImmediate, 0, value, options);
      },
      async *setInterval(delay, value, options) {
        const { signal, ref = true } = options || {};
        if (signal && signal.aborted) throw abort(signal);
        let ticks = 0;
        let wake = () => {};
        const handle = hooks.setInterval(() => (ticks++, wake()), delay);
        if (!ref) handle.unref();
        const stop = () => wake();
        if (signal) signal.addEventListener("abort", stop, { once: true });
        try {
          for (;;) {
            if (signal && signal.aborted) throw abort(signal);
            if (ticks === 0) await new Promise((resolve) => (wake = resolve));
            for (; ticks > 0; ticks--) yield value;
          }
        } finally {
          hooks.clearInterval(handle);
          if (signal) signal.removeEventListener("abort", stop);
        }
      },
    };
    const { scheduler } = native;
    if (scheduler) {
      replace(scheduler, "wait", (delay, options) => promised.setTimeout(delay, undefined, options));
    }
    return promised;
  }

  /** Replace the clocks that programs read: `Date` and `performance.now`. */
  function installClocks(program) {
    const { global, RealDate } = program.host;
    function Date(...args) {
      if (!new.target) return new RealDate(program.dateNow()).toString();
      return Reflect.construct(RealDate, args.length ? args : [program.dateNow()], new.target);
    }
    for (const name of Object.getOwnPropertyNames(RealDate)) {
      if (name !== "prototype") Object.defineProperty(Date, name, Object.getOwnPropertyDescriptor(RealDate, name));
    }
    Date.prototype = RealDate.prototype;
    replace(Date, "now", function now() {
      return program.dateNow();
    });
    replace(Date.prototype, "constructor", Date);
    replace(global, "Date", Date);
    const { performance } = global;
    const owner = Object.getPrototypeOf(performance);
    replace(owner && "now" in owner ? owner : performance, "now", function now() {
      return program.performanceNow();
    });
  }

  // ------------------------------------------------------------------------- connections

  /** A Unix or TCP socket of Node: length, type and payload. */
  class StreamConnection {
    static dial(net, address) {
      const [, path] = /^unix:(.*)$/.exec(address) || [];
      const [, host, port] = /^tcp:(.*):(\d+)$/.exec(address) || [];
      const socket = path ? net.connect({ path }) : net.connect({ host, port: Number(port) });
      if (!path) socket.setNoDelay(true);
      return new StreamConnection(socket);
    }

    constructor(socket) {
      this.onReady = this.onText = this.onFault = this.onClose = () => {};
      this.socket = socket;
      this.frames = new FrameReader();
      this.socket.on("connect", () => this.onReady());
      this.socket.on("data", (data) => this._take(data));
      this.socket.on("error", () => {});
      this.socket.on("close", () => this.onClose());
    }

    sendText(text) {
      this._send(TYPE_JSON, Buffer.from(text));
    }

    sendEvents(bytes) {
      this._send(TYPE_EVENTS, bytes);
    }

    _send(type, payload) {
      const head = Buffer.alloc(5);
      head.writeUInt32LE(payload.length + 1, 0);
      head[4] = type;
      this.socket.write(Buffer.concat([head, payload]));
    }

    _take(data) {
      try {
        this.frames.feed(data, (type, payload) => {
          if (type === TYPE_JSON) this.onText(textOf(payload));
          else checkEvents(payload);
        });
      } catch (error) {
        this.onFault(error);
      }
    }

    /** From now on the connection alone does not keep the program from ending. */
    settle() {
      this.socket.unref();
    }

    close() {
      this.socket.end();
      this.socket.unref();
    }
  }

  /** A function that the debugger's protocol put into the page; it takes texts. */
  class BindingConnection {
    constructor(send) {
      this.send = send;
      Promise.resolve().then(() => this.onReady());
    }

    sendText(text) {
      this.send(`J${text}`);
    }

    sendEvents(bytes) {
      let text = "";
      for (let i = 0; i < bytes.length; i += 8192) {
        text += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192));
      }
      this.send(`E${btoa(text)}`);
    }

    settle() {}

    close() {
      this.sendText("");
    }
  }

  /** A page that dials by itself. */
  class WebSocketConnection {
    constructor(WebSocket, url) {
      const socket = (this.socket = new WebSocket(url));
      socket.onopen = () => this.onReady();
      socket.onclose = () => this.onClose();
      socket.binaryType = "arraybuffer";
      socket.onmessage = ({ data }) => this._take(data);
    }

    sendText(text) {
      if (this.socket.readyState === 1) this.socket.send(text);
    }

    sendEvents(bytes) {
      if (this.socket.readyState === 1) this.socket.send(bytes);
    }

    _take(data) {
      if (typeof data === "string") {
        this.onText(data);
        return;
      }
      try {
        checkEvents(new Uint8Array(data));
      } catch (fault) {
        this.onFault(fault);
      }
    }

    settle() {}

    close() {
      this.socket.close();
    }
  }

  // ----------------------------------------------------------------------------- start

  /** Put the hooks into a runtime; returns the program. */
  function install(host) {
    const program = new Program(host);
    host.fire = program.fire;
    host.install(program);
    installClocks(program);
    return program;
  }

  /** Put the hooks into this runtime and tell an inspector what happens. */
  function start(global, load, makeConnection, options) {
    if (api.link !== null && api.link.isOpen) throw new Error("An inspector is attached already.");
    const isNode = load !== null;
    api.program = api.program || install(isNode ? new NodeHost(global, load, options.script) : new PageHost(global));
    api.program.host.isLate = options.isLate === true;
    const { program } = api;
    program.isWatched = true;
    program.grant = ["step", "full"].includes(options.grant) ? options.grant : "read-only";
    if (options.hold) program.hold(program.now(), 0);
    api.link = new Link(program, makeConnection(), options);
    return program;
  }

  const api = {
    program: null,
    link: null,
    /** Count a turn of a loop that has no animation frames. */
    frame() {
      if (api.program !== null) api.program.frames.turn();
    },
    /** Mark this instant in the timeline. */
    mark(text) {
      if (api.program !== null) api.program.mark(text);
    },
    /** Dial an inspector that listens on a WebSocket. */
    connect({ url, token, grant = "full", hold = false }) {
      const onEnd = (reason) => console.warn(`timeline-inspector: ${reason}`);
      const dial = () => new WebSocketConnection(root.WebSocket, url);
      start(root, null, dial, { token, grant, hold, onEnd });
    },
    /** Begin with a function that the debugger's protocol put in; it is hidden from the page. */
    bind(name, options) {
      const send = root[name];
      delete root[name];
      start(root, null, () => new BindingConnection(send), options);
    },
    /** Begin in a Node program that runs already. */
    enter(load, address, options) {
      start(root, load, () => StreamConnection.dial(load("net"), address), options);
    },
    later: (call) => api.program.host.later(0, call),
    adopt: (timeouts, sites) => api.program.host.adopt(api.program, timeouts, sites),
    receive: (text) => api.link.connection.onText(text),
  };
  const root = typeof globalThis === "object" ? globalThis : self;
  const key = Symbol.for("timeline.probe");

  if (typeof module === "object" && module.exports && typeof require === "function") {
    startNode();
  } else if (!root[key]) {
    Object.defineProperty(root, key, { value: api, configurable: true });
    root.timelineProbe = root.timelineProbe || { connect: api.connect, frame: api.frame, mark: api.mark };
  }

  /** Loaded by `--require`: dial as the environment says. */
  function startNode() {
    module.exports = { serve, frame: api.frame, mark: api.mark, internals: { Clock, FrameReader, NodeTurns, PageHost, Link, textOf, checkEvents, checked, install } };
    if (root[key]) return;
    // Deno would ask its user, or end the program.
    const { Deno } = root;
    if (Deno && NEEDED_IN_DENO.some((name) => Deno.permissions.querySync({ name }).state !== "granted")) return;
    const { env, argv } = process;
    const threads = require("worker_threads");
    const inherited = threads.isMainThread ? null : threads.getEnvironmentData(key.description);
    const { address, token, grant, script } = inherited || {
      address: env.TIMELINE_PROBE_CONNECT, token: env.TIMELINE_PROBE_TOKEN, grant: env.TIMELINE_PROBE_GRANT,
    };
    const name = argv[1] ? require("path").basename(argv[1]).replace(/(-cli)?\.c?js$/, "") : "";
    if (!address || !token) return;
    // Package managers only start other programs, which inherit the environment.
    if (["npm", "npx", "yarn", "pnpm", "corepack"].includes(name)) {
      passOn("");
      return;
    }
    Object.defineProperty(root, key, { value: api });
    const hold = threads.isMainThread && env.TIMELINE_PROBE_HOLD === "1";
    delete env.TIMELINE_PROBE_TOKEN;
    delete env.TIMELINE_PROBE_HOLD;
    passOn(token);
    const onEnd = (reason) => {
      if (reason === "no inspector answers") process.emitWarning(`timeline-inspector: ${reason}`);
    };
    const options = { token, grant: grant || "full", hold, onEnd, script };
    const dial = () => StreamConnection.dial(require("net"), address);
    const { host } = start(root, require, dial, options);
    threads.setEnvironmentData(key.description, { address, token, grant, script: host.script });
  }

  /** Let an inspector attach to this Node program, at the place where it looks for its process. */
  function serve({ grant = "full" } = {}) {
    if (root[key]) return; // it has been called before, or an inspector has launched the program
    Object.defineProperty(root, key, { value: api });
    const fs = require("fs");
    const { join } = require("path");
    const runtime = process.env.XDG_RUNTIME_DIR;
    const folder = runtime && fs.existsSync(runtime)
      ? join(runtime, "timeline-inspector")
      : join(require("os").tmpdir(), `timeline-inspector-${process.getuid()}`);
    const own = join(folder, String(process.pid));
    const token = require("crypto").randomBytes(16).toString("hex");
    try {
      makeOwn(fs, folder);
      fs.rmSync(own, { recursive: true, force: true }); // of an earlier process of this number
      makeOwn(fs, own);
      fs.writeFileSync(join(own, "token"), token, { mode: 0o600, flag: "wx" });
    } catch (error) {
      process.emitWarning(`timeline-inspector: no inspector can attach: ${error.message}`);
      return;
    }
    api.program = install(new NodeHost(root, require));
    api.program.isWatched = true;
    const server = require("net").createServer((socket) => {
      if (api.link !== null && api.link.isOpen) {
        const connection = new StreamConnection(socket);
        const error = { code: NOT_POSSIBLE, message: "An inspector is attached already." };
        connection.sendText(JSON.stringify({ id: 0, error }));
        connection.close();
        return;
      }
      start(root, require, () => new StreamConnection(socket), { token, grant, dials: false });
    });
    const path = join(own, "socket");
    server.listen(path).unref(); // the socket is there when this returns
    fs.chmodSync(path, 0o600);
    process.on("exit", () => fs.rmSync(own, { recursive: true, force: true }));
  }

  /** Make a folder that only this user may open, or check that it is one. */
  function makeOwn(fs, path) {
    fs.mkdirSync(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = fs.lstatSync(path);
    if (uid !== process.getuid() || (mode & 0o170077) !== 0o040000) {
      throw new Error(`${path} is not for this user alone, so no inspector is let in there`);
    }
  }

  /**
   * Give the token to child processes that get the rest of the environment, and leave the probe out
   * where Node would not start with it: where it may not read it, or sees other files.
   */
  function passOn(token) {
    const children = require("child_process");
    const prototype = children.ChildProcess.prototype;
    const { spawn } = prototype;
    prototype.spawn = function (options) {
      const pairs = options && options.envPairs;
      if (Array.isArray(pairs) && pairs.some((pair) => pair.startsWith("TIMELINE_PROBE_CONNECT="))) {
        const isOut = mayNotPreload([options.file].concat(options.args), options.cwd);
        const kept = (pair) => (isOut && pair.startsWith("NODE_OPTIONS=") ? pair.replace(PRELOAD, "") : pair);
        const envPairs = pairs.map(kept);
        if (token) envPairs.push(`TIMELINE_PROBE_TOKEN=${token}`);
        options = { ...options, envPairs };
      }
      return spawn.call(this, options);
    };
    // These reach the system without a ChildProcess.
    for (const name of ["execSync", "execFileSync", "spawnSync"]) {
      const start = children[name];
      children[name] = Object.defineProperty(function (...given) {
        const place = given.findIndex((each, at) => at > 0 && !Array.isArray(each));
        const options = (place < 0 ? null : given[place]) || {};
        const env = options.env || process.env;
        if (typeof options === "object" && env.TIMELINE_PROBE_CONNECT) {
          const isOut = mayNotPreload([given[0]].concat(Array.isArray(given[1]) ? given[1] : []), options.cwd);
          const added = token ? { TIMELINE_PROBE_TOKEN: token } : {};
          if (isOut && env.NODE_OPTIONS) added.NODE_OPTIONS = env.NODE_OPTIONS.replace(PRELOAD, "");
          given.splice(place < 0 ? given.length : place, 1, { ...options, env: { ...env, ...added } });
        }
        return start.apply(this, given);
      }, "name", { value: name });
    }
    require("module").syncBuiltinESMExports();
  }

  /** Return whether Node does not find the probe where a command line runs it, as far as that is known. */
  function mayNotPreload(command, folder) {
    const words = command.join(" ").split(/\s+/);
    let isOfShell = false;
    for (const word of [...words]) {
      if (SHELL.test(word)) isOfShell = true;
      else if (!(isOfShell && word.startsWith("-"))) {
        const text = beginningOf(word, folder);
        const first = text.startsWith("#!") ? text.slice(2).split("\n")[0].trim().split(/\s+/) : [];
        if (isOfShell || first.some((each) => SHELL.test(each))) words.push(...text.split(/\s+/));
        isOfShell = false;
      }
    }
    return words.some((word) => /^--(experimental-)?permission$/.test(word) || ELSEWHERE.test(word));
  }

  /** Return how a script begins, an empty text if a word names none. */
  function beginningOf(word, folder) {
    const fs = require("fs");
    try {
      const place = folder instanceof URL ? require("url").fileURLToPath(folder) : folder || ".";
      const path = require("path").resolve(place, word);
      const found = fs.statSync(path);
      return found.isFile() && found.size <= SCRIPT_BYTES ? fs.readFileSync(path, "utf8") : "";
    } catch {
      return "";
    }
  }
})();
