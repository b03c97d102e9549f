"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Page, D } = require("./page.js");

/** As much of Egret as its timers need, in the fields that the engine has; `global` has the page's clock. */
function engineOf(global) {
  const egret = { Capabilities: { engineVersion: "5.4.1" }, getTimer: () => global.Date.now() - began };
  const began = global.Date.now();
  const ticker = {
    callBackList: [], thisObjectList: [],
    update() {
      const { callBackList, thisObjectList } = this;
      callBackList.slice().forEach((call, i) => call.call(thisObjectList[i], egret.getTimer()));
    },
    $startTick(call, scope) {
      this.callBackList = [...this.callBackList, call];
      this.thisObjectList = [...this.thisObjectList, scope];
    },
    $stopTick(call, scope) {
      const i = this.thisObjectList.indexOf(scope);
      this.callBackList = this.callBackList.filter((_, each) => each !== i);
      this.thisObjectList = this.thisObjectList.filter((_, each) => each !== i);
    },
  };
  egret.ticker = ticker;
  egret.Timer = class Timer {
    constructor(delay, repeatCount = 0) {
      Object.assign(this, { delay, repeatCount, currentCount: 0, $EventDispatcher: { 1: {} } });
    }

    addEventListener(type, listener, thisObject) {
      this.$EventDispatcher[1][type] = [{ listener, thisObject }];
    }

    start() {
      this.lastTimeStamp = egret.getTimer();
      ticker.$startTick(this.$update, this);
    }

    stop() {
      ticker.$stopTick(this.$update, this);
    }

    $update(now) {
      if (now - this.lastTimeStamp < this.delay) return;
      this.lastTimeStamp = now;
      this.currentCount++;
      for (const { listener, thisObject } of this.$EventDispatcher[1].timer || []) listener.call(thisObject);
      if (this.repeatCount > 0 && this.currentCount >= this.repeatCount) this.stop();
    }
  };
  const kept = new Map();
  let number = 0;
  const follow = (repeats) => (listener, scope, ms, ...args) => {
    const call = (now) => {
      if (now < entry.due) return;
      if (repeats) entry.due += ms;
      else ticker.$stopTick(call, entry);
      listener.apply(scope, args);
    };
    const entry = { due: egret.getTimer() + ms, call };
    ticker.$startTick(call, entry);
    kept.set(++number, entry);
    return number;
  };
  const clear = (key) => kept.has(key) && ticker.$stopTick(kept.get(key).call, kept.get(key));
  Object.assign(egret, { setTimeout: follow(false), setInterval: follow(true), clearTimeout: clear, clearInterval: clear });
  return egret;
}

/** A page with the engine, which has been looked at. */
function playing() {
  const page = new Page();
  const egret = engineOf(page.global);
  page.global.egret = egret;
  const loop = () => {
    egret.ticker.update();
    page.global.requestAnimationFrame(loop);
  };
  page.global.requestAnimationFrame(loop);
  page.attach();
  page.passAttached(1200);
  assert.strictEqual(page.program.adapters()[1].message, "");
  return { page, egret };
}

const names = (page) => page.seen("timer_added").map((event) => page.texts[event[3]]);

class Level {
  constructor() {
    this.spawned = 0;
  }

  spawn() {
    this.spawned++;
  }
}

test("a timer that repeats fires under the name of its listener until its last call", () => {
  const { page, egret } = playing();
  const level = new Level();
  const timer = new egret.Timer(300, 4);
  timer.addEventListener("timer", level.spawn, level);
  timer.start();
  page.passAttached(2000);
  assert.deepStrictEqual(names(page), ["Level.spawn"]);
  assert.strictEqual(level.spawned, 4);
  assert.strictEqual(page.seen("timer_fired").length, 4);
  assert.strictEqual(page.program.timers.size, 0);
});

test("a timer that is stopped is cleared, by the program and by the inspector", () => {
  const { page, egret } = playing();
  const timer = new egret.Timer(1000);
  timer.start();
  page.passAttached(100);
  timer.stop();
  page.passAttached(100);
  assert.strictEqual(page.seen("timer_cleared").length, 1);
  timer.start();
  page.passAttached(100);
  const [record] = page.program.timers;
  assert.deepStrictEqual(page.ask("Timer.clear", { timer: record.id }).result, {});
  page.passAttached(3000);
  assert.strictEqual(timer.currentCount, 0);
});

test("setTimeout and setInterval of the engine are seen, follow, and can be cleared", () => {
  const { page, egret } = playing();
  const level = new Level();
  egret.setTimeout(level.spawn, level, 500);
  const key = egret.setInterval(function beat() { level.spawn(); }, null, 1000);
  page.passAttached(2300);
  assert.deepStrictEqual(names(page).sort(), ["Level.spawn", "beat"]);
  assert.strictEqual(level.spawned, 3);
  assert.strictEqual(page.seen("timer_fired").length, 3);
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  page.passAttached(2400);
  assert.strictEqual(level.spawned, 3);
  egret.clearInterval(key);
  page.passAttached(4000);
  assert.strictEqual(level.spawned, 3);
  assert.strictEqual(page.program.timers.size, 0);
});

test("timers that are set while the page loads have their own delays and places", () => {
  const page = new Page();
  const { setTimeout, ...egret } = engineOf(page.global);
  page.global.egret = egret;
  page.attach();
  page.loaded();
  egret.setTimeout = setTimeout; // a module of the engine with a file of its own
  page.loaded();
  const now = page.program.clock.local(page.program.now());
  const timer = new egret.Timer(3000, 1);
  timer.addEventListener("timer", () => {}, null);
  timer.start();
  egret.setTimeout(() => {}, null, 60000);
  egret.setInterval(() => {}, null, 500);
  page.passAttached(0);
  const waits = page.seen("timer_armed").map((event) => (event[2] - now) / 1e6);
  assert.deepStrictEqual(waits, [3000, 60000, 500]);
  const sites = page.seen("timer_origin").map((event) => page.texts[event[2]]);
  for (const site of sites) assert.match(site, /egret\.test\.js:\d+/);
});
