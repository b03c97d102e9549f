// Draws a session and answers keys and pointer. It says nothing of its own: sentences come from the
// inspector, with the places of durations and instants left open.

/** Of more rows, only those in view say what they wait for. */
const MOST_SAID = 300;
/** A counter has no value from there on. */
const NO_VALUE = -(2 ** 50) - 1;
/** Height of slices within each other. */
const LEVEL = 16;

class Page extends View {
  constructor(about) {
    const element = (name) => document.getElementById(name);
    super(about, [element("top"), element("lanes")]);
    [this.top, this.lanes] = this.canvases;
    this.scroller = element("scroller");
    this.queue = about.queue ? new Queue(about.queue) : null;
    this.frames = new Frames(about.frames);
    this.lateAt = new Map(about.late.map((each) => [`${each.lane} ${each.at}`, each]));
    this.folded = new Set();
    this.opened = new Set();
    this.families();
    this.selected = null;
    this.firing = -1;
    this.tab = "why";
    this.filter = "";
    this.show();
    this.listen();
    this.takeLink();
    this.refresh();
  }

  // ------------------------------------------------------------------- structure

  show() {
    const { about } = this;
    this.element("frames-name").textContent = about.framesName;
    this.element("from").textContent = about.from.join(" · ");
    this.announce("");
    this.top.setAttribute("aria-valuemax", String(Math.round(about.end / 1e6)));
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
      const { clock, family, kind, site } = lanes[members[0]];
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
        clock, site, name: family, kind: `${kind}s`, family: "", members: new Set(members),
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
    this.rows = [];
    about.lanes.forEach((lane, place) => {
      if (lane.clock >= 0) byClock[lane.clock].push(place);
      else if (lane.name.toLowerCase().includes(words)) this.rows.push({ kind: "lane", place, depth: 0, height: Page.heightOf(lane) });
    });
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
          this.rows.push({ kind: "lane", place: lane, depth: clock.depth + 1, height: Page.heightOf(about.lanes[lane]) });
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

  static heightOf(lane) { return lane.slices ? 8 + lane.slices.length * LEVEL : lane.value ? 40 : 24; }

  rowElement(row) {
    const item = document.createElement("li"), name = document.createElement("span"), note = document.createElement("span");
    const value = row.kind === "clock" ? this.about.clocks[row.place] : this.about.lanes[row.place];
    item.className = row.kind;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(row.depth + 1));
    item.tabIndex = -1;
    if (row.kind !== "clock") item.style.height = `${row.height}px`;
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
    return (isTimer ? words.fires : texts[word[row]]).replace("{left}", duration(Math.round(left))).replace("{at}", instant(due[row]));
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
    const from = this.scene.draw(canvas, ns, isStopped), text = Number.isNaN(from) ? "No picture was kept so early." : `Scene at ${instant(from)}`;
    canvas.setAttribute("aria-label", text);
    figure.querySelector("figcaption").textContent = text;
  }

  // -------------------------------------------------------------------- refreshing

  draw() {
    this.takeColors();
    // Frames are as wide as lanes, beside which there may be a scroll bar.
    this.top.parentElement.style.marginRight = `${this.scroller.offsetWidth - this.scroller.clientWidth}px`;
    this.drawTop();
    this.drawLanes();
    if (this.scene) this.drawScene();
  }

  drawTop() {
    const [context, , height] = this.context(this.top);
    this.drawGrid(context, RULER - 6, height, true);
    this.drawBars(context, this.frames, RULER, height - 1, this.about.fills);
    this.drawMarks(context);
    this.drawPlayhead(context, height, true);
  }

  drawMarks(context) {
    context.fillStyle = this.color("tick");
    let right = -Infinity;
    for (const mark of this.about.marks) {
      const x = this.x(mark.at);
      if (mark.end > mark.at) context.fillRect(x, RULER, this.x(mark.end) - x, 1.5);
      if (x < 0 || x > this.width || x < right + 2) continue;
      context.fillRect(x, RULER, 1.5, 8);
      context.fillRect(x, RULER, 6, 4);
      right = x;
    }
  }

  drawLanes() {
    const box = this.element("lanes-box");
    box.style.height = `${this.isOnPaper ? this.height : this.scroller.clientHeight}px`;
    const [context, width, height] = this.context(this.lanes), top = this.isOnPaper ? 0 : this.scroller.scrollTop;
    this.drawGrid(context, 0, height);
    for (const row of this.rows) {
      const y = row.y - top;
      if (y + row.height < 0 || y > height) continue;
      const isSelected = this.selected && this.selected.kind === row.kind && this.selected.place === row.place;
      if (isSelected) { context.fillStyle = this.color("bluebg"); context.fillRect(0, y, width, row.height); }
      if (row.kind === "clock") this.drawClock(context, this.about.clocks[row.place], y + 4, row.height - 8);
      else if (this.about.lanes[row.place].slices) this.about.lanes[row.place].slices.forEach((level, depth) => this.drawSlices(context, level, y + 4 + depth * LEVEL));
      else if (this.about.lanes[row.place].value) this.drawCounter(context, this.about.lanes[row.place], y + 4, row.height - 8);
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
      const text = block.name;
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

  drawSlices(context, { at: begins, end: ends, word }, y) {
    for (let place = lower(ends, this.low); place < begins.length && begins[place] <= this.high;) {
      const left = Math.max(this.x(begins[place]), 0), right = Math.min(this.x(ends[place]), this.width), wide = Math.max(right - left - 1, 1);
      context.fillStyle = this.color(wide > 3 ? "clock" : "bar");
      context.fillRect(left, y, wide, LEVEL - 2);
      context.fillStyle = this.color("edge");
      context.fillRect(left, y, wide, 1);
      const text = this.about.texts[word[place]];
      if (wide > 24 && wide > context.measureText(text).width + 6) { context.fillStyle = this.color("text"); context.fillText(text, left + 3, y + LEVEL - 5); }
      // Not more than one a pixel: on to the first that ends beyond it.
      const next = place + 1;
      place = next < ends.length && this.x(ends[next]) < left + 1 ? Math.max(lower(ends, this.ns(left + 1)), next) : next;
    }
  }

  drawCounter(context, { at: instants, value: values }, y, height) {
    let low = 0, high = 0;
    for (const value of values) { if (value < low && value !== NO_VALUE) low = value; if (value > high) high = value; }
    const level = (value) => y + height - ((value - low) / Math.max(high - low, 1)) * height;
    context.fillStyle = this.color("bar");
    for (let place = Math.max(placeAt(instants, this.low), 0); place < instants.length && instants[place] <= this.high;) {
      const left = Math.max(this.x(instants[place]), 0);
      let next = place + 1, most = values[place];
      while (next < instants.length && this.x(instants[next]) < left + 1) most = Math.max(most, values[next++]);
      const right = next < instants.length ? Math.min(this.x(instants[next]), this.width) : Math.min(this.x(this.about.end), this.width);
      if (most === NO_VALUE) { place = next; continue; }
      context.globalAlpha = 0.3;
      context.fillRect(left, Math.min(level(most), level(0)), Math.max(right - left, 1), Math.abs(level(0) - level(most)));
      context.globalAlpha = 1;
      context.fillRect(left, level(most), Math.max(right - left, 1), 1.5);
      place = next;
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
    const ns = this.playhead, queue = this.queue ? this.queue.at(ns) : [], next = this.nextByLane(queue);
    this.element("time").value = localTime(Math.floor(ns));
    for (const row of this.rows) {
      const isSelected = Boolean(this.selected && this.selected.kind === row.kind && this.selected.place === row.place);
      this.set(row.item, "aria-selected", String(isSelected));
      row.item.tabIndex = isSelected || (!this.selected && row === this.rows[0]) ? 0 : -1;
      if (row.kind === "clock") this.describeClock(row, ns);
      else if (this.rows.length <= MOST_SAID || this.isInView(row)) this.describeLane(row, next.get(row.place));
    }
    const frame = Math.min(lower(this.frames.ends, ns), this.frames.ends.length - 1), top = this.top;
    this.set(top, "aria-valuenow", String(Math.round(ns / 1e6)));
    this.set(top, "aria-valuetext", frame < 0 ? instant(Math.floor(ns)) : this.frames.text(frame));
    this.set(this.lanes, "aria-label", `Firings of the lanes from ${instant(Math.max(Math.floor(this.low), 0))} to ${instant(Math.floor(this.high))}`);
    this.refreshSide(queue);
    const select = this.selected ? `&select=${encodeURIComponent(this.nameOf(this.selected))}` : "";
    clearTimeout(this.linking);
    this.linking = setTimeout(() => history.replaceState(null, "", `#t=${(ns / NS).toFixed(3)}${select}`), 250);
  }

  set(element, name, value) { if (element.getAttribute(name) !== value) element.setAttribute(name, value); }

  isInView(row) {
    const { scrollTop, clientHeight } = this.scroller;
    return row.y + row.height > scrollTop && row.y < scrollTop + clientHeight;
  }

  describeClock(row, ns) {
    const clock = this.about.clocks[row.place], state = this.clockAt(clock, ns);
    const text = state === null || state.state === REMOVED ? "" : localTime(state.local);
    if (row.note.textContent !== text) row.note.textContent = text;
    this.set(row.item, "aria-label", `${clock.name}, clock, ${state === null ? "not yet" : state.word}, local time ${text}`);
  }

  describeLane(row, next) {
    const lane = this.about.lanes[row.place], word = lane.word ? this.about.texts[lane.word[Math.max(placeAt(lane.at, this.playhead), 0)]] : "";
    const due = lane.slices || lane.value ? this.partText(lane, this.playhead, 4) || "nothing" : next === undefined ? word || "nothing pending" : `${this.queue.rows.due[next] >= 0 ? "due in " : ""}${this.waits(next, this.playhead)}`;
    if (lane.value) row.note.textContent = due === "nothing" ? "" : due;
    this.set(row.item, "aria-label", `${lane.name}, ${lane.kind}, ${due}`);
  }

  /** The first row of the queue of each lane, also of those that have others in them. */
  nextByLane(queue) {
    const found = new Map(), { lane } = this.queue ? this.queue.rows : {};
    for (const row of queue)
      for (const place of [lane[row], lane[row] >= 0 ? this.about.lanes[lane[row]].within : undefined])
        if (place !== undefined && !found.has(place)) found.set(place, row);
    return found;
  }

  nameOf({ kind, place }) { return kind === "clock" ? this.about.clocks[place].name : this.about.lanes[place].name; }

  refreshNumbers() {
    for (const [name, text] of Object.entries(this.frames.numbers(this.low, this.high))) this.element(name).textContent = text;
  }

  refreshSide(queue) {
    const { about } = this;
    const counts = { why: "", queue: queue.length, findings: about.findings.length, late: about.late.length, marks: about.marks.length };
    for (const button of document.querySelectorAll("[role=tab]")) {
      const name = button.dataset.tab;
      button.setAttribute("aria-selected", String(name === this.tab));
      button.tabIndex = name === this.tab ? 0 : -1;
      button.textContent = `${button.dataset.name} ${counts[name]}`.trim();
    }
    const side = this.element("side");
    const parts = { why: () => this.why(queue), queue: () => this.queueTable(queue, 200), findings: () => this.entries(about.findings), late: () => this.entries(about.late), marks: () => this.entries(about.marks) };
    side.replaceChildren(...parts[this.tab]().filter(Boolean));
  }

  why(queue) {
    const ns = this.playhead, { about } = this;
    if (!this.selected) return [this.text("p", "Nothing is selected. Click a lane or a bar."), this.text("h3", "Next to fire"), ...this.queueTable(queue, 9)];
    const { kind, place } = this.selected;
    return kind === "clock" ? this.whyClock(about.clocks[place], queue, place) : this.whyLane(about.lanes[place], queue, place);
  }

  whyClock(clock, queue, place) {
    const ns = this.playhead, state = this.clockAt(clock, ns), { lane } = this.queue ? this.queue.rows : { lane: [] };
    const own = queue.filter((row) => lane[row] >= 0 && this.about.lanes[lane[row]].clock === place);
    const rows = state ? [["Local", localTime(state.local)], ["Session", instant(Math.floor(ns))], ["Effective rate", String(state.rate)], ["Pending", own.length.toLocaleString("en")]] : [];
    const blocks = clock.blocks.filter((each) => each.at <= ns && each.end >= ns);
    return [
      this.text("p", `Clock · ${clock.path.join(" / ")}`, "muted"), this.text("h2", clock.name, "name"),
      this.text("p", state === null ? "It does not exist yet." : `${state.word[0].toUpperCase()}${state.word.slice(1)}.`),
      ...blocks.flatMap((each) => [this.text("p", `${each.name}. ${each.text}`), this.text("p", each.stack, "muted")]),
      this.text("h3", "Times"), this.table(rows), this.text("h3", "Next to fire"), ...this.queueTable(own, 9),
    ];
  }

  whyLane(lane, queue, place) {
    const ns = this.playhead, { about } = this, clock = about.clocks[lane.clock];
    const own = queue.filter((row) => this.isOf(row, place));
    const fired = lane.late ? placeAt(lane.at, ns) + 1 : 0;
    const parts = [this.text("p", clock ? `${lane.kind} · ${clock.path.join(" / ")}` : lane.kind, "muted"), this.text("h2", lane.name, "name")];
    if (lane.slices || lane.value) return [...parts, ...this.whyParts(lane, ns)];
    if (this.firing >= 0 && lane.late) {
      const when = lane.at[this.firing], late = lane.late[this.firing], told = this.lateOf(lane, place, when);
      parts.push(this.text("p", `Fired at ${instant(when)}${late > about.lateFrom ? `, ${duration(late)} late` : ""}.`));
      if (told) parts.push(this.text("p", told.text), told.stack && this.text("p", told.stack, "muted"));
    }
    if (own.length) parts.push(this.text("p", this.sentence(own[0], ns)), ...this.whyLateSoFar(lane, place, own[0], ns));
    else if (lane.word) parts.push(this.text("p", about.texts[lane.word[Math.max(placeAt(lane.at, ns), 0)]] || ""));
    else parts.push(this.text("p", fired ? "Nothing of it is pending at this instant." : "It has not been set yet."));
    const rows = lane.word ? [] : [["Fired so far", fired.toLocaleString("en")], ["Pending", own.length.toLocaleString("en")]];
    if (fired) rows.push([this.link("Last fired", () => this.goTo(lane.at[fired - 1])), instant(lane.at[fired - 1])]);
    if (lane.site) rows.push(["Set in", lane.site]);
    parts.push(this.text("h3", "Numbers"), this.table(rows));
    return parts;
  }

  /** Of a call that is overdue: by how much, and what is known of the late firing that followed. */
  whyLateSoFar(lane, place, row, ns) {
    const due = this.queue.rows.due[row], next = lane.late ? placeAt(lane.at, ns) + 1 : 0;
    if (!lane.late || due < 0 || ns - due < this.about.lateFrom) return [];
    const told = next < lane.at.length ? this.lateOf(lane, place, lane.at[next]) : undefined;
    return [this.text("p", `late ${duration(Math.round(ns - due))} so far`), told && this.text("p", told.text), told && told.stack && this.text("p", told.stack, "muted")];
  }

  /** The slices around the playhead from the outermost on, or the value of a counter. */
  whyParts(lane, ns) {
    if (lane.value) {
      const lines = (lane.lines || []).map((each) => this.text("p", each));
      return [this.text("p", this.partText(lane, ns, 0) || "It has no value at this instant."), ...(lines.length ? [this.text("h3", "In all"), ...lines] : [])];
    }
    const found = lane.slices.map((_, depth) => this.partText(lane, ns, 4 + depth * LEVEL)).filter(Boolean);
    const more = lane.more ? `${lane.more.toLocaleString("en")} shorter or deeper slices are not in this page.` : "";
    return [...(found.length ? found : ["No slice is open at this instant."]).map((each) => this.text("p", each)), more && this.text("p", more, "muted")];
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
      item.append(this.link(instant(each.at), () => {
        if (each.lane >= 0) this.select("lane", each.lane, placeAt(this.about.lanes[each.lane].at, each.at));
        else if (each.clock >= 0) this.select("clock", each.clock);
        this.goTo(each.at);
      }), document.createTextNode(` ${each.kind && each.lane === undefined ? `${each.kind}: ` : ""}${each.text}`));
      for (const more of [each.stack, each.more]) if (more) item.append(this.text("p", more, "muted"));
      list.append(item);
    }
    return [list];
  }

  // --------------------------------------------------------------------------- input

  listen() {
    super.listen();
    this.scroller.addEventListener("scroll", () => this.refresh());
    addEventListener("hashchange", () => { this.takeLink(); this.refresh(); });
    this.element("filter").addEventListener("input", (event) => { this.filter = event.target.value; this.layOutRows(); this.refresh(); });
    this.element("time").addEventListener("change", (event) => {
      const ns = typedInstant(event.target.value);
      if (Number.isNaN(ns)) this.refresh(); else this.goTo(ns);
    });
    const tabs = [...document.querySelectorAll("[role=tab]")];
    tabs.forEach((button, place) => {
      button.addEventListener("click", () => this.openTab(button));
      button.addEventListener("keydown", (event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        this.openTab(tabs[(place + by + tabs.length) % tabs.length]);
      });
    });
  }

  openTab(button) {
    this.tab = button.dataset.tab;
    button.focus();
    this.refresh();
  }

  rowAt(y) {
    const from = y + this.scroller.scrollTop;
    return this.rows.find((row) => from >= row.y && from < row.y + row.height);
  }

  /** The words of a slice or the value of a counter at a place; empty for none. */
  partText(lane, ns, y) {
    if (lane.value) {
      const place = placeAt(lane.at, ns);
      return place < 0 || lane.value[place] === NO_VALUE ? "" : `${(lane.value[place] / 1000).toLocaleString("en")} ${lane.unit}`.trim();
    }
    const level = lane.slices[Math.floor((y - 4) / LEVEL)];
    const place = level ? placeAt(level.at, ns + (this.high - this.low) / this.width) : -1;
    if (place < 0 || level.end[place] < ns) return "";
    return `${this.about.texts[level.word[place]]}, ${duration(level.end[place] - level.at[place])} from ${instant(level.at[place])}`;
  }

  firingNear(lane, x) {
    if (!lane.late) return -1;
    const ns = this.ns(x), next = lower(lane.at, ns);
    const near = [next - 1, next].filter((place) => place >= 0 && place < lane.at.length && Math.abs(this.x(lane.at[place]) - x) <= 8);
    near.sort((one, other) => Math.abs(lane.at[one] - ns) - Math.abs(lane.at[other] - ns));
    return near.length ? near[0] : -1;
  }

  click(event, canvas) {
    if (canvas === this.top) {
      const frame = this.frameNear(this.frames, event.offsetX);
      if (frame >= 0) this.goTo(this.frames.ends[frame]);
      return;
    }
    const row = this.rowAt(event.offsetY);
    if (!row) { this.select(null); return; }
    this.select(row.kind, row.place, row.kind === "lane" ? this.firingNear(this.about.lanes[row.place], event.offsetX) : -1);
  }

  readoutText(event, canvas) {
    const { about } = this, ns = this.ns(event.offsetX);
    if (canvas === this.top) {
      const mark = about.marks.find((each) => Math.abs(this.x(each.at) - event.offsetX) < 5 && event.offsetY < 36);
      if (mark) return `${instant(mark.at)} ${mark.kind}: ${mark.text}`;
      const frame = this.frameNear(this.frames, event.offsetX);
      return frame < 0 || event.offsetY < RULER ? instant(Math.floor(ns)) : this.frames.text(frame);
    }
    const row = this.rowAt(event.offsetY);
    if (!row) return instant(Math.floor(ns));
    if (row.kind === "clock") {
      const clock = about.clocks[row.place], state = this.clockAt(clock, ns);
      const block = clock.blocks.find((each) => each.at <= ns && each.end >= ns);
      if (block) return `${block.name} ${duration(block.end - block.at)}\n${block.text}`;
      return state === null ? instant(Math.floor(ns)) : `${clock.name}, ${state.word}\n${localTime(state.local)} at ${instant(Math.floor(ns))}`;
    }
    const lane = about.lanes[row.place], place = this.firingNear(lane, event.offsetX);
    if (lane.slices || lane.value) return `${lane.name}\n${this.partText(lane, ns, event.offsetY + this.scroller.scrollTop - row.y) || instant(Math.floor(ns))}`;
    if (place < 0) return `${lane.name}\n${instant(Math.floor(ns))}`;
    return `${lane.name}\nfired at ${instant(lane.at[place])}${lane.late[place] > about.lateFrom ? `, ${duration(lane.late[place])} late` : ""}`;
  }

  perform(action) {
    if (this.move(action)) return true;
    const isOnFrames = document.activeElement === this.top;
    switch (action) {
      case "find": this.element("filter").focus(); break;
      case "clear": this.select(null); break;
      case "up": this.selectNext(-1); break;
      case "down": this.selectNext(1); break;
      case "before": this.goAlong(-1, isOnFrames); break;
      case "after": this.goAlong(1, isOnFrames); break;
      case "next over": this.goToOver(1); break;
      case "previous over": this.goToOver(-1); break;
      case "fold": if (this.selected) this.fold(this.selected.kind, this.selected.place); break;
    }
    return true;
  }

  selectNext(by) {
    const { kind, place } = this.selected || {}, now = this.rows.findIndex((row) => row.kind === kind && row.place === place);
    const row = this.rows[now < 0 ? 0 : Math.min(Math.max(now + by, 0), this.rows.length - 1)];
    if (!row) return;
    this.select(row.kind, row.place);
    row.item.focus({ preventScroll: true });
  }

  /** To the firing before or after of the selected lane, else the frame. */
  goAlong(by, isOnFrames) {
    const lane = !isOnFrames && this.selected && this.selected.kind === "lane" ? this.about.lanes[this.selected.place] : null;
    const instants = lane ? lane.at : this.frames.ends;
    const place = by > 0 ? placeAt(instants, this.playhead) + 1 : lower(instants, this.playhead) - 1;
    if (place < 0 || place >= instants.length) return;
    if (lane && lane.late) this.firing = place;
    this.goTo(instants[place]);
    const late = lane && lane.late && lane.late[place] > this.about.lateFrom ? `, ${duration(lane.late[place])} late` : "";
    this.announce(lane ? `${lane.name}, ${lane.word ? this.about.texts[lane.word[place]] : lane.late ? "fired" : this.partText(lane, instants[place], 4)} at ${instant(instants[place])}${late}` : this.frames.text(place));
  }

  goToOver(by) {
    const place = this.frames.over(this.playhead, by);
    if (place >= 0) this.goTo(this.frames.ends[place]);
    this.announce(place < 0 ? "No further frame is over budget." : this.frames.text(place));
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
