// The vectors hold for every implementation of the protocol; see tests/probe/test_wire.py.
"use strict";
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { test } = require("node:test");

const { FrameReader, textOf, checked, checkEvents } =
  require("../../../inspector/probe/js/probe.js").internals;

const VECTORS = JSON.parse(readFileSync(join(__dirname, "..", "vectors.json"), "utf8"));
const EVENTS = 69;

function bytesOf(vector) {
  const parts = vector.bytes.map(([hex, times]) => Buffer.from(hex.repeat(times), "hex"));
  return Buffer.concat(parts);
}

function eventsOf(payload) {
  checkEvents(payload);
  const numbers = [];
  for (let i = 0; i < payload.length; i += 8) numbers.push(Number(payload.readBigInt64LE(i)));
  return Array.from({ length: numbers.length / 5 }, (_, i) => numbers.slice(5 * i, 5 * i + 5));
}

function received(data, size) {
  const reader = new FrameReader();
  const found = [];
  for (let i = 0; i < data.length; i += size) {
    reader.feed(data.subarray(i, i + size), (type, payload) => {
      found.push(type === EVENTS ? eventsOf(payload) : checked(textOf(payload)));
    });
  }
  return found;
}

for (const vector of VECTORS) {
  test(vector.name, () => {
    const data = bytesOf(vector);
    for (const size of vector.error || data.length > 1000 ? [1 << 20] : [1 << 20, 1, 7]) {
      if (vector.error) {
        assert.throws(() => received(data, size), (error) => error.code === vector.error);
      } else {
        assert.deepStrictEqual(received(data, size), vector.messages);
      }
    }
  });
}

test("an announced length takes no memory", () => {
  const reader = new FrameReader();
  assert.throws(() => reader.feed(Buffer.from("ffffffff4a", "hex"), () => {}));
  assert.ok(reader.length < 100);
});
