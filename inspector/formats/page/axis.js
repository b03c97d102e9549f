// The time axis: how it is moved, the bars of frames on it, and texts beside them.

const TEXT_MS = 120, RULER = 24;
const LIGHT_ON_PAPER = "paper";

/** Frames, of which the longest within any stretch is found quickly. */
class Frames {
  constructor({ index, at: ends, ns, own, class: classes }) {
    Object.assign(this, { index, ends, ns, own, classes });
    this.longest = [this.longestOf(64, (place) => place)];
    this.longest.push(this.longestOf(64, (place) => this.longest[0][place], this.longest[0].length));
  }

  longestOf(size, placeOf, count = this.ns.length) {
    const found = new Int32Array(Math.ceil(count / size));
    for (let block = 0; block < found.length; block++) {
      let worst = placeOf(block * size);
      for (let next = block * size + 1; next < Math.min((block + 1) * size, count); next++) if (this.ns[placeOf(next)] > this.ns[worst]) worst = placeOf(next);
      found[block] = worst;
    }
    return found;
  }

  /** The place of the longest frame from one place up to, not including, another. */
  longestWithin(first, end) {
    let worst = first;
    for (let place = first; place < end;) {
      let level = -1, size = 1;
      while (level + 1 < 2 && place % (size * 64) === 0 && place + size * 64 <= end) { level++; size *= 64; }
      const next = level < 0 ? place : this.longest[level][place / size];
      if (this.ns[next] > this.ns[worst]) worst = next;
      place += size;
    }
    return worst;
  }

  /** The next or previous frame over budget beside an instant, -1 for none. */
  over(ns, by) {
    let place = by > 0 ? placeAt(this.ends, ns) + 1 : lower(this.ends, ns) - 1;
    while (place >= 0 && place < this.ends.length && this.classes[place] !== 1 && this.classes[place] !== 2) place += by;
    return place < this.ends.length ? place : -1;
  }

  /** Numbers of the frames that end within a stretch, as texts. */
  numbers(low, high) {
    const first = lower(this.ends, low), last = lower(this.ends, high + 1), sorted = this.ns.slice(first, last).sort();
    let over = 0;
    for (let place = first; place < last; place++) over += this.classes[place] === 1 || this.classes[place] === 2;
    // Nearest rank: the frame time that so many per cent do not exceed.
    const rank = (share) => (sorted.length ? duration(sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1]) : "–");
    return { p50: rank(0.5), p99: rank(0.99), longest: rank(1), over: `${over.toLocaleString("en")} of ${sorted.length.toLocaleString("en")}` };
  }

  text(place) {
    const share = this.own[place] ? `\n${duration(this.own[place])} of it the inspector’s own share` : "";
    return `frame ${this.index[place].toLocaleString("en")}, ${duration(this.ns[place])}, at ${instant(this.ends[place])}${share}`;
  }
}

/** What has a time axis. Whatever extends it has `draw`, `refreshTexts`, `click`, `readoutText` and `perform`. */
class View {
  constructor(about, canvases) {
    this.about = about;
    this.canvases = canvases;
    this.element("title").textContent = about.title;
    this.low = about.start;
    this.high = Math.max(about.end, about.start + 1e6);
    this.playhead = about.end;
  }

  element(name) { return document.getElementById(name); }

  // ----------------------------------------------------------------------- places

  x(ns) { return ((ns - this.low) / (this.high - this.low)) * this.width; }
  ns(x) { return this.low + (x / this.width) * (this.high - this.low); }

  goTo(ns, isShown = true) {
    this.playhead = Math.min(Math.max(ns, this.about.start), this.about.end);
    if (isShown && (this.playhead < this.low || this.playhead > this.high)) {
      const half = (this.high - this.low) / 2;
      this.setView(this.playhead - half, this.playhead + half);
    }
    this.refresh();
  }

  setView(low, high) {
    const { start, end } = this.about, whole = Math.max(end - start, 1e6) * 1.05;
    const span = Math.min(Math.max(high - low, 1e4), whole);
    const middle = Math.min(Math.max((low + high) / 2, start), end);
    this.low = middle - span / 2;
    this.high = middle + span / 2;
    this.refresh();
  }

  zoom(factor, around) {
    const share = (around - this.low) / (this.high - this.low), span = (this.high - this.low) * factor;
    this.setView(around - share * span, around + (1 - share) * span);
  }

  /** Zooms and moves; returns whether that was asked. */
  move(action) {
    const span = this.high - this.low, middle = this.playhead >= this.low && this.playhead <= this.high ? this.playhead : (this.low + this.high) / 2;
    switch (action) {
      case "in": this.zoom(0.5, middle); break;
      case "out": this.zoom(2, middle); break;
      case "fit": this.setView(this.about.start, this.about.end); break;
      case "start": this.goTo(this.about.start); break;
      case "end": this.goTo(this.about.end); break;
      case "left": this.setView(this.low - span / 2, this.high - span / 2); break;
      case "right": this.setView(this.low + span / 2, this.high + span / 2); break;
      default: return false;
    }
    return true;
  }

  // -------------------------------------------------------------------- refreshing

  refresh() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.draw();
      this.waiting = false;
      // Text is read at a slower pace than pictures are seen.
      if (this.reading === undefined) this.reading = setTimeout(() => this.read(), TEXT_MS);
    });
  }

  read() {
    const view = `${this.low} ${this.high}`, isAtRest = view === this.viewRead;
    this.viewRead = view;
    this.refreshTexts();
    // What takes all frames in view waits until the view rests.
    this.reading = isAtRest ? undefined : setTimeout(() => this.read(), TEXT_MS);
    if (isAtRest) this.refreshNumbers();
  }

  /** Says something to whoever does not see it. */
  announce(text) { if (this.element("status").textContent !== text) this.element("status").textContent = text; }

  takeColors() {
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue(`--${name}`).trim();
  }

  context(canvas) {
    const box = canvas.parentElement.getBoundingClientRect(), scale = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
    if (canvas.width !== width * scale || canvas.height !== height * scale) {
      canvas.width = width * scale;
      canvas.height = height * scale;
    }
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = this.color("bg");
    context.fillRect(0, 0, width, height);
    context.font = `11px Inter, system-ui, sans-serif`;
    this.width = width;
    return [context, width, height];
  }

  step() {
    const least = ((this.high - this.low) / this.width) * 90;
    let step = 10 ** Math.floor(Math.log10(least));
    while (step < least) step *= step * 2 >= least ? 2 : step * 5 >= least ? 5 : 10;
    return step;
  }

  drawGrid(context, top, height, hasTexts = false) {
    const step = this.step();
    context.fillStyle = this.color("muted");
    context.strokeStyle = this.color("line");
    for (let value = Math.ceil(this.low / step) * step; value <= this.high; value += step) {
      const x = Math.round(this.x(value)) + 0.5;
      context.beginPath(); context.moveTo(x, top); context.lineTo(x, height); context.stroke();
      if (hasTexts && value >= 0) context.fillText(tickText(Math.round(value), step), x + 3, 14);
    }
  }

  /** Draws frames between two heights, as high as three budgets. */
  drawBars(context, frames, top, bottom, fills, budget = this.about.budget) {
    const colors = fills.map(this.color);
    const topNs = budget.ns * 3, room = bottom - top - 8, { ends, ns, own, classes } = frames;
    const y = (value) => bottom - (Math.min(value, topNs) / topNs) * room;
    context.strokeStyle = this.color("edge");
    context.fillStyle = this.color("muted");
    for (const times of [1, 2]) {
      const level = Math.round(y(budget.ns * times)) + 0.5;
      context.setLineDash(times === 1 ? [] : [3, 3]);
      context.beginPath(); context.moveTo(0, level); context.lineTo(this.width, level); context.stroke();
      context.fillText(duration(Math.round(budget.ns * times)), 4, level - 3);
    }
    context.setLineDash([]);
    const last = Math.min(lower(ends, this.high) + 1, ends.length);
    let edge = 0;
    for (let place = lower(ends, this.low); place < last;) {
      const left = Math.max(this.x(ends[place] - ns[place]), edge);
      let next = place + 1;
      if (next < last && this.x(ends[next]) < left + 1) next = Math.max(Math.min(lower(ends, this.ns(left + 1)), last), next);
      const worst = frames.longestWithin(place, next), right = Math.min(this.x(ends[next - 1]), this.width);
      const wide = Math.max(right - left - (right - left > 3 ? 1 : 0), 1), level = y(ns[worst]), counted = y(ns[worst] - own[worst]);
      context.fillStyle = colors[classes[worst]];
      context.fillRect(left, counted, wide, bottom - counted);
      if (counted - level >= 1) { context.strokeStyle = this.color("edge"); context.strokeRect(left + 0.5, level + 0.5, Math.max(wide - 1, 0.5), counted - level); }
      if (ns[worst] > topNs && wide > 2) { context.fillStyle = this.color("text"); context.fillText(duration(ns[worst]), left + wide + 2, top + 16); }
      edge = right;
      place = next;
    }
    if (!ends.length) { context.fillStyle = this.color("muted"); context.fillText("No frames.", 8, top + 24); }
  }

  drawPlayhead(context, height, isTop) {
    const x = Math.round(this.x(this.playhead)) + 0.5;
    context.strokeStyle = context.fillStyle = this.color("blue");
    context.lineWidth = 2;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height); context.stroke();
    context.lineWidth = 1;
    if (isTop) { context.beginPath(); context.moveTo(x - 6, 0); context.lineTo(x + 6, 0); context.lineTo(x, 9); context.fill(); }
  }

  frameNear(frames, x) {
    const first = lower(frames.ends, this.ns(x - 8)), last = Math.min(lower(frames.ends, this.ns(x + 8)) + 1, frames.ends.length);
    return first < last ? frames.longestWithin(first, last) : -1;
  }

  // ------------------------------------------------------------------------ texts

  text(tag, text, className = "") {
    const found = document.createElement(tag);
    found.textContent = text;
    if (className) found.className = className;
    return found;
  }

  link(text, action) {
    const found = this.text("button", text, "link");
    found.addEventListener("click", action);
    return found;
  }

  table(rows) {
    const table = document.createElement("table");
    for (const [name, value] of rows) {
      const row = table.insertRow(), first = document.createElement("th");
      first.scope = "row";
      first.append(typeof name === "string" ? document.createTextNode(name) : name);
      row.append(first);
      row.insertCell().textContent = value;
    }
    return table;
  }

  // ------------------------------------------------------------------------ input

  listen() {
    const wheel = (event) => {
      event.preventDefault();
      const amount = event.deltaY || event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = (amount / this.width) * (this.high - this.low);
        this.setView(this.low + by, this.high + by);
      } else this.zoom(Math.exp(amount * (event.ctrlKey ? 0.006 : 0.002)), this.ns(event.offsetX));
    };
    for (const canvas of this.canvases) {
      canvas.addEventListener("wheel", wheel, { passive: false });
      canvas.addEventListener("pointerdown", (event) => this.press(event, canvas));
      canvas.addEventListener("pointermove", (event) => this.hover(event, canvas));
      canvas.addEventListener("pointerleave", () => { this.element("readout").hidden = true; });
      canvas.addEventListener("dblclick", () => this.setView(this.about.start, this.about.end));
    }
    new ResizeObserver(() => this.refresh()).observe(this.canvases[0].parentElement);
    addEventListener("resize", () => this.refresh()); // also a height, which leaves that element as it is
    document.addEventListener("keydown", (event) => this.key(event));
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => this.perform(button.dataset.do));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  /** On paper everything is light, and as wide as a sheet. */
  print(isOnPaper) {
    document.documentElement.classList.toggle(LIGHT_ON_PAPER, isOnPaper);
    this.isOnPaper = isOnPaper;
    this.draw();
    this.refreshTexts();
    this.refreshNumbers();
  }

  press(event, canvas) {
    const isRuler = canvas === this.canvases[0] && event.offsetY < RULER;
    const start = { x: event.clientX, low: this.low, high: this.high, moved: false };
    canvas.setPointerCapture(event.pointerId);
    if (isRuler || event.altKey) this.goTo(this.ns(event.offsetX), false);
    const move = (next) => {
      const by = next.clientX - start.x;
      start.moved ||= Math.abs(by) > 3;
      if (isRuler) this.goTo(this.ns(next.offsetX), false);
      else if (start.moved) {
        const span = (by / this.width) * (start.high - start.low);
        this.setView(start.low - span, start.high - span);
      }
    };
    const release = (next) => {
      canvas.removeEventListener("pointermove", move);
      canvas.removeEventListener("pointerup", release);
      if (!start.moved && !isRuler && !event.altKey) this.click(next, canvas);
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", release);
  }

  hover(event, canvas) {
    const readout = this.element("readout"), text = event.buttons ? "" : this.readoutText(event, canvas);
    readout.hidden = !text;
    readout.textContent = text;
    const right = event.clientX + 12 + readout.offsetWidth > innerWidth;
    readout.style.left = `${right ? event.clientX - 12 - readout.offsetWidth : event.clientX + 12}px`;
    readout.style.top = `${event.clientY + 14}px`;
  }

  key(event) {
    if (event.target.matches("input")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.metaKey || event.altKey || (event.ctrlKey && !"fF".includes(event.key))) return;
    const action = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: "up", ArrowDown: "down", "+": "in", "=": "in", "-": "out", f: event.ctrlKey ? "find" : "fit", "/": "find", j: "next over", k: "previous over", c: "fold", Home: "start", End: "end", Escape: "clear", PageUp: "left", PageDown: "right" }[event.key];
    if (action === undefined || (event.target.matches("[role=tab]") && action in { before: 0, after: 0 })) return;
    if (this.perform(action) !== false) event.preventDefault();
  }
}
