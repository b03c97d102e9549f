// What is told of long turns of Node, with a stand-in for V8's profiler.
"use strict";

const { test } = require("node:test");
const assert = require("node:assert");
const { internals } = require("../../../inspector/probe/js/probe.js");

const MS = 1e6;
const SAMPLED = 84, SAW_WAIT = 2;

/** Without work until 100 ms ago, then five looks, 20 ms apart: numbers of nodes, and milliseconds. */
const LOOKS = [[4, 100], [3, 20], [3, 20], [3, 20], [3, 20], [3, 20]];

/** A program whose loop works as told, and a profiler that says it was in `crunch`. */
function played({ looks = LOOKS, costMs = 0, hasTimes = false } = {}) {
  let spentMs = 0;
  const state = { run: 0, now: 0, active: 0, stack: "crunch", running: new Set(), told: [], texts: [""] };
  const program = {
    cost: 0,
    now: () => state.now,
    host: { utilization: () => ({ active: state.active }), performanceNow: () => (spentMs += costMs / 2), now: () => state.now },
    sender: {
      latest: 0,
      text(text) {
        if (!state.texts.includes(text)) state.texts.push(text);
        return state.texts.indexOf(text);
      },
      event: (...event) => state.told.push(event),
    },
  };
  class Session {
    connect() {}
    disconnect() {}
    post() {}
    on(_name, call) {
      state.finish = call;
    }
  }
  const profiler = {
    profile(title) {
      state.running.add(title);
    },
    profileEnd(title) {
      state.running.delete(title);
      const frame = (functionName, url, lineNumber) => ({ functionName, url, lineNumber });
      const nodes = [
        { id: 1, callFrame: frame("(root)", "", -1), children: [2, 4] },
        { id: 2, callFrame: frame("work", "file:///srv/game.js", 9), children: [3] },
        { id: 3, callFrame: frame(state.stack, "file:///srv/game.js", 2), positionTicks: [{ line: 5, ticks: 4 }] },
        { id: 4, callFrame: frame("(idle)", "", -1) },
      ];
      const end = state.now / 1e3;
      const timeDeltas = looks.map(([, ms]) => ms * 1e3);
      const startTime = end - timeDeltas.reduce((sum, each) => sum + each, 0);
      const profile = { nodes, startTime, endTime: end, samples: looks.map(([node]) => node), timeDeltas };
      state.finish({ params: { title, profile } });
    },
  };
  const load = (name) => {
    if (name === "inspector") return { Session, console: profiler };
    if (name === "url") return require("node:url");
    const readSync = (_file, text) => text.set(Buffer.from(`${state.run} 0 7`)) ?? `${state.run} 0 7`.length;
    return { openSync: () => (hasTimes ? 3 : -1), readSync };
  };
  const turns = new internals.NodeTurns(program, load);
  const work = (ms, atMs, runMs = ms) => {
    state.active += ms * (hasTimes ? MS : 1);
    state.run += runMs * MS;
    state.now = atMs * MS;
    turns.look(state.now);
  };
  const waited = () => state.told.filter(([, kind]) => kind === SAMPLED).map((event) => (event[4] & SAW_WAIT) !== 0);
  return { state, turns, work, waited };
}

test("a long turn is told with its function, and what came before it is not", () => {
  const { state, work } = played();
  work(100, 1000);
  const samples = state.told.filter(([, kind]) => kind === SAMPLED);
  const covered = samples.reduce((sum, [, , , covers]) => sum + covers, 0);
  assert.ok(state.texts.includes("/srv/game.js:5 in crunch"));
  assert.ok(state.texts.includes("/srv/game.js:10 in work"));
  // When it began between two looks is not known.
  assert.strictEqual(covered, 80 * MS);
});

test("short turns are not told", () => {
  const { state, work } = played();
  for (let ms = 16; ms < 1000; ms += 16) work(2, ms);
  assert.deepStrictEqual(state.told, []);
});

test("the profiler ends without long turns, and begins again with the next", () => {
  const { state, work } = played();
  work(2, 29_000);
  assert.strictEqual(state.running.size, 1);
  work(2, 31_000);
  assert.strictEqual(state.running.size, 0);
  work(2, 32_000);
  assert.strictEqual(state.running.size, 0);
  work(50, 33_000);
  assert.strictEqual(state.running.size, 1);
  assert.deepStrictEqual(state.told, []);
});

test("a turn has computed if its thread has run, although Node counts time without work as active", () => {
  const { work, waited } = played({ hasTimes: true });
  work(190, 1000, 100);
  assert.deepStrictEqual(new Set(waited()), new Set([false]));
});

test("a turn has waited if its thread has hardly run", () => {
  const { work, waited } = played({ hasTimes: true });
  work(100, 1000, 2);
  assert.deepStrictEqual(new Set(waited()), new Set([true]));
});

test("a turn that is told after a later one has the times of its own", () => {
  const crunch = LOOKS.slice(1);
  // The first of the profile is told with a cost for which the next is not read.
  const looks = [[4, 100], ...crunch, [4, 300], ...crunch];
  const { state, work, waited } = played({ hasTimes: true, costMs: 10, looks });
  work(100, 1000);
  state.told.length = 0;
  work(100, 1200);
  assert.deepStrictEqual(state.told, []);
  work(100, 1600, 2);
  assert.deepStrictEqual(waited(), [false, false, false, false, true, true, true, true]);
});
