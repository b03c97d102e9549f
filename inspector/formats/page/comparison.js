// Draws the frames of the runs of a comparison, each from its own beginning, on one axis.

class Comparison extends View {
  constructor(about) {
    const list = document.getElementById("plots");
    const bands = about.runs.map((run) => Comparison.band(run, about));
    list.append(...bands.map((band) => band.element));
    super(about, bands.map((band) => band.canvas));
    this.bands = bands;
    this.playhead = 0;
    this.announce("");
    this.listen();
    this.refresh();
  }

  static band(run, about) {
    const element = document.createElement("div"), side = document.createElement("div"), name = document.createElement("strong");
    const list = document.createElement("dl"), box = document.createElement("div"), canvas = document.createElement("canvas"), numbers = {};
    element.className = "band";
    side.className = "about-run";
    name.textContent = name.title = run.name;
    for (const [key, word] of [["p50", "P50"], ["p99", "P99"], ["longest", "max"], ...(about.budget.isGiven ? [["over", "over"]] : [])]) {
      const term = document.createElement("dt");
      term.textContent = word;
      numbers[key] = document.createElement("dd");
      list.append(term, numbers[key]);
    }
    canvas.tabIndex = 0;
    for (const [attribute, value] of [["role", "slider"], ["aria-label", `Frames of ${run.name}`], ["aria-valuemin", "0"], ["aria-valuemax", String(Math.round(about.end / 1e6))]]) canvas.setAttribute(attribute, value);
    side.append(name, list);
    box.append(canvas);
    element.append(side, box);
    return { element, canvas, numbers, name: run.name, fills: run.fills, frames: new Frames(run.frames) };
  }

  draw() {
    this.takeColors();
    this.bands.forEach((band, place) => {
      const [context, , height] = this.context(band.canvas);
      this.drawGrid(context, place ? 0 : RULER - 6, height, !place);
      this.drawBars(context, band.frames, place ? 0 : RULER, height - 1, band.fills);
      this.drawPlayhead(context, height, !place);
    });
  }

  frameAt(band) { return Math.min(lower(band.frames.ends, this.playhead), band.frames.ends.length - 1); }

  refreshTexts() {
    for (const band of this.bands) {
      band.canvas.setAttribute("aria-valuenow", String(Math.round(this.playhead / 1e6)));
      band.canvas.setAttribute("aria-valuetext", band.frames.text(this.frameAt(band)));
    }
  }

  refreshNumbers() {
    for (const { numbers, frames } of this.bands) {
      const found = frames.numbers(this.low, this.high);
      for (const key of Object.keys(numbers)) numbers[key].textContent = found[key];
    }
  }

  /** The run that has the keyboard, otherwise the first. */
  get band() { return this.bands.find((band) => band.canvas === document.activeElement) || this.bands[0]; }

  click(event, canvas) {
    const band = this.bands.find((each) => each.canvas === canvas), frame = this.frameNear(band.frames, event.offsetX);
    if (frame >= 0) this.show(band, frame);
  }

  show(band, frame) {
    this.goTo(band.frames.ends[frame]);
    this.announce(`${band.name}: ${band.frames.text(frame)}`);
  }

  readoutText(event, canvas) {
    const { frames } = this.bands.find((each) => each.canvas === canvas), frame = this.frameNear(frames, event.offsetX);
    return frame < 0 ? instant(Math.floor(this.ns(event.offsetX))) : frames.text(frame);
  }

  /** Does what a key or button asks; false if it is none of its own. */
  perform(action) {
    if (!["left", "right", "start", "end"].includes(action) && this.move(action)) return true;
    const by = { before: -1, after: 1, "previous over": -1, "next over": 1 }[action];
    if (by === undefined) return false;
    const { band } = this, { frames } = band, isOver = action.endsWith("over");
    if (!isOver && document.activeElement !== band.canvas) return false;
    const next = by > 0 ? placeAt(frames.ends, this.playhead) + 1 : lower(frames.ends, this.playhead) - 1;
    const frame = isOver ? frames.over(this.playhead, by) : next;
    if (frame >= 0 && frame < frames.ends.length) this.show(band, frame);
    else if (isOver) this.announce("No further frame is over budget.");
    return true;
  }
}
