"use strict";
const assert = require("node:assert");
const { test } = require("node:test");
const vm = require("node:vm");

const { Page, D } = require("./page.js");

/** A page with an interval of 100 ms that notes when it was called, in real ms since the start. */
function ticking(options) {
  const page = new Page(options);
  const ticks = [];
  const start = page.ms;
  page.key = page.global.setInterval(function tick() {
    ticks.push(page.ms - start);
  }, 100);
  return { page: page.attach(), ticks };
}

test("at rate 1 timers are called as without a probe", () => {
  const { page, ticks } = ticking();
  const once = [];
  page.global.setTimeout((...args) => once.push(page.ms, ...args), 30, "a", "b");
  page.pass(350);
  assert.deepStrictEqual(ticks, [100, 200, 300]);
  assert.deepStrictEqual(once, [5030, "a", "b"]);
});

test("nothing is called while held, and nothing bursts afterwards", () => {
  const { page, ticks } = ticking();
  page.passAttached(150);
  assert.deepStrictEqual(page.ask("Clock.pause", { clock: 1, cause: 4 }).result, {});
  page.passAttached(10000);
  assert.deepStrictEqual(ticks, [100]);
  page.ask("Clock.resume", { clock: 1, cause: 5 });
  page.passAttached(260);
  assert.deepStrictEqual(ticks, [100, 10200, 10300, 10400]);
  assert.deepStrictEqual(page.seen("clock_paused").map((event) => event[2]), [4]);
});

test("the longest waits at the lowest rate are not over at once", () => {
  const { page, ticks } = ticking();
  const once = [];
  page.global.setTimeout(() => once.push(page.ms), 2 ** 31 - 1);
  page.ask("Clock.rate", { clock: 1, rate_n: 1, cause: 1 });
  page.passAttached(5000);
  assert.deepStrictEqual([ticks, once], [[], []]);
  page.ask("Clock.rate", { clock: 1, rate_n: D, cause: 2 });
  page.passAttached(250);
  assert.deepStrictEqual([ticks, once], [[5100, 5200], []]);
});

test("the rate scales what is waited for and what is read", () => {
  const { page, ticks } = ticking();
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  const before = page.global.performance.now();
  page.passAttached(1000);
  assert.deepStrictEqual(ticks, [400, 800]);
  assert.strictEqual(page.global.performance.now() - before, 250);
  page.ask("Clock.rate", { clock: 1, rate_n: 2 * D });
  page.passAttached(100);
  assert.deepStrictEqual(ticks, [400, 800, 1025, 1075]);
});

test("an interval keeps its count and says what it has missed", () => {
  const { page, ticks } = ticking();
  page.ms += 350; // the page was busy
  page.pass(100);
  assert.deepStrictEqual(ticks, [350, 400]);
  assert.deepStrictEqual(page.seen("ticks_missed").map((event) => event[2]), [2]);
  assert.deepStrictEqual(page.seen("timer_fired")[0].slice(2, 4), [250e6, 400e6]);
});

test("the next timer is reached exactly, called, and the program is held there", () => {
  const { page, ticks } = ticking();
  page.passAttached(150);
  page.ask("Clock.pause", { clock: 1 });
  page.passAttached(500);
  page.ask("Program.step", { clock: 1, to: "next_timer", cause: 9 });
  page.passAttached(500);
  assert.strictEqual(ticks.length, 2);
  assert.strictEqual(page.global.performance.now(), 5200);
  assert.deepStrictEqual(page.notices("Program.held").map(({ held }) => held), [true, true]);
  const [resumed] = page.seen("clock_resumed");
  const paused = page.seen("clock_paused")[1];
  assert.strictEqual(paused[4] - resumed[4], 50e6);
  assert.strictEqual(paused[2], 9);
});

test("a step lasts as long as it says", () => {
  const { page } = ticking();
  page.ask("Clock.pause", { clock: 1 });
  const before = page.global.performance.now();
  for (const ns of [1, 1000000, 12345678]) page.ask("Program.step", { local_ns: ns }), page.passAttached(100);
  assert.strictEqual(Math.round((page.global.performance.now() - before) * 1e6), 13345679);
});

test("a timer is told with its name, its kind and the place that set it", () => {
  const page = new Page().attach();
  function greet() {}
  page.global.setTimeout(greet, 5);
  const [added] = page.seen("timer_added");
  const [origin] = page.seen("timer_origin");
  assert.strictEqual(page.texts[added[3]], "greet");
  assert.match(page.texts[origin[2]], /timers\.test\.js:\d+/);
  assert.strictEqual(origin[3], 0);
  page.global.setTimeout(() => {}, 5);
  assert.match(page.texts[page.seen("timer_added")[1][3]], /^anonymous \(timers\.test\.js:\d+\)$/);
});

test("a timer that is cleared is told once, with the place that cleared it", () => {
  const { page, ticks } = ticking();
  page.global.clearInterval(page.key);
  page.global.clearInterval(page.key);
  page.global.clearTimeout(undefined);
  page.pass(500);
  assert.deepStrictEqual(ticks, []);
  const cleared = page.seen("timer_cleared");
  assert.strictEqual(cleared.length, 1);
  assert.match(page.texts[cleared[0][2]], /timers\.test\.js/);
});

test("the inspector clears a timer", () => {
  const { page, ticks } = ticking();
  assert.deepStrictEqual(page.ask("Timer.clear", { timer: 1, cause: 3 }).result, {});
  assert.strictEqual(page.ask("Timer.clear", { timer: 1 }).error.code, 6);
  page.passAttached(500);
  assert.deepStrictEqual(ticks, []);
  assert.deepStrictEqual(page.seen("timer_cleared")[0].slice(1, 4), [1, 0, 3]);
});

test("a callback that raises does not stop its interval", () => {
  const page = new Page().attach();
  let calls = 0;
  page.global.setInterval(() => {
    calls++;
    throw new Error("no");
  }, 10);
  for (let n = 0; n < 3; n++) assert.throws(() => page.pass(10), /no/);
  assert.strictEqual(calls, 3);
  page.program.failed(new Error("no"));
  assert.match(page.texts[page.seen("callback_failed")[0][3]], /Error: no/);
});

test("frames stand still while held, and one frame is stepped", () => {
  const page = new Page();
  const stamps = [];
  const draw = (stamp) => {
    stamps.push(stamp);
    page.global.requestAnimationFrame(draw);
  };
  page.global.requestAnimationFrame(draw);
  page.attach();
  page.passAttached(160);
  assert.strictEqual(stamps.length, 10);
  assert.strictEqual(page.seen("frame_ended").length, 10);
  page.ask("Clock.pause", { clock: 1 });
  page.passAttached(1000);
  assert.strictEqual(stamps.length, 10);
  page.ask("Program.step", { frames: 1 });
  page.passAttached(1000);
  assert.strictEqual(stamps.length, 11);
  page.ask("Program.step", { frames: 3 });
  page.passAttached(1000);
  assert.strictEqual(stamps.length, 14);
  const deltas = stamps.slice(10).map((stamp, i) => stamp - stamps[i + 9]);
  for (const delta of deltas) assert.ok(delta > 15 && delta < 33, `${deltas}`);
  page.ask("Link.release");
  page.passAttached(160);
  assert.ok(stamps.length >= 23);
});

test("a page is held at the end of a frame that takes too long", () => {
  const page = new Page();
  let busy = 10;
  const draw = () => {
    page.ms += busy;
    page.global.requestAnimationFrame(draw);
  };
  page.global.requestAnimationFrame(draw);
  page.attach();
  page.ask("Program.hold_after", { turn_ns: 30e6, cause: 4 });
  page.passAttached(160);
  assert.deepStrictEqual(page.seen("clock_paused"), []);
  busy = 40;
  page.passAttached(1000);
  const [paused] = page.seen("clock_paused");
  assert.strictEqual(paused[2], 4);
  assert.strictEqual(page.seen("frame_ended").at(-1)[3], 40e6);
  assert.strictEqual(page.notices("Program.held").at(-1).held, true);
});

test("the frame after a hold is not longer by it", () => {
  const page = new Page().attach();
  const { global } = page;
  const loop = () => global.requestAnimationFrame(loop);
  loop();
  page.passAttached(100);
  page.ask("Clock.pause", { clock: 1, cause: 1 });
  page.passAttached(5000);
  page.ask("Clock.resume", { clock: 1, cause: 2 });
  page.passAttached(200);
  const since = page.seen("frame_ended").map((event) => event[2] / 1e6);
  assert.ok(since.length > 15);
  assert.ok(Math.max(...since) < 40, String(since));
});

test("lengths and work of frames tile the time, whatever is done to the clock", () => {
  const page = new Page();
  const { global } = page;
  const works = [2, 40, 0.5, 7, 3, 21]; // real ms in a callback
  let frame = 0;
  const loop = () => {
    page.ms += works[frame++ % works.length];
    global.requestAnimationFrame(loop);
  };
  loop();
  page.pass(100);
  page.attach();
  const changes = [
    ["Clock.rate", { clock: 1, rate_n: D / 4 }],
    ["Clock.pause", { clock: 1 }],
    ["Program.step", { frames: 2 }],
    ["Clock.resume", { clock: 1 }],
    ["Clock.rate", { clock: 1, rate_n: 0 }],
    ["Clock.rate", { clock: 1, rate_n: 3 * D }],
    ["Link.release", {}],
  ];
  for (const [method, params] of changes) {
    page.passAttached(333);
    page.ask(method, params);
  }
  page.passAttached(333);
  let began = null;
  let before = null;
  let frames = 0;
  let stood = 0;
  let rate = 1;
  let isPaused = false;
  let last = 0;
  const kinds = ["clock_paused", "clock_resumed", "clock_rate", "frame_began", "frame_ended"];
  for (const [kind, , a, b, at] of page.seen(...kinds)) {
    if (isPaused || rate === 0) stood += at - last;
    last = at;
    if (kind === "clock_paused") isPaused = true;
    else if (kind === "clock_resumed") isPaused = false;
    else if (kind === "clock_rate") rate = a;
    else if (kind === "frame_began") began = { at, stood, isHeld: isPaused || rate === 0 };
    else {
      const answered = began.isHeld ? stood - began.stood : 0;
      const work = at - began.at - (stood - began.stood) + answered;
      assert.strictEqual(b, work);
      if (before === null) assert.strictEqual(a, 0);
      else assert.strictEqual(a, began.at - before.at - (began.stood - before.stood) + before.answered);
      assert.ok(before === null || a >= before.work);
      before = { ...began, work, answered };
      frames++;
    }
  }
  assert.ok(frames > 30, String(frames));
});

test("a loop that tells its turns works from one to the next", () => {
  const page = new Page().attach();
  for (const ms of [0, 5, 30, 2]) {
    page.ms += ms;
    page.program.frames.turn();
  }
  const ended = page.seen("frame_ended").map(([, , a, b]) => [a / 1e6, b / 1e6]);
  assert.deepStrictEqual(ended, [[0, 5], [5, 30], [30, 2]]);
});

test("a frame has the delta of the clock", () => {
  const page = new Page().attach();
  const draw = () => page.global.requestAnimationFrame(draw);
  draw();
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  page.passAttached(160);
  const deltas = page.seen("frame_began").slice(1).map((event) => event[3]);
  assert.deepStrictEqual(new Set(deltas), new Set([4e6]));
});

test("a cancelled frame is not called and does not keep its frame open", () => {
  const page = new Page().attach();
  const { global } = page;
  const called = [];
  let second;
  global.requestAnimationFrame(() => (called.push(1), global.cancelAnimationFrame(second)));
  second = global.requestAnimationFrame(() => called.push(2));
  page.pass(40);
  assert.deepStrictEqual(called, [1]);
  assert.strictEqual(page.seen("frame_ended").length, 1);
});

test("a loop that waits for a held clock without returning is let go", () => {
  const { page } = ticking();
  page.ask("Clock.pause", { clock: 1 });
  const end = page.global.Date.now() + 5;
  let readings = 0;
  while (page.global.Date.now() < end) {
    page.ms += 0.1;
    assert.ok(++readings < 100000);
  }
  assert.strictEqual(page.program.clock.n, D);
  assert.match(page.notices("Program.changed").pop().clocks[0].capabilities.pause, /in a loop/);
  assert.strictEqual(page.ask("Clock.pause", { clock: 1 }).error.code, 5);
});

/** A page with a function of an installed package. */
function withPackage(code) {
  const page = new Page().attach();
  page.global.log = [];
  const make = vm.runInThisContext(`(global) => (${code})`, { filename: "/x/node_modules/cron/index.js" });
  const sites = () => page.seen("timer_origin").map((event) => page.texts[event[2]]);
  return { page, call: make(page.global), sites };
}

test("a timer that a package sets has the line that has called the package", () => {
  const { page, call, sites } = withPackage("function every(f) { global.setInterval(f, 100); }");
  const deep = (left) => (left > 0 ? deep(left - 1) : call(() => {}));
  deep(3);
  page.passAttached(0);
  assert.match(sites()[0], /timers\.test\.js:\d+ in deep$/);
});

/** Run something as if no code of the program's own had called it. */
function alone(run) {
  const { captureStackTrace: capture } = Error;
  Error.captureStackTrace = (holder, hook) => {
    Error.stackTraceLimit = 1;
    capture(holder, hook);
  };
  try {
    run();
  } finally {
    Error.captureStackTrace = capture;
  }
}

test("a timer that a package sets when it is called has the line that has set the first", () => {
  const { page, call, sites } = withPackage("function beat() { global.setTimeout(beat, 100); }");
  call();
  alone(() => page.passAttached(250));
  assert.strictEqual(sites().length, 3);
  assert.match(sites()[0], /timers\.test\.js:\d+$/);
  assert.strictEqual(new Set(sites()).size, 1);
});

test("what only packages set has their line", () => {
  const { page, call, sites } = withPackage("function later() { global.setTimeout(() => {}, 100); }");
  alone(call);
  page.passAttached(0);
  assert.strictEqual(sites()[0], "/x/node_modules/cron/index.js:1 in later");
});

test("a bound function has the name of what was bound", () => {
  const page = new Page().attach();
  page.global.setTimeout(function spawn() {}.bind(null), 100);
  page.global.setTimeout((() => () => {})().bind(null), 100);
  page.passAttached(0);
  const names = page.seen("timer_added").map((event) => page.texts[event[3]]);
  assert.strictEqual(names[0], "spawn");
  assert.match(names[1], /^anonymous \(timers\.test\.js:\d+\)$/);
});
