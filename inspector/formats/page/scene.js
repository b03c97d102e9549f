// Draws what a scene drew of itself, in its own colours.

const KINDS = ["circle", "box", "line", "polygon", "text"];
const ANCHORS = ["start", "center", "end"];
const HATCH = "#5b626b";

class Scene {
  /** @param about The pictures, as `unpacked` returns them. */
  constructor(about) {
    const [at, size, count, shape, number] = ["at", "size", "count", "shape", "number"].map((name) => about.columns[about[name]]);
    Object.assign(this, { sizes: about.sizes, styles: about.styles, at, size, count, shape });
    this.firsts = new Int32Array(at.length);
    this.places = new Int32Array(shape.length);
    this.numbers = new Int32Array(number.length);
    this.restore(number);
  }

  /** Numbers are packed as differences to the same shape of a picture before. */
  restore(sums) {
    const last = new Map();
    let shape = 0, place = 0, sum = 0;
    for (let picture = 0; picture < this.at.length; picture++) {
      const seen = new Map();
      this.firsts[picture] = shape;
      for (const end = shape + this.count[picture]; shape < end; shape++) {
        const style = this.shape[shape], index = seen.get(style) || 0, key = style * 65536 + index;
        const before = last.get(key), length = this.styles[style][1];
        seen.set(style, index + 1);
        last.set(key, place);
        this.places[shape] = place;
        for (let next = 0; next < length; next++, place++) {
          this.numbers[place] = sums[place] - sum + (before === undefined ? 0 : this.numbers[before + next]);
          sum = sums[place];
        }
      }
    }
  }

  /** Draw the last picture up to an instant; returns its own instant, or NaN before the first.
   *  @param isStopped Whether the clock at a place stands still then. */
  draw(canvas, ns, isStopped) {
    const picture = placeAt(this.at, ns), [width, height, background] = this.sizes[this.size[Math.max(picture, 0)]];
    const scale = devicePixelRatio || 1, wide = canvas.clientWidth, high = Math.round((wide * height) / width);
    canvas.style.height = `${high}px`;
    canvas.width = wide * scale;
    canvas.height = high * scale;
    const context = canvas.getContext("2d");
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (picture < 0) return NaN;
    // Places are in 4,000ths of the width.
    context.scale(canvas.width / 4000, canvas.width / 4000);
    for (let shape = this.firsts[picture], end = shape + this.count[picture]; shape < end; shape++)
      this.drawShape(context, this.styles[this.shape[shape]], this.places[shape], isStopped);
    return this.at[picture];
  }

  drawShape(context, style, place, isStopped) {
    const [kind, length, ownFill, ownLine, width, text, anchor, clock, fadedFill, fadedLine] = style;
    const stands = fadedFill !== undefined && isStopped(clock), fill = stands ? fadedFill : ownFill, line = stands ? fadedLine : ownLine;
    const numbers = this.numbers.subarray(place, place + length), [x, y, a, b] = numbers;
    if (KINDS[kind] === "text") {
      context.font = `${Math.abs(a)}px Inter, system-ui, sans-serif`;
      context.textAlign = ANCHORS[anchor];
      context.fillStyle = fill;
      context.fillText(text, x, y);
      return;
    }
    context.beginPath();
    if (KINDS[kind] === "circle") context.arc(x, y, Math.abs(a), 0, 2 * Math.PI);
    else if (KINDS[kind] === "box") context.rect(x, y, a, b);
    else for (let next = 0; next < length; next += 2) context.lineTo(numbers[next], numbers[next + 1]);
    if (KINDS[kind] === "polygon") context.closePath();
    if (fill) { context.fillStyle = fill; context.fill(); }
    if (stands && fill && KINDS[kind] !== "line") this.hatch(context);
    if (line) { context.strokeStyle = line; context.lineWidth = Math.max(width, 1); context.stroke(); }
  }

  /** Hatches the present path, which stands still. */
  hatch(context) {
    if (!this.pattern) {
      const tile = document.createElement("canvas"), size = tile.width = tile.height = 48, lines = tile.getContext("2d");
      lines.strokeStyle = HATCH;
      lines.lineWidth = 7;
      lines.beginPath();
      for (const by of [-size, 0, size]) { lines.moveTo(by, size); lines.lineTo(by + size, 0); }
      lines.stroke();
      this.pattern = context.createPattern(tile, "repeat");
    }
    context.fillStyle = this.pattern;
    context.fill();
  }
}
