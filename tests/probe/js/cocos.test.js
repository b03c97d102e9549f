"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Page, D } = require("./page.js");

/** As much of a Cocos scheduler as its timers need, in the fields that the engine has. */
class Scheduler {
  constructor() {
    this._timeScale = 1;
    this._arrayForTimers = [];
  }

  schedule(target, callback, interval, { repeat = Infinity, delay = 0, paused = false } = {}) {
    let entry = this._arrayForTimers.find((each) => each.target === target);
    if (!entry) this._arrayForTimers.push((entry = { target, timers: [], paused }));
    entry.timers.push(new Timer(this, target, callback, interval, repeat, delay));
  }

  update(delta) {
    for (const { timers, paused } of [...this._arrayForTimers]) {
      if (!paused) for (const timer of [...timers]) timer.update(delta * this._timeScale);
    }
  }

  remove(timer) {
    for (const entry of this._arrayForTimers) entry.timers = entry.timers.filter((each) => each !== timer);
  }
}

class Timer {
  constructor(scheduler, target, callback, interval, repeat, delay) {
    Object.assign(this, {
      scheduler, _target: target, _callback: callback, _interval: interval, _repeat: repeat, _delay: delay,
      _useDelay: delay > 0, _runForever: repeat === Infinity, _elapsed: -1, _timesExecuted: 0,
    });
  }

  update(delta) {
    if (this._elapsed === -1) {
      this._elapsed = 0;
      return;
    }
    this._elapsed += delta;
    if (this._elapsed < (this._useDelay ? this._delay : this._interval)) return;
    this.trigger();
    this._elapsed = 0;
    this._useDelay = false;
    if (++this._timesExecuted > this._repeat) this.cancel();
  }

  trigger() {
    this._callback.call(this._target);
  }

  cancel() {
    this.scheduler.remove(this);
  }
}

class Level {
  constructor() {
    this.spawned = 0;
  }

  spawn() {
    this.spawned++;
  }
}

/** A page with the engine, whose main loop runs its scheduler in every frame. */
function playing() {
  const page = new Page();
  const scheduler = new Scheduler();
  page.global.cc = { ENGINE_VERSION: "3.8.4", director: { getScheduler: () => scheduler } };
  let last = page.global.performance.now();
  const loop = (now) => {
    scheduler.update((now - last) / 1000);
    last = now;
    page.global.requestAnimationFrame(loop);
  };
  page.global.requestAnimationFrame(loop);
  const level = new Level();
  page.attach();
  return { page, scheduler, level };
}

const names = (page) => page.seen("timer_added").map((event) => page.texts[event[3]]);

test("timers of the engine's scheduler are seen with their names and fire", () => {
  const { page, scheduler, level } = playing();
  scheduler.schedule(level, level.spawn, 0.5);
  scheduler.schedule(level, function () {}, 0);
  page.passAttached(4000);
  assert.deepStrictEqual(names(page), ["Level.spawn"]);
  // The engine is met within a second.
  const fired = page.seen("timer_fired").length;
  assert.ok(fired >= 5 && level.spawned - fired <= 2, `${fired} of ${level.spawned}`);
  const [engine] = page.program.adapters().slice(1);
  assert.strictEqual(engine.library, "Cocos");
});

test("they follow the clock of the page", () => {
  const { page, scheduler, level } = playing();
  scheduler.schedule(level, level.spawn, 0.5);
  page.passAttached(2000);
  const before = level.spawned;
  page.ask("Clock.pause", { clock: 1 });
  page.passAttached(3000);
  assert.strictEqual(level.spawned, before);
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  page.ask("Clock.resume", { clock: 1 });
  page.passAttached(4400);
  // 1.1 s of its own time.
  assert.ok([2, 3].includes(level.spawned - before), `${level.spawned - before}`);
});

test("a timer that is due once, paused or gone is told", () => {
  const { page, scheduler, level } = playing();
  page.passAttached(1200);
  scheduler.schedule(level, level.spawn, 0.2, { repeat: 0 });
  page.passAttached(500);
  assert.strictEqual(page.seen("timer_fired").length, 1);
  assert.strictEqual(page.program.timers.size, 0);
  scheduler.schedule(level, level.spawn, 5);
  page.passAttached(100);
  scheduler._arrayForTimers[0].paused = true;
  page.passAttached(100);
  const [, , never] = page.seen("timer_armed").map((event) => event[2]);
  assert.ok(never > 9e18);
  scheduler._arrayForTimers.length = 0;
  page.passAttached(100);
  assert.strictEqual(page.seen("timer_cleared").length, 1);
});

test("the inspector clears one", () => {
  const { page, scheduler, level } = playing();
  scheduler.schedule(level, level.spawn, 0.5);
  page.passAttached(1200);
  const [record] = page.program.timers;
  const before = level.spawned;
  assert.deepStrictEqual(page.ask("Timer.clear", { timer: record.id }).result, {});
  page.passAttached(2000);
  assert.strictEqual(level.spawned, before);
});
