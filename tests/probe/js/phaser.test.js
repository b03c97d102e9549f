"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Page, D } = require("./page.js");

/** As much of Phaser's clocks as their timer events need, in the fields that the engine has. */
class Clock {
  constructor(scene) {
    Object.assign(this, { scene, timeScale: 1, paused: false, _active: [], _pendingInsertion: [] });
  }

  add(delay, callback, { repeatCount = 0, callbackScope = null } = {}) {
    const timer = {
      delay, callback, callbackScope, repeatCount, elapsed: 0, timeScale: 1, paused: false, hasDispatched: false,
      remove() {
        Object.assign(timer, { elapsed: delay, repeatCount: 0, hasDispatched: true });
      },
    };
    if (!callbackScope) timer.callbackScope = timer;
    this._pendingInsertion.push(timer);
    return timer;
  }

  /** As Phaser's; the timer has what its configuration has. */
  addEvent({ delay, callback, repeat = 0 }) {
    return this.add(delay, callback, { repeatCount: repeat });
  }

  delayedCall(delay, callback) {
    return this.addEvent({ delay, callback });
  }

  update(delta) {
    this._active = [...this._active, ...this._pendingInsertion.splice(0)]
      .filter((timer) => timer.repeatCount > 0 || !timer.hasDispatched);
    for (const timer of this._active) {
      if (timer.paused || this.paused) continue;
      timer.elapsed += delta * this.timeScale * timer.timeScale;
      if (timer.elapsed < timer.delay) continue;
      timer.hasDispatched = true;
      timer.callback();
      if (timer.repeatCount <= 0) continue;
      timer.repeatCount--;
      timer.elapsed -= timer.delay;
      timer.hasDispatched = false;
    }
  }
}

class SceneManager {
  constructor(...scenes) {
    this.scenes = scenes;
  }

  update(_time, delta) {
    for (const scene of this.scenes) if (scene.sys.isActive()) scene.time.update(delta);
  }
}

class Level {
  constructor(GameClock) {
    Object.assign(this, { time: new GameClock(this), spawned: 0, runs: true });
    this.sys = { settings: { key: "level" }, isActive: () => this.runs };
  }

  spawn() {
    this.spawned++;
  }
}

/** The functions that the probe replaces belong to one page. */
function ownClock() {
  return class extends Clock {
    addEvent(...args) {
      return super.addEvent(...args);
    }

    delayedCall(...args) {
      return super.delayedCall(...args);
    }
  };
}

/** A page with the engine, one scene, and a game loop. */
function playing() {
  const page = new Page();
  const GameClock = ownClock();
  const level = new Level(GameClock);
  class Manager extends SceneManager {}
  Manager.prototype.update = SceneManager.prototype.update;
  page.global.Phaser = { VERSION: "3.90.0", Scenes: { SceneManager: Manager }, Time: { Clock: GameClock } };
  const manager = new Manager(level);
  level.sys.game = { scene: manager };
  let last = page.global.performance.now();
  const loop = (now) => {
    manager.update(now, now - last);
    last = now;
    page.global.requestAnimationFrame(loop);
  };
  page.global.requestAnimationFrame(loop);
  page.attach();
  return { page, level };
}

const names = (page) => page.seen("timer_added").map((event) => page.texts[event[3]]);

test("timer events of scenes are seen with their names and fire", () => {
  const { page, level } = playing();
  level.time.add(500, () => level.spawn(), { repeatCount: 1e9, callbackScope: level });
  level.time.add(60000, function explode() {});
  page.passAttached(4000);
  assert.deepStrictEqual(names(page).sort(), ["Level.callback", "level.explode"]);
  const fired = page.seen("timer_fired").length;
  assert.ok(fired >= 5 && level.spawned - fired <= 2, `${fired} of ${level.spawned}`);
  assert.strictEqual(page.program.adapters()[1].message, "");
});

test("they follow the clock of the page", () => {
  const { page, level } = playing();
  level.time.add(500, () => level.spawn(), { repeatCount: 1e9 });
  page.passAttached(2000);
  const before = level.spawned;
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  page.passAttached(4400);
  assert.ok([2, 3].includes(level.spawned - before), `${level.spawned - before}`);
});

test("a timer event that is due once, stands or is taken out is told", () => {
  const { page, level } = playing();
  page.passAttached(1200);
  level.time.add(200, () => {});
  page.passAttached(500);
  assert.strictEqual(page.seen("timer_fired").length, 1);
  assert.strictEqual(page.program.timers.size, 0);
  const timer = level.time.add(5000, () => {});
  page.passAttached(100);
  level.runs = false;
  page.passAttached(100);
  const [never] = page.seen("timer_armed").map((event) => event[2]).slice(-1);
  assert.ok(never > 9e18);
  level.runs = true;
  timer.remove();
  page.passAttached(100);
  assert.strictEqual(page.seen("timer_cleared").length, 1);
});

test("the inspector clears one", () => {
  const { page, level } = playing();
  level.time.add(500, () => level.spawn(), { repeatCount: 1e9 });
  page.passAttached(1200);
  const [record] = page.program.timers;
  const before = level.spawned;
  assert.deepStrictEqual(page.ask("Timer.clear", { timer: record.id }).result, {});
  page.passAttached(2000);
  assert.strictEqual(level.spawned, before);
});

test("a timer event that is set while the page is seen has its own delay and place", () => {
  const { page, level } = playing();
  page.passAttached(1200);
  level.time.delayedCall(3000, function bossArrives() {});
  level.time.addEvent({ delay: 500, callback: function spawn() {}, repeat: 1e9 });
  const now = page.program.clock.local(page.program.now());
  page.passAttached(100);
  const waits = page.seen("timer_armed").map((event) => (event[2] - now) / 1e6);
  assert.deepStrictEqual(waits, [3000, 500]);
  const sites = page.seen("timer_origin").map((event) => page.texts[event[2]]);
  for (const site of sites) assert.match(site, /phaser\.test\.js:\d+/);
});
