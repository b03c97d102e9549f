"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Clock } = require("../../../inspector/probe/js/probe.js").internals;
const { Page, D } = require("./page.js");

/** Numbers that are the same in every run. */
function dice(seed) {
  let state = BigInt(seed);
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
    return Number((state >> 33n) % BigInt(below));
  };
}

const floor = (a, b) => (a % b < 0n ? a / b - 1n : a / b);

test("local time is exact however often the rate changes", () => {
  const roll = dice(7);
  const clock = new Clock();
  let off = 0n;
  let n = BigInt(D);
  let at = 0;
  for (let change = 0; change < 20000; change++) {
    at += roll(40000000);
    const isPaused = roll(3) === 0;
    const rate = roll(4) === 0 ? D : roll(3 * D);
    const before = clock.local(at);
    clock.change(at, isPaused, rate);
    assert.strictEqual(clock.local(at), before);
    const next = isPaused ? 0n : BigInt(rate);
    off += BigInt(at) * (n - next);
    n = next;
    const later = at + roll(1000000);
    assert.strictEqual(BigInt(clock.local(later)), floor(BigInt(later) * n + off, BigInt(D)));
  }
});

test("a due instant is reached never early and no later than necessary", () => {
  const roll = dice(11);
  for (let trial = 0; trial < 5000; trial++) {
    const clock = new Clock();
    clock.change(roll(1e9), false, 1 + roll(5 * D));
    const due = roll(1e9);
    const at = clock.realAt(due);
    assert.ok(clock.local(at) >= due);
    assert.ok(clock.local(at - 1) < due);
  }
});

test("an anchor keeps local time", () => {
  const clock = new Clock();
  clock.change(10, false, D / 3);
  const local = clock.local(1000001);
  assert.strictEqual(clock.anchor(1000001), 1000001 - local);
  assert.strictEqual(clock.local(1000001), local);
});

test("clocks of the program agree and are continuous over every change", () => {
  const roll = dice(3);
  const page = new Page();
  const { global, program } = page;
  let date = global.Date.now();
  let now = global.performance.now();
  const first = { date, now };
  for (let change = 0; change < 2000; change++) {
    const [isPaused, rate] = [roll(3) === 0, [0, D / 4, D, 2 * D, D / 7][roll(5)]];
    program.change(program.now(), isPaused, rate, 0);
    for (let reading = 0; reading < 3; reading++) {
      const later = { date: global.Date.now(), now: global.performance.now() };
      assert.ok(later.date >= date && later.now >= now);
      ({ date, now } = later);
      page.pass(roll(20) / 4);
    }
    assert.ok(Math.abs(date - first.date - (now - first.now)) <= 20, `${change}`);
    assert.ok(Math.abs(new global.Date().getTime() - date) <= 40);
  }
});

test("a date made by hand stays what it is", () => {
  const { global, program } = new Page();
  program.hold(program.now(), 0);
  const made = new global.Date(2026, 10, 22);
  assert.ok(made instanceof global.Date);
  assert.strictEqual(made.getFullYear(), 2026);
  assert.strictEqual(typeof global.Date(), "string");
  assert.strictEqual(global.Date.UTC(2000, 0), 946684800000);
  class Mine extends global.Date {}
  assert.ok(new Mine() instanceof Mine);
});

test("engines that leave their version in the page are named", () => {
  const page = new Page();
  assert.deepStrictEqual(page.program.adapters().slice(1), []);
  Object.assign(page.global, { __THREE__: "185", PIXI: { VERSION: "8.22.0" } });
  const engines = page.program.adapters().slice(1).map(({ library, version }) => [library, version]);
  assert.deepStrictEqual(engines, [["PixiJS", "8.22.0"], ["three.js", "185"]]);
});
