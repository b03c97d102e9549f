"use strict";
const assert = require("node:assert");
const { test } = require("node:test");

const { Page, D } = require("./page.js");

/** As much of an animation of GSAP as its callbacks need, by the methods that the library has. */
class Animation {
  constructor(parent, { duration = 0, delay = 0, repeat = 0, repeatDelay = 0, target = null, ...vars }) {
    Object.assign(this, { parent, vars, _duration: duration, _repeat: repeat, _repeatDelay: repeatDelay });
    Object.assign(this, { target, start: parent.time + delay, done: 0, isPaused: false, isKilled: false, cycles: 0 });
    parent.children.push(this);
  }

  targets() {
    return [this.target || this.vars.onComplete];
  }

  duration() {
    return this._duration;
  }

  repeat() {
    return this._repeat;
  }

  repeatDelay() {
    return this._repeatDelay;
  }

  paused() {
    return this.isPaused;
  }

  timeScale() {
    return 1;
  }

  totalDuration() {
    return this._duration * (this._repeat + 1) + this._repeatDelay * this._repeat;
  }

  totalTime() {
    return this.done;
  }

  totalProgress() {
    return this.parent.time >= this.start && this.done >= this.totalDuration() ? 1 : 0;
  }

  globalTime(seconds) {
    return this.start + seconds;
  }

  kill() {
    this.parent.children = this.parent.children.filter((each) => each !== this);
  }

  render(delta) {
    if (this.isPaused) {
      this.start += delta;
      return;
    }
    if (this.parent.time < this.start) return;
    this.done = Math.min(this.totalDuration(), this.parent.time - this.start);
    const cycle = this._duration + this._repeatDelay;
    for (; cycle > 0 && this.cycles < this._repeat && (this.cycles + 1) * cycle <= this.done; this.cycles++) {
      if (this.vars.onRepeat) this.vars.onRepeat();
    }
    if (this.totalProgress() < 1) return;
    this.kill();
    if (this.vars.onComplete) this.vars.onComplete();
  }
}

class Root {
  constructor() {
    Object.assign(this, { children: [], time: 0 });
  }

  paused() {
    return false;
  }

  timeScale() {
    return 1;
  }

  getChildren() {
    return this.children;
  }

  render(seconds) {
    const delta = seconds - this.time;
    this.time = seconds;
    for (const child of [...this.children]) child.render(delta);
  }
}

/** A page with the library, which has been looked at. */
function animated() {
  const page = new Page();
  const root = new Root();
  const gsap = { version: "3.15.0", globalTimeline: root, ticker: { time: 0 } };
  gsap.delayedCall = (delay, onComplete) => new Animation(root, { delay, onComplete });
  const { Date: PageDate } = page.global;
  page.global.gsap = gsap;
  const began = PageDate.now();
  const tick = () => {
    gsap.ticker.time = (page.global.Date.now() - began) / 1000;
    root.render(gsap.ticker.time);
    page.global.requestAnimationFrame(tick);
  };
  page.global.requestAnimationFrame(tick);
  page.attach();
  page.passAttached(1200);
  return { page, root, gsap };
}

const names = (page) => page.seen("timer_added").map((event) => page.texts[event[3]]);

test("delayed calls, tweens and repetitions fire under the names of their callbacks and targets", () => {
  const { page, root } = animated();
  const calls = [];
  new Animation(root, { delay: 2, onComplete: function explode() { calls.push("explode"); } });
  new Animation(root, { duration: 1, target: { name: "box" }, onComplete: () => calls.push("done") });
  new Animation(root, { duration: 0.5, repeat: 3, repeatDelay: 0.1, id: "blink", onRepeat: () => calls.push("again") });
  new Animation(root, { duration: 1, target: { name: "silent" } });
  page.passAttached(4000);
  assert.deepStrictEqual(names(page).sort(), ["blink.onRepeat", "box.onComplete", "explode"]);
  assert.deepStrictEqual(calls, ["again", "done", "again", "again", "explode"]);
  const lates = page.seen("timer_fired").map((event) => event[2] / 1e6);
  assert.strictEqual(lates.length, 6); // the end of what repeats is its last
  assert.ok(lates.every((late) => late < 34), `${lates}`);
  assert.strictEqual(page.program.timers.size, 0);
  assert.strictEqual(page.program.adapters()[1].message, "");
});

test("a pause moves the end away, a kill clears it, and the inspector clears it too", () => {
  const { page, root } = animated();
  const animation = new Animation(root, { delay: 2, onComplete: () => {} });
  page.passAttached(100);
  animation.isPaused = true;
  page.passAttached(100);
  assert.ok(page.seen("timer_armed").slice(-1)[0][2] > 9e18);
  animation.isPaused = false;
  page.passAttached(100);
  assert.ok(page.seen("timer_armed").slice(-1)[0][2] < 9e18);
  animation.kill();
  page.passAttached(100);
  assert.strictEqual(page.seen("timer_cleared").length, 1);
  new Animation(root, { delay: 2, onComplete: () => assert.fail("it was cleared") });
  page.passAttached(100);
  const [record] = page.program.timers;
  assert.deepStrictEqual(page.ask("Timer.clear", { timer: record.id }).result, {});
  page.passAttached(3000);
});

test("a delayed call has its own delay and the line that set it", () => {
  const { page, gsap } = animated();
  const now = page.program.clock.local(page.program.now());
  gsap.delayedCall(2, () => {});
  page.passAttached(100);
  assert.deepStrictEqual(page.seen("timer_armed").map((event) => (event[2] - now) / 1e6), [2000]);
  const [[, , site]] = page.seen("timer_origin");
  assert.match(page.texts[site], /gsap\.test\.js:\d+/);
});

test("they follow the clock of the page", () => {
  const { page, root } = animated();
  let calls = 0;
  new Animation(root, { delay: 1, onComplete: () => calls++ });
  page.passAttached(100);
  page.ask("Clock.rate", { clock: 1, rate_n: D / 4 });
  page.passAttached(3000);
  assert.strictEqual(calls, 0);
  page.passAttached(1000);
  assert.strictEqual(calls, 1);
});

test("a library that is not as it was known is left alone, and said not to be seen", () => {
  const { page, root } = animated();
  let calls = 0;
  new Animation(root, { delay: 1, onComplete: () => calls++ });
  page.passAttached(100);
  root.getChildren = undefined;
  page.passAttached(3000);
  assert.strictEqual(calls, 1);
  assert.strictEqual(page.program.timers.size, 0);
  assert.match(page.program.adapters()[1].message, /tweens and delayed calls are not seen/);
});
