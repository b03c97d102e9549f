// Draws a session and answers keys and pointer. It says nothing of its own: sentences come from the
// inspector, with the places of durations and instants left open.

const TEXT_MS = 120;

class Page {
  constructor(about) {
    this.about = about;
    this.queue = about.queue ? new Queue(about.queue) : null;
    this.lateAt = new Map(about.late.map((each) => [`${each.lane} ${each.at}`, each]));
    this.folded = new Set();
    this.opened = new Set();
    this.families();
    this.selected = null;
    this.firing = -1;
    this.tab = "why";
    this.filter = "";
    this.low = about.start;
    this.high = Math.max(about.end, about.start + 1e6);
    this.playhead = about.end;
    this.element = (name) => document.getElementById(name);
    this.top = this.element("top");
    this.lanes = this.element("lanes");
    this.scroller = this.element("scroller");
    this.show();
    this.listen();
    this.takeLink();
    this.refresh();
  }

  // ------------------------------------------------------------------- structure

  show() {
    const { about } = this;
    this.element("title").textContent = about.title;
    this.element("from").textContent = about.from.join(" · ");
    this.element("status").textContent = "";
    this.layOutRows();
  }

  /** Timers that were made in one place share a lane, which opens to those of each name. */
  families() {
    const { lanes } = this.about, found = new Map();
    lanes.forEach((lane, place) => {
      if (!lane.family) return;
      const key = `${lane.clock} ${lane.family} ${lane.site}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(place);
    });
    for (const members of found.values()) {
      const { clock, family, site } = lanes[members[0]];
      const firings = new Float64Array(members.reduce((sum, place) => sum + lanes[place].at.length, 0)), late = new Map();
      let start = 0;
      for (const place of members) {
        firings.set(lanes[place].at, start);
        start += lanes[place].at.length;
        lanes[place].late.forEach((each, index) => { if (each) late.set(lanes[place].at[index], each); });
      }
      firings.sort();
      members.forEach((place) => { lanes[place].within = lanes.length; });
      lanes.push({
        clock, site, name: family, kind: "timers", family: "", members: new Set(members),
        at: firings, late: Float64Array.from(firings, (each) => late.get(each) || 0),
      });
    }
  }

  /** Whether a row of the queue is of a lane. */
  isOf(row, place) {
    const { members } = this.about.lanes[place], lane = this.queue.rows.lane[row];
    return lane === place || Boolean(members && members.has(lane));
  }

  layOutRows() {
    const { about } = this, words = this.filter.toLowerCase();
    const byClock = about.clocks.map(() => []);
    about.lanes.forEach((lane, place) => byClock[lane.clock].push(place));
    this.rows = [];
    const isHidden = (clock) => {
      for (let above = about.clocks[clock].parent; above >= 0; above = about.clocks[above].parent)
        if (this.folded.has(above)) return true;
      return false;
    };
    about.clocks.forEach((clock, place) => {
      if (!words && isHidden(place)) return;
      const has = (lane) => about.lanes[lane].name.toLowerCase().includes(words);
      const own = byClock[place].filter((lane) => (words ? !about.lanes[lane].members && has(lane) : about.lanes[lane].within === undefined));
      if (words && !own.length && !clock.name.toLowerCase().includes(words)) return;
      this.rows.push({ kind: "clock", place, depth: clock.depth, height: 32 });
      if (words || !this.folded.has(place))
        for (const lane of own) {
          this.rows.push({ kind: "lane", place: lane, depth: clock.depth + 1, height: 24 });
          if (this.opened.has(lane))
            for (const member of about.lanes[lane].members) this.rows.push({ kind: "lane", place: member, depth: clock.depth + 2, height: 24 });
        }
    });
    let y = 0;
    for (const row of this.rows) { row.y = y; y += row.height; }
    this.height = y;
    const list = this.element("rows");
    list.replaceChildren(...this.rows.map((row) => this.rowElement(row)));
    if (!this.rows.length) {
      const none = document.createElement("li");
      none.textContent = words ? `No lane has “${this.filter}” in its name.` : "No clocks and timers.";
      list.append(none);
    }
  }

  rowElement(row) {
    const item = document.createElement("li"), name = document.createElement("span"), note = document.createElement("span");
    const value = row.kind === "clock" ? this.about.clocks[row.place] : this.about.lanes[row.place];
    item.className = row.kind;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(row.depth + 1));
    item.tabIndex = -1;
    item.style.paddingLeft = `${9 + row.depth * 14}px`;
    name.textContent = value.name;
    item.title = value.name;
    note.className = "muted";
    if (row.kind === "clock") item.setAttribute("aria-expanded", String(!this.folded.has(row.place)));
    else if (value.members) item.setAttribute("aria-expanded", String(this.opened.has(row.place)));
    item.append(name, note);
    row.note = note;
    row.item = item;
    item.addEventListener("click", () => this.select(row.kind, row.place));
    item.addEventListener("dblclick", () => this.fold(row.kind, row.place));
    return item;
  }

  fold(kind, place) {
    const places = kind === "clock" ? this.folded : this.opened;
    if (kind !== "clock" && !this.about.lanes[place].members) return;
    if (!places.delete(place)) places.add(place);
    this.layOutRows();
    this.refresh();
  }

  // ----------------------------------------------------------------------- state

  /** Clock state at an instant: place of its step, local time, state and words; null before it exists. */
  clockAt(clock, ns) {
    const place = placeAt(clock.at, ns);
    if (place < 0) return null;
    const next = Math.min(place + 1, clock.at.length - 1);
    const span = clock.at[next] - clock.at[place];
    const share = span > 0 ? (ns - clock.at[place]) / span : 0;
    const local = clock.local[place] + Math.floor(share * (clock.local[next] - clock.local[place]));
    return { place, local, state: clock.state[place], word: this.about.texts[clock.word[place]], rate: clock.rate[place] / 1e6 };
  }

  /** What is known of a late firing. */
  lateOf(lane, place, ns) {
    const places = lane.members ? [...lane.members] : [place];
    return places.map((each) => this.lateAt.get(`${each} ${ns}`)).find(Boolean);
  }

  /** The sentence on a row of the queue at an instant. */
  sentence(row, ns) {
    const { due, since, word } = this.queue.rows, { texts, words } = this.about;
    if (due[row] < 0) return texts[word[row]].replace("{ago}", duration(Math.round(ns - since[row])));
    const left = due[row] - ns, isTimer = word[row] < 0;
    if (left <= 0) return isTimer ? words.due : words.dueCall;
    return (isTimer ? words.fires : texts[word[row]]).replace("{left}", duration(Math.round(left))).replace("{at}", at(due[row]));
  }

  /** What stands in the last column for a row of the queue. */
  waits(row, ns) {
    const { due, wait } = this.queue.rows;
    if (due[row] < 0) return this.about.texts[wait[row]];
    return due[row] > ns ? duration(Math.round(due[row] - ns)) : "now";
  }

  select(kind, place, firing = -1) {
    this.selected = kind === null ? null : { kind, place };
    this.firing = firing;
    this.tab = "why";
    const row = this.rows.find((each) => each.kind === kind && each.place === place);
    if (row) {
      const box = this.scroller;
      if (row.y < box.scrollTop) box.scrollTop = row.y;
      if (row.y + row.height > box.scrollTop + box.clientHeight) box.scrollTop = row.y + row.height - box.clientHeight;
    }
    this.refresh();
  }

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

  showScene(scene) {
    this.scene = scene;
    this.element("scene").hidden = false;
    this.refresh();
  }

  drawScene() {
    const figure = this.element("scene"), canvas = figure.querySelector("canvas");
    const ns = this.playhead, stopped = new Map();
    const isStopped = (clock) => {
      if (!stopped.has(clock)) stopped.set(clock, clock >= 0 && (this.clockAt(this.about.clocks[clock], ns) || { state: RUNS }).state !== RUNS);
      return stopped.get(clock);
    };
    const from = this.scene.draw(canvas, ns, isStopped), text = Number.isNaN(from) ? "No picture was kept so early." : `Scene at ${at(from)}`;
    canvas.setAttribute("aria-label", text);
    figure.querySelector("figcaption").textContent = text;
  }

  // -------------------------------------------------------------------- refreshing

  refresh() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.draw();
      this.waiting = false;
      // Text is read at a slower pace than pictures are seen.
      if (this.reading === undefined) this.reading = setTimeout(() => { this.reading = undefined; this.refreshTexts(); }, TEXT_MS);
    });
  }

  draw() {
    const style = getComputedStyle(document.documentElement);
    this.color = (name) => style.getPropertyValue(`--${name}`).trim();
    this.drawTop();
    this.drawLanes();
    if (this.scene) this.drawScene();
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

  x(ns) { return ((ns - this.low) / (this.high - this.low)) * this.width; }
  ns(x) { return this.low + (x / this.width) * (this.high - this.low); }

  drawTop() {
    const [context, width, height] = this.context(this.top), { about } = this, ruler = 24;
    const bottom = height - 1, room = bottom - ruler - 8, topNs = about.budget.ns * 3;
    const y = (ns) => bottom - (Math.min(ns, topNs) / topNs) * room;
    this.drawRuler(context, ruler, height);
    context.strokeStyle = this.color("edge");
    context.fillStyle = this.color("muted");
    for (const times of [1, 2]) {
      const level = Math.round(y(about.budget.ns * times)) + 0.5;
      context.setLineDash(times === 1 ? [] : [3, 3]);
      context.beginPath(); context.moveTo(0, level); context.lineTo(width, level); context.stroke();
      context.fillText(duration(Math.round(about.budget.ns * times)), 4, level - 3);
    }
    context.setLineDash([]);
    const { at: ends, ns, own, class: classes } = about.frames;
    const colors = [this.color("bar"), this.color("orange"), this.color("red"), this.color("bar")];
    const first = lower(ends, this.low), last = Math.min(lower(ends, this.high) + 1, ends.length);
    for (let place = first; place < last;) {
      const left = Math.max(this.x(ends[place] - ns[place]), 0);
      let worst = place, right = this.x(ends[place]), next = place + 1;
      while (next < last && (right = this.x(ends[next])) < left + 1) { if (ns[next] > ns[worst]) worst = next; next++; }
      right = Math.min(this.x(ends[next - 1]), width);
      const w = Math.max(right - left - (right - left > 3 ? 1 : 0), 1), level = y(ns[worst]), counted = y(ns[worst] - own[worst]);
      context.fillStyle = colors[classes[worst]];
      context.fillRect(left, counted, w, bottom - counted);
      if (counted - level >= 1) { context.strokeStyle = this.color("edge"); context.strokeRect(left + 0.5, level + 0.5, Math.max(w - 1, 0.5), counted - level); }
      if (ns[worst] > topNs && w > 2) { context.fillStyle = this.color("text"); context.fillText(duration(ns[worst]), left + w + 2, ruler + 16); }
      place = next;
    }
    if (!ends.length) { context.fillStyle = this.color("muted"); context.fillText("No frames.", 8, ruler + 24); }
    this.drawMarks(context, ruler);
    this.drawPlayhead(context, height, true);
  }

  step() {
    const least = ((this.high - this.low) / this.width) * 90;
    let step = 10 ** Math.floor(Math.log10(least));
    while (step < least) step *= step * 2 >= least ? 2 : step * 5 >= least ? 5 : 10;
    return step;
  }

  drawRuler(context, ruler, height) {
    const step = this.step();
    context.fillStyle = this.color("muted");
    context.strokeStyle = this.color("line");
    for (let value = Math.ceil(this.low / step) * step; value <= this.high; value += step) {
      const x = Math.round(this.x(value)) + 0.5;
      context.beginPath(); context.moveTo(x, ruler - 6); context.lineTo(x, height); context.stroke();
      context.fillText(value < 0 ? "" : instant(Math.round(value)), x + 3, 14);
    }
  }

  drawMarks(context, ruler) {
    context.fillStyle = this.color("tick");
    let right = -Infinity;
    for (const mark of this.about.marks) {
      const x = this.x(mark.at);
      if (x < 0 || x > this.width || x < right + 2) continue;
      context.fillRect(x, ruler, 1.5, 8);
      context.fillRect(x, ruler, 6, 4);
      right = x;
    }
  }

  drawPlayhead(context, height, isTop) {
    const x = Math.round(this.x(this.playhead)) + 0.5;
    context.strokeStyle = context.fillStyle = this.color("blue");
    context.lineWidth = 2;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height); context.stroke();
    context.lineWidth = 1;
    if (isTop) { context.beginPath(); context.moveTo(x - 6, 0); context.lineTo(x + 6, 0); context.lineTo(x, 9); context.fill(); }
  }

  drawLanes() {
    const box = this.element("lanes-box");
    box.style.height = `${this.scroller.clientHeight}px`;
    const [context, width, height] = this.context(this.lanes), top = this.scroller.scrollTop, step = this.step();
    context.strokeStyle = this.color("line");
    for (let value = Math.ceil(this.low / step) * step; value <= this.high; value += step) {
      const x = Math.round(this.x(value)) + 0.5;
      context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height); context.stroke();
    }
    for (const row of this.rows) {
      const y = row.y - top;
      if (y + row.height < 0 || y > height) continue;
      const isSelected = this.selected && this.selected.kind === row.kind && this.selected.place === row.place;
      if (isSelected) { context.fillStyle = this.color("bluebg"); context.fillRect(0, y, width, row.height); }
      if (row.kind === "clock") this.drawClock(context, this.about.clocks[row.place], y + 4, row.height - 8);
      else if (this.about.lanes[row.place].word) this.drawStates(context, this.about.lanes[row.place], y, row.height);
      else this.drawFirings(context, this.about.lanes[row.place], row, y);
    }
    if (this.playhead < this.about.end) {
      const x = this.x(this.playhead);
      context.globalAlpha = 0.5;
      context.fillStyle = this.color("bg");
      context.fillRect(x, 0, width - x, height);
      context.globalAlpha = 1;
    }
    this.drawPlayhead(context, height, false);
  }

  drawClock(context, clock, y, height) {
    const last = clock.at.length - 1;
    for (let place = Math.max(placeAt(clock.at, this.low), 0); place < last && clock.at[place] <= this.high; place++) {
      const state = clock.state[place];
      if (state === REMOVED) continue;
      const left = Math.max(this.x(clock.at[place]), 0), right = Math.min(this.x(clock.at[place + 1]), this.width);
      if (right - left < 0.25) continue;
      const isRunning = state === RUNS, share = isRunning ? Math.min(Math.max(clock.rate[place] / 1e6, 0.15), 1) : 1;
      const level = y + height * (1 - share);
      context.fillStyle = this.color("clock");
      context.globalAlpha = isRunning ? 1 : 0.35;
      context.fillRect(left, level, right - left, y + height - level);
      context.globalAlpha = 1;
      context.fillStyle = this.color("edge");
      context.fillRect(left, level, right - left, 1);
      if (!isRunning) this.hatch(context, left, y, right - left, height, state === STOPPED_ABOVE ? 0.45 : 1);
      const word = this.about.texts[clock.word[place]];
      if (state !== STOPPED_ABOVE && right - left > context.measureText(word).width + 12) {
        if (!isRunning) { context.fillStyle = this.color("bg"); context.fillRect(left + 2, y + 3, context.measureText(word).width + 8, height - 6); }
        context.fillStyle = this.color("text");
        context.fillText(word, left + 6, y + height / 2 + 4);
      }
    }
    for (const block of clock.blocks) {
      const left = this.x(block.at), right = this.x(block.end);
      if (right < 0 || left > this.width) continue;
      context.fillStyle = this.color("red");
      context.fillRect(left, y, Math.max(right - left, 2), height);
      const text = `blocked by ${block.name}`;
      if (right - left > context.measureText(text).width + 8) { context.fillStyle = this.color("bg"); context.fillText(text, left + 4, y + height / 2 + 4); }
    }
  }

  hatch(context, x, y, width, height, alpha) {
    context.save();
    context.beginPath(); context.rect(x, y, width, height); context.clip();
    context.globalAlpha = alpha;
    context.strokeStyle = this.color("hatch");
    context.beginPath();
    for (let start = Math.floor(x / 6) * 6 - height; start < x + width; start += 6) { context.moveTo(start, y + height); context.lineTo(start + height, y); }
    context.stroke();
    context.restore();
  }

  drawStates(context, lane, y, height) {
    for (let place = Math.max(placeAt(lane.at, this.low), 0); place < lane.at.length && lane.at[place] <= this.high; place++) {
      const left = Math.max(this.x(lane.at[place]), 0), end = place + 1 < lane.at.length ? lane.at[place + 1] : this.about.end;
      const right = Math.min(this.x(end), this.width), word = this.about.texts[lane.word[place]];
      context.strokeStyle = this.color("edge");
      context.strokeRect(left + 0.5, y + 4.5, Math.max(right - left - 1, 0.5), height - 9);
      context.fillStyle = this.color("text");
      if (right - left > context.measureText(word).width + 8) context.fillText(word, left + 4, y + height / 2 + 4);
    }
  }

  drawFirings(context, lane, row, y) {
    const { at: firings, late } = lane, top = y + 6, height = row.height - 12;
    const last = lower(firings, this.high), limit = this.about.lateFrom;
    context.fillStyle = this.color("tick");
    const lateOnes = [];
    for (let place = lower(firings, this.low); place < last;) {
      const x = this.x(firings[place]);
      context.fillRect(x - 1, top, 2, height);
      if (late[place] > limit) lateOnes.push(place);
      // Not more than one a pixel: on to the first firing of the next.
      const next = place + 1;
      place = next < last && this.x(firings[next]) < x + 1 ? Math.max(lower(firings, this.ns(x + 1)), next) : next;
    }
    context.fillStyle = this.color("orange");
    for (const place of lateOnes) {
      const x = this.x(firings[place]), from = this.x(firings[place] - late[place]);
      context.fillRect(from, y + row.height / 2 - 1, Math.max(x - from, 3), 2);
      context.fillRect(x - 1, top, 2, height);
    }
    if (this.firing >= 0 && this.selected && this.selected.kind === "lane" && this.selected.place === row.place) {
      context.strokeStyle = this.color("blue");
      context.strokeRect(this.x(firings[this.firing]) - 4, y + 3, 8, row.height - 6);
    }
  }

  // --------------------------------------------------------------------------- texts

  refreshTexts() {
    const ns = this.playhead;
    this.element("time").value = instant(Math.floor(ns));
    for (const row of this.rows) {
      const isSelected = Boolean(this.selected && this.selected.kind === row.kind && this.selected.place === row.place);
      row.item.setAttribute("aria-selected", String(isSelected));
      row.item.tabIndex = isSelected || (!this.selected && row === this.rows[0]) ? 0 : -1;
      if (row.kind !== "clock") continue;
      const state = this.clockAt(this.about.clocks[row.place], ns);
      const text = state === null || state.state === REMOVED ? "" : instant(state.local);
      if (row.note.textContent === text) continue;
      row.note.textContent = text;
      row.item.setAttribute("aria-label", `${this.about.clocks[row.place].name}, clock, ${state === null ? "not yet" : state.word}, local time ${text}`);
    }
    this.refreshFrames();
    this.refreshSide();
    const select = this.selected ? `&select=${encodeURIComponent(this.nameOf(this.selected))}` : "";
    clearTimeout(this.linking);
    this.linking = setTimeout(() => history.replaceState(null, "", `#t=${(ns / NS).toFixed(3)}${select}`), 250);
  }

  nameOf({ kind, place }) { return kind === "clock" ? this.about.clocks[place].name : this.about.lanes[place].name; }

  refreshFrames() {
    const { at: ends, ns, class: classes } = this.about.frames;
    const first = lower(ends, this.low), last = lower(ends, this.high + 1), sorted = ns.slice(first, last).sort();
    let over = 0;
    for (let place = first; place < last; place++) over += classes[place] === 1 || classes[place] === 2;
    // Nearest rank: the frame time that so many per cent do not exceed.
    const rank = (share) => (sorted.length ? duration(sorted[Math.max(Math.ceil(share * sorted.length), 1) - 1]) : "–");
    const set = (name, text) => { this.element(name).textContent = text; };
    set("p50", rank(0.5)); set("p99", rank(0.99)); set("longest", rank(1)); set("over", `${over} of ${sorted.length}`);
  }

  refreshSide() {
    const queue = this.queue ? this.queue.at(this.playhead) : [], { about } = this;
    const counts = { why: "", queue: queue.length, findings: about.findings.length, late: about.late.length, marks: about.marks.length };
    for (const button of document.querySelectorAll("[role=tab]")) {
      const name = button.dataset.tab;
      button.setAttribute("aria-selected", String(name === this.tab));
      button.textContent = `${button.dataset.name} ${counts[name]}`.trim();
    }
    const side = this.element("side");
    const parts = { why: () => this.why(queue), queue: () => this.queueTable(queue, 200), findings: () => this.entries(about.findings), late: () => this.entries(about.late), marks: () => this.entries(about.marks) };
    side.replaceChildren(...parts[this.tab]().filter(Boolean));
  }

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

  why(queue) {
    const ns = this.playhead, { about } = this;
    if (!this.selected) return [this.text("p", "Nothing is selected. Click a lane or a bar."), this.text("h2", "Next to fire"), ...this.queueTable(queue, 9)];
    const { kind, place } = this.selected;
    return kind === "clock" ? this.whyClock(about.clocks[place], queue, place) : this.whyLane(about.lanes[place], queue, place);
  }

  table(rows) {
    const table = document.createElement("table");
    for (const [name, value] of rows) {
      const row = table.insertRow(), first = row.insertCell();
      first.append(typeof name === "string" ? document.createTextNode(name) : name);
      row.insertCell().textContent = value;
    }
    return table;
  }

  whyClock(clock, queue, place) {
    const ns = this.playhead, state = this.clockAt(clock, ns), { lane } = this.queue ? this.queue.rows : { lane: [] };
    const own = queue.filter((row) => lane[row] >= 0 && this.about.lanes[lane[row]].clock === place);
    const rows = state ? [["Local", instant(state.local)], ["Session", instant(Math.floor(ns))], ["Effective rate", String(state.rate)], ["Pending", own.length.toLocaleString("en")]] : [];
    const blocks = clock.blocks.filter((each) => each.at <= ns && each.end >= ns);
    return [
      this.text("p", `Clock · ${clock.path.join(" / ")}`, "muted"), this.text("h1", clock.name),
      this.text("p", state === null ? "It does not exist yet." : `${state.word[0].toUpperCase()}${state.word.slice(1)}.`),
      ...blocks.flatMap((each) => [this.text("p", `blocked by ${each.name}. ${each.text}`), this.text("p", each.stack, "muted")]),
      this.text("h2", "Times"), this.table(rows), this.text("h2", "Next to fire"), ...this.queueTable(own, 9),
    ];
  }

  whyLane(lane, queue, place) {
    const ns = this.playhead, { about } = this, clock = about.clocks[lane.clock];
    const own = queue.filter((row) => this.isOf(row, place));
    const fired = lane.word ? 0 : placeAt(lane.at, ns) + 1;
    const parts = [this.text("p", `${lane.kind} · ${clock.path.join(" / ")}`, "muted"), this.text("h1", lane.name)];
    if (this.firing >= 0 && !lane.word) {
      const when = lane.at[this.firing], late = lane.late[this.firing], told = this.lateOf(lane, place, when);
      parts.push(this.text("p", `Fired at ${at(when)}${late > about.lateFrom ? `, ${duration(late)} late` : ""}.`));
      if (told) parts.push(this.text("p", told.text), told.stack && this.text("p", told.stack, "muted"));
    }
    if (own.length) parts.push(this.text("p", this.sentence(own[0], ns)));
    else if (lane.word) parts.push(this.text("p", about.texts[lane.word[Math.max(placeAt(lane.at, ns), 0)]] || ""));
    else parts.push(this.text("p", fired ? "Nothing of it is pending at this instant." : "It has not been set yet."));
    const rows = lane.word ? [] : [["Fired so far", fired.toLocaleString("en")], ["Pending", own.length.toLocaleString("en")]];
    if (fired) rows.push([this.link("Last fired", () => this.goTo(lane.at[fired - 1])), at(lane.at[fired - 1])]);
    if (lane.site) rows.push(["Set in", lane.site]);
    parts.push(this.text("h2", "Numbers"), this.table(rows));
    return parts;
  }

  queueTable(queue, most) {
    const { lane, name } = this.queue ? this.queue.rows : {};
    if (!queue.length) return [this.text("p", "No timer is pending at this instant.", "muted")];
    const rows = queue.slice(0, most).map((row) => {
      const place = lane[row], text = this.waits(row, this.playhead);
      if (place < 0) return [this.about.texts[name[row]], text];
      return [this.link(this.about.lanes[place].name, () => this.select("lane", place)), text];
    });
    const more = queue.length - rows.length;
    return [this.table(rows), more > 0 && this.text("p", `${more.toLocaleString("en")} more`, "muted")];
  }

  entries(entries) {
    if (!entries.length) return [this.text("p", "None.", "muted")];
    const list = document.createElement("ul");
    list.className = "entries";
    for (const each of entries) {
      const item = this.text("li", "", "entry");
      item.append(this.link(at(each.at), () => {
        if (each.lane >= 0) this.select("lane", each.lane, placeAt(this.about.lanes[each.lane].at, each.at));
        else if (each.clock >= 0) this.select("clock", each.clock);
        this.goTo(each.at);
      }), document.createTextNode(` ${each.kind && each.lane === undefined ? `${each.kind}: ` : ""}${each.text}`));
      if (each.stack) item.append(this.text("p", each.stack, "muted"));
      list.append(item);
    }
    return [list];
  }

  // --------------------------------------------------------------------------- input

  listen() {
    const wheel = (event) => {
      event.preventDefault();
      const amount = event.deltaY || event.deltaX;
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const by = (amount / this.width) * (this.high - this.low);
        this.setView(this.low + by, this.high + by);
      } else this.zoom(Math.exp(amount * (event.ctrlKey ? 0.006 : 0.002)), this.ns(event.offsetX));
    };
    for (const canvas of [this.top, this.lanes]) {
      canvas.addEventListener("wheel", wheel, { passive: false });
      canvas.addEventListener("pointerdown", (event) => this.press(event, canvas));
      canvas.addEventListener("pointermove", (event) => this.hover(event, canvas));
      canvas.addEventListener("pointerleave", () => { this.element("readout").hidden = true; });
      canvas.addEventListener("dblclick", () => this.setView(this.about.start, this.about.end));
    }
    this.scroller.addEventListener("scroll", () => this.refresh());
    new ResizeObserver(() => this.refresh()).observe(this.element("arrangement"));
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => { this.takeLink(); this.refresh(); });
    this.element("filter").addEventListener("input", (event) => { this.filter = event.target.value; this.layOutRows(); this.refresh(); });
    this.element("time").addEventListener("change", (event) => {
      const ns = typedInstant(event.target.value);
      if (Number.isNaN(ns)) this.refresh(); else this.goTo(ns);
    });
    for (const button of document.querySelectorAll("[data-tab]")) button.addEventListener("click", () => { this.tab = button.dataset.tab; this.refresh(); });
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => this.perform(button.dataset.do));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
  }

  press(event, canvas) {
    const isRuler = canvas === this.top && event.offsetY < 24;
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

  rowAt(y) {
    const from = y + this.scroller.scrollTop;
    return this.rows.find((row) => from >= row.y && from < row.y + row.height);
  }

  firingNear(lane, x) {
    if (lane.word) return -1;
    const ns = this.ns(x), next = lower(lane.at, ns);
    const near = [next - 1, next].filter((place) => place >= 0 && place < lane.at.length && Math.abs(this.x(lane.at[place]) - x) <= 8);
    near.sort((one, other) => Math.abs(lane.at[one] - ns) - Math.abs(lane.at[other] - ns));
    return near.length ? near[0] : -1;
  }

  frameNear(x) {
    const { at: ends, ns } = this.about.frames;
    let best = -1;
    const last = Math.min(lower(ends, this.ns(x + 8)) + 1, ends.length);
    for (let place = lower(ends, this.ns(x - 8)); place < last; place++) if (best < 0 || ns[place] > ns[best]) best = place;
    return best;
  }

  click(event, canvas) {
    if (canvas === this.top) {
      const frame = this.frameNear(event.offsetX);
      if (frame >= 0) this.goTo(this.about.frames.at[frame]);
      return;
    }
    const row = this.rowAt(event.offsetY);
    if (!row) { this.select(null); return; }
    this.select(row.kind, row.place, row.kind === "lane" ? this.firingNear(this.about.lanes[row.place], event.offsetX) : -1);
  }

  hover(event, canvas) {
    const readout = this.element("readout"), text = event.buttons ? "" : this.readoutText(event, canvas);
    readout.hidden = !text;
    readout.textContent = text;
    const right = event.clientX + 12 + readout.offsetWidth > innerWidth;
    readout.style.left = `${right ? event.clientX - 12 - readout.offsetWidth : event.clientX + 12}px`;
    readout.style.top = `${event.clientY + 14}px`;
  }

  readoutText(event, canvas) {
    const { about } = this, ns = this.ns(event.offsetX);
    if (canvas === this.top) {
      const mark = about.marks.find((each) => Math.abs(this.x(each.at) - event.offsetX) < 5 && event.offsetY < 36);
      if (mark) return `${at(mark.at)} ${mark.kind}: ${mark.text}`;
      const frame = this.frameNear(event.offsetX);
      if (frame < 0 || event.offsetY < 24) return at(Math.floor(ns));
      const { index, at: ends, ns: lengths, own } = about.frames;
      const share = own[frame] ? `\n${duration(own[frame])} of it the inspector’s own share` : "";
      return `frame ${index[frame].toLocaleString("en")}, ${duration(lengths[frame])}, at ${at(ends[frame])}${share}`;
    }
    const row = this.rowAt(event.offsetY);
    if (!row) return at(Math.floor(ns));
    if (row.kind === "clock") {
      const clock = about.clocks[row.place], state = this.clockAt(clock, ns);
      const block = clock.blocks.find((each) => each.at <= ns && each.end >= ns);
      if (block) return `blocked by ${block.name} ${duration(block.end - block.at)}\n${block.text}`;
      return state === null ? at(Math.floor(ns)) : `${clock.name}, ${state.word}\n${instant(state.local)} at ${at(Math.floor(ns))}`;
    }
    const lane = about.lanes[row.place], place = this.firingNear(lane, event.offsetX);
    if (place < 0) return `${lane.name}\n${at(Math.floor(ns))}`;
    return `${lane.name}\nfired at ${at(lane.at[place])}${lane.late[place] > about.lateFrom ? `, ${duration(lane.late[place])} late` : ""}`;
  }

  key(event) {
    if (event.target.matches("input")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.metaKey || event.altKey || (event.ctrlKey && !"fF".includes(event.key))) return;
    const action = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: "up", ArrowDown: "down", "+": "in", "=": "in", "-": "out", f: event.ctrlKey ? "find" : "fit", "/": "find", j: "next over", k: "previous over", c: "fold", Home: "start", End: "end", Escape: "clear", PageUp: "left", PageDown: "right" }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    this.perform(action);
  }

  perform(action) {
    const span = this.high - this.low, middle = this.playhead >= this.low && this.playhead <= this.high ? this.playhead : (this.low + this.high) / 2;
    switch (action) {
      case "in": this.zoom(0.5, middle); break;
      case "out": this.zoom(2, middle); break;
      case "fit": this.setView(this.about.start, this.about.end); break;
      case "find": this.element("filter").focus(); break;
      case "start": this.goTo(this.about.start); break;
      case "end": this.goTo(this.about.end); break;
      case "left": this.setView(this.low - span / 2, this.high - span / 2); break;
      case "right": this.setView(this.low + span / 2, this.high + span / 2); break;
      case "clear": this.select(null); break;
      case "up": this.selectNext(-1); break;
      case "down": this.selectNext(1); break;
      case "before": this.goAlong(-1); break;
      case "after": this.goAlong(1); break;
      case "next over": this.goToOver(1); break;
      case "previous over": this.goToOver(-1); break;
      case "fold": if (this.selected) this.fold(this.selected.kind, this.selected.place); break;
    }
  }

  selectNext(by) {
    const { kind, place } = this.selected || {}, now = this.rows.findIndex((row) => row.kind === kind && row.place === place);
    const row = this.rows[now < 0 ? 0 : Math.min(Math.max(now + by, 0), this.rows.length - 1)];
    if (!row) return;
    this.select(row.kind, row.place);
    row.item.focus({ preventScroll: true });
  }

  /** To the firing before or after of the selected lane, else the frame. */
  goAlong(by) {
    const lane = this.selected && this.selected.kind === "lane" ? this.about.lanes[this.selected.place] : null;
    const instants = lane ? lane.at : this.about.frames.at;
    const place = by > 0 ? placeAt(instants, this.playhead) + 1 : lower(instants, this.playhead) - 1;
    if (place < 0 || place >= instants.length) return;
    if (lane && !lane.word) this.firing = place;
    this.goTo(instants[place]);
  }

  goToOver(by) {
    const { at: ends, class: classes } = this.about.frames;
    let place = by > 0 ? placeAt(ends, this.playhead) + 1 : lower(ends, this.playhead) - 1;
    while (place >= 0 && place < ends.length && classes[place] !== 1 && classes[place] !== 2) place += by;
    if (place >= 0 && place < ends.length) this.goTo(ends[place]);
  }

  takeLink() {
    const asked = new URLSearchParams(location.hash.slice(1)), seconds = Number.parseFloat(asked.get("t"));
    if (Number.isFinite(seconds)) this.playhead = Math.min(Math.max(seconds * NS, this.about.start), this.about.end);
    const name = asked.get("select"), lane = this.about.lanes.findIndex((each) => each.name === name);
    const clock = this.about.clocks.findIndex((each) => each.name === name);
    if (lane >= 0) this.selected = { kind: "lane", place: lane };
    else if (clock >= 0) this.selected = { kind: "clock", place: clock };
  }
}

unpacked(document.getElementById("data").textContent.trim()).then(
  (about) => {
    globalThis.page = new Page(resolved(about));
    const pictures = document.getElementById("pictures");
    if (pictures) requestAnimationFrame(() => setTimeout(() => unpacked(pictures.textContent.trim()).then((found) => page.showScene(new Scene(found))), 0));
  },
  (error) => { document.getElementById("status").textContent = `This file is damaged: ${error.message}`; },
);
