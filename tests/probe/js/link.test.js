"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Page, D } = require("./page.js");

test("a hello says who speaks, with the token", () => {
  const page = new Page({ title: "game" }).attach();
  const [{ method, params }] = page.told;
  assert.strictEqual(method, "Link.hello");
  assert.strictEqual(params.token, "ab".repeat(16));
  assert.strictEqual(params.name, "game");
  assert.deepStrictEqual(params.runtime, { language: "javascript", version: "156.0", implementation: "Chrome" });
});

test("a keyframe describes the clock and what is pending", () => {
  const page = new Page();
  page.global.setInterval(function tick() {}, 100);
  page.pass(30);
  page.program.change(page.program.now(), false, D / 2, 0);
  page.pass(30);
  page.program.hold(page.program.now(), 0);
  page.pass(1000);
  page.attach();
  page.program.sender.flush();
  assert.deepStrictEqual(page.notices("Events.keyframe").map(({ state }) => state), ["begun", "complete"]);
  assert.deepStrictEqual(page.events.map(([kind]) => kind), [
    "clock_added", "clock_anchored", "clock_rate", "clock_paused",
    "timer_added", "timer_origin", "timer_armed",
  ]);
  const anchored = page.events[1];
  assert.strictEqual(anchored[4] - anchored[2], 45e6); // local time when it was told
  assert.strictEqual(page.events[6][2], 100e6);
});

test("many timers are described in slices", () => {
  const page = new Page();
  for (let n = 0; n < 3000; n++) page.global.setTimeout(() => {}, 60000);
  const { now } = page.host;
  let readings = 0;
  page.host.now = () => now.call(page.host) + 1000 * ++readings; // each reading takes 1 µs
  page.attach();
  page.pass(100);
  const states = page.notices("Events.keyframe").map(({ state }) => state);
  assert.strictEqual(states[0], "begun");
  assert.strictEqual(states[states.length - 1], "complete");
  assert.strictEqual(page.seen("timer_added").length, 3000);
});

test("a description that is larger than the window waits for acknowledgements", () => {
  const page = new Page();
  const { host, program } = page;
  const { now } = host;
  let readings = 0;
  host.now = () => now.call(host) + 1000 * ++readings; // each reading takes 1 µs
  host.arm = () => {};
  program.isWatched = false; // no call sites
  for (let n = 0; n < 80000; n++) program.add(0, Math.max, [], 60000, null);
  page.attach({ acknowledges: false });
  for (let n = 0; n < 100; n++) {
    page.pass(10);
    program.sender.acknowledge(program.sender.sent);
  }
  assert.deepStrictEqual(page.notices("Events.lost"), []);
  const states = page.notices("Events.keyframe").map(({ state }) => state);
  assert.deepStrictEqual([states.filter((state) => state === "begun").length, states.pop()], [1, "complete"]);
  assert.strictEqual(page.seen("timer_added").length, 80000);
});

test("a timer that fires before it was described is described first", () => {
  const page = new Page();
  for (let n = 0; n < 40; n++) page.global.setTimeout(() => {}, 5);
  page.attach();
  page.pass(10);
  const known = new Set();
  page.program.sender.flush();
  for (const [kind, subject] of page.events) {
    if (kind === "timer_added") known.add(subject);
    if (kind === "timer_fired") assert.ok(known.has(subject));
  }
});

test("what is not acknowledged is dropped by count, and a keyframe follows", () => {
  const page = new Page();
  page.attach({ acknowledges: false });
  page.global.setInterval(() => {}, 1);
  for (let n = 0; n < 230000; n++) page.program.mark("m");
  const [lost] = page.notices("Events.lost");
  assert.strictEqual(lost, undefined);
  const before = page.notices("Events.keyframe").length;
  page.ask("Events.ack", { events: page.program.sender.sent });
  const { counts } = page.notices("Events.lost")[0];
  const told = page.seen("mark").length;
  assert.strictEqual(counts[49] + told, 230000);
  assert.ok(page.notices("Events.keyframe").length > before);
});

test("a silent inspector holds nothing", () => {
  const page = new Page().attach();
  page.ask("Clock.pause", { clock: 1 });
  page.ask("Clock.rate", { clock: 1, rate_n: D / 2 });
  page.pass(1500);
  assert.strictEqual(page.program.clock.n, 0);
  page.pass(2000);
  assert.strictEqual(page.program.clock.n, D);
  assert.ok(!page.connection.isOpen);
});

test("a program that was busy itself does not take the inspector for silent", () => {
  const page = new Page().attach();
  page.ask("Clock.pause", { clock: 1 });
  page.ms += 10000;
  page.pass(100);
  assert.ok(page.connection.isOpen);
});

test("an inspector that goes in order, or whose connection ends, holds nothing", () => {
  for (const end of [(p) => p.say({ method: "Link.bye", params: { reason: "" } }), (p) => p.connection.onClose()]) {
    const page = new Page().attach();
    page.ask("Clock.pause", { clock: 1 });
    end(page);
    assert.strictEqual(page.program.clock.n, D);
    let called = 0;
    page.global.setTimeout(() => called++, 5);
    page.pass(10);
    assert.strictEqual(called, 1);
  }
});

test("the program decides what is granted", () => {
  const cases = { "read-only": [4, 4, 4, 4], step: [0, 0, 4, 4], full: [0, 0, 0, 0] };
  for (const [grant, codes] of Object.entries(cases)) {
    const page = new Page();
    page.global.setInterval(() => {}, 100);
    page.attach({ grant });
    const answers = [
      page.ask("Clock.pause", { clock: 1 }), page.ask("Program.step", { local_ns: 5 }),
      page.ask("Clock.rate", { clock: 1, rate_n: D }), page.ask("Timer.clear", { timer: 1 }),
    ];
    assert.deepStrictEqual(answers.map(({ error }) => (error ? error.code : 0)), codes, grant);
    assert.strictEqual(page.ask("Program.grant").result.grant, grant);
  }
});

test("wrong requests are refused and change nothing", () => {
  const page = new Page().attach();
  const code = (method, params) => page.ask(method, params).error.code;
  assert.strictEqual(code("Program.eval", { code: "1" }), 2);
  assert.strictEqual(code("constructor"), 2);
  assert.strictEqual(code("Clock.pause", { clock: 2 }), 6);
  assert.strictEqual(code("Clock.pause", { clock: "1" }), 3);
  assert.strictEqual(code("Clock.rate", { clock: 1, rate_n: -1 }), 3);
  assert.strictEqual(code("Clock.rate", { clock: 1, rate_n: 1e6 * D + 1 }), 3);
  assert.strictEqual(code("Program.step", {}), 3);
  assert.strictEqual(code("Program.step", { frames: 1, local_ns: 1 }), 3);
  assert.strictEqual(code("Program.step", { to: "the end" }), 3);
  assert.strictEqual(code("Program.step", { frames: 1 }), 5);
  assert.strictEqual(code("Program.step", { to: "next_timer" }), 5);
  assert.strictEqual(page.program.clock.n, D);
  assert.ok(page.connection.isOpen);
});

test("what does not follow the protocol ends the link", () => {
  for (const text of ["", "{", "[]", "{}", '{"id":1}', `{"method":"x","params":{"a":"${"a".repeat(70000)}"}}`]) {
    const page = new Page().attach();
    page.ask("Clock.pause", { clock: 1 });
    page.connection.onText(text);
    assert.ok(!page.connection.isOpen, text.slice(0, 20));
    assert.strictEqual(page.program.clock.n, D);
  }
});

test("before the hello nothing is told and nothing can be asked for", () => {
  const page = new Page();
  page.global.setTimeout(() => {}, 5);
  page.attach();
  const { link } = page;
  link.isWelcome = false;
  page.say({ id: 5, method: "Clock.pause", params: { clock: 1 } });
  assert.strictEqual(page.program.clock.n, D);
  assert.ok(!page.connection.isOpen);
});

const random = {};

test("random texts never raise and never change the program without a request", () => {
  let seed = 1;
  const roll = (below) => (seed = (seed * 48271) % 2147483647) % below;
  const words = ['{"id":', "1", '"method":', '"Clock.pause"', ",", "}", "{", '"params":', "[", "]", "null", "\u0000", "é", '"', "1e999", "-", "true"];
  const trials = process.env.TIMELINE_INSPECTOR_FUZZ ? 20000 : 1500;
  for (let trial = 0; trial < trials; trial++) {
    const page = trial % 50 ? random.page : (random.page = new Page().attach());
    let text = "";
    for (let n = roll(12); n >= 0; n--) text += words[roll(words.length)];
    page.connection.onText(text);
    if (!page.connection.isOpen) page.attach();
  }
});
