// Unpacks the columns that were packed with a page, and writes numbers as the inspector does.
"use strict";

const GONE = -1, EVERY_FRAME = -3;
const RUNS = 0, STOPPED_ABOVE = 3, REMOVED = 4;
const NS = 1e9;

// ------------------------------------------------------------------------ texts

function decimals(size) { return Math.min(Math.max(0, 2 - Math.floor(Math.log10(size))), 2); }

/** A duration in nanoseconds, with three digits that matter. */
function duration(ns) {
  const size = Math.abs(ns);
  if (size < 1e3) return `${ns} ns`;
  if (size < 1e6 - 500) return `${(ns / 1e3).toFixed(decimals(size / 1e3))} µs`;
  if (size < 1e9 - 5e5) return `${(ns / 1e6).toFixed(decimals(size / 1e6))} ms`;
  if (size < 120 * NS) return `${(ns / NS).toFixed(decimals(size / NS))} s`;
  return instant(ns);
}

/** What a clock shows, in nanoseconds, as mm:ss.mmm or h:mm:ss.mmm, rounded down. */
function localTime(ns) {
  const units = Math.abs(Math.floor(ns / 1e6));
  const two = (value) => String(value).padStart(2, "0");
  const seconds = Math.floor(units / 1000), hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${String(units % 1000).padStart(3, "0")}`;
  return (ns < 0 ? "-" : "") + (hours ? `${hours}:${rest}` : rest);
}

/** An instant beside a ruler, with as many digits as its steps need. */
function tickText(ns, step) {
  const more = step >= 1e6 ? 0 : step >= 1e3 ? 1 : 2, three = (value) => String(value % 1000).padStart(3, "0");
  return [instant(ns), three(Math.floor(ns / 1e3)), three(ns)].slice(0, more + 1).join(" ");
}

/** An instant of a session as m:ss.mmm or h:mm:ss.mmm. */
function instant(ns) { return localTime(ns).replace(/^(-?)0/, "$1"); }

/** The instant that someone typed, in nanoseconds; NaN if it is none. */
function typedInstant(text) {
  const found = /^(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?)$/.exec(text.trim());
  return found ? ((+(found[1] || 0) * 60 + +(found[2] || 0)) * 60 + +found[3]) * NS : NaN;
}

// ------------------------------------------------------------------------- data

/** Unpacks a column: differences, zigzag, seven bits a byte. */
function column(bytes, start, count) {
  const found = new Float64Array(count);
  let place = start, value = 0;
  for (let index = 0; index < count; index++) {
    let number = 0, factor = 1, byte;
    do {
      byte = bytes[place++];
      number += (byte & 127) * factor;
      factor *= 128;
    } while (byte & 128);
    value += number % 2 ? -(number + 1) / 2 : number / 2;
    found[index] = value;
  }
  return found;
}

async function unpacked(text) {
  const binary = atob(text);
  const packed = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const about = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let start = 4 + length;
  about.columns = about.columns.map(([count, size]) => {
    const found = column(bytes, start, count);
    start += size;
    return found;
  });
  return about;
}

/** Puts the columns of a session in the places that name them. */
function resolved(about) {
  const resolve = (value, names) => { for (const name of names) if (name in value) value[name] = about.columns[value[name]]; };
  const frames = ["index", "at", "ns", "own", "class"];
  for (const run of about.runs || [about]) resolve(run.frames, frames);
  (about.clocks || []).forEach((each) => resolve(each, ["at", "local", "state", "rate", "word"]));
  (about.lanes || []).forEach((each) => {
    resolve(each, ["at", "late", "word", "value"]);
    for (const level of each.slices || []) resolve(level, ["at", "end", "word"]);
  });
  if (about.queue) resolve(about.queue, Object.keys(about.queue));
  return about;
}

/** The first place in a sorted column whose value is not below another. */
function lower(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

/** The last place in a sorted column whose value is not above another; -1 for none. */
function placeAt(values, value) {
  const place = lower(values, value);
  return values[place] === value ? lastOf(values, place) : place - 1;
}

function lastOf(values, place) {
  while (place + 1 < values.length && values[place + 1] === values[place]) place++;
  return place;
}

/** The calls that are pending at an instant: rows of the queue by call. */
class Queue {
  constructor(rows) {
    this.rows = rows;
    this.every = 4096;
    this.kept = [];
    const active = new Map();
    for (let row = 0; row < rows.at.length; row++) {
      if (row % this.every === 0) this.kept.push([...active.values()]);
      this.apply(active, row);
    }
  }

  apply(active, row) {
    const { call, due } = this.rows;
    if (due[row] === GONE) active.delete(call[row]); else active.set(call[row], row);
  }

  at(ns) {
    const last = placeAt(this.rows.at, ns);
    if (last < 0) return [];
    const start = Math.floor(last / this.every);
    const active = new Map(this.kept[start].map((row) => [this.rows.call[row], row]));
    for (let row = start * this.every; row <= last; row++) this.apply(active, row);
    const { due, left } = this.rows;
    // What is stopped has its place as if it ran on from now; what is called in every frame is last.
    const order = (row) => (due[row] >= 0 ? due[row] : due[row] === EVERY_FRAME ? Number.MAX_VALUE : ns + left[row]);
    return [...active.values()].sort((one, other) => order(one) - order(other));
  }
}

if (typeof document === "undefined") module.exports = { duration, localTime, instant, tickText, unpacked, resolved, placeAt, Queue };
