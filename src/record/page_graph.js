/* SPDX-License-Identifier: MIT */
/* The flame graph: drawn on a canvas, used by mouse and by keyboard. */

const ROW = 19, SMALLEST = .6, TEXT_FROM = 28, HEIGHT_MOST = 16000;

class Graph {
  constructor(canvas, tell, openSource) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.tell = tell;
    this.openSource = openSource;
    this.boxes = [];
    canvas.addEventListener("click", event => this.click(event));
    canvas.addEventListener("dblclick", event => this.doubleClick(event));
    canvas.addEventListener("mousemove", event => this.hover(event));
    canvas.addEventListener("mouseleave", () => this.tell(this.cursor));
    canvas.addEventListener("keydown", event => this.key(event));
    onSize(canvas.parentElement, () => this.draw());
    darkScheme.addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.draw(true));
    addEventListener("afterprint", () => this.draw());
  }

  /* Shows another graph: its outermost frame, how it is coloured, whether it
   * grows upwards. What is zoomed into stays if `keepZoom` and the graph has such
   * a path. */
  show(root, colour, upwards, keepZoom) {
    const path = this.focus && keepZoom ? this.pathOf(this.focus) : [];
    this.root = root;
    this.colour = colour;
    this.upwards = upwards;
    this.focus = this.find(path);
    this.cursor = this.focus;
    this.draw();
    this.tell(this.cursor);
  }

  /* Returns what names a frame in another graph of the same kind. */
  pathOf(frame) {
    const path = [];
    for (; frame.parent !== null; frame = frame.parent)
      path.unshift(frame.function);
    return path;
  }

  /* Returns the frame at the end of a path, as far as there is one. */
  find(path) {
    let frame = this.root;
    for (const number of path) {
      const kid = kidsOf(frame).find(k => k.function === number);
      if (kid === undefined || !(kid.value > 0))
        break;
      frame = kid;
    }
    return frame;
  }

  /* Marks the functions that a search found; null: there is no search. */
  mark(marks) {
    this.marks = marks;
    this.draw();
  }

  reset() {
    this.focus = this.cursor = this.root;
    this.draw();
    this.tell(this.cursor);
  }

  /* Zooms to a frame, which then has the whole width. */
  zoom(frame) {
    if (!(frame.value > 0))
      return;
    this.focus = this.cursor = frame;
    this.draw();
    this.tell(frame);
  }

  /* Lists the boxes to be drawn: the frames above the focus over the whole
   * width, then the focus and what is below it. */
  layOut(width) {
    this.boxes = [];
    for (let above = this.focus.parent; above !== null; above = above.parent)
      this.boxes.push({ frame: above, x: 0, width, row: above.depth });
    this.place(this.focus, 0, width);
    this.rows = 1 + this.boxes.reduce((most, box) => Math.max(most, box.row), 0);
  }

  /* Places a frame and the frames below it that are wide enough to be seen.
   * Where some have less than none, the others may be more than the frame. */
  place(frame, x, width) {
    this.boxes.push({ frame, x, width, row: frame.depth });
    if (width < 2 * SMALLEST || (frame.depth + 2) * ROW > HEIGHT_MOST)
      return;
    const kids = kidsOf(frame);
    let sum = 0;
    for (const kid of kids)
      sum += Math.max(0, Number(kid.value));
    const scale = width / Math.max(sum, Number(frame.value));
    for (const kid of kids) {
      const own = Number(kid.value) * scale;
      if (own < SMALLEST)
        break;
      this.place(kid, x, own);
      x += own;
    }
  }

  /* Draws all; for paper in light colours. */
  draw(onPaper = false) {
    const box = this.canvas.parentElement, width = box.clientWidth;
    if (this.root === undefined || width === 0)
      return;
    this.layOut(width);
    const height = Math.max(this.rows, 3) * ROW + 1;
    const ratio = Math.min(devicePixelRatio || 1, HEIGHT_MOST / height);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.height = height;
    const c = this.context;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.look = lookOf(onPaper);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    for (const b of this.boxes)
      this.drawBox(b);
    this.drawCursor();
  }

  /* Returns the upper edge of a row. */
  top(row) {
    return this.upwards ? this.height - 1 - (row + 1) * ROW : row * ROW;
  }

  drawBox({ frame, x, width, row }) {
    const c = this.context, y = this.top(row);
    const marked = this.marks && frame.function >= 0 && this.marks[frame.function];
    const faded = row < this.focus.depth || (this.marks && !marked);
    c.globalAlpha = faded ? .45 : 1;
    c.fillStyle = marked ? this.look.found : this.colour(frame, this.look.dark);
    c.fillRect(x, y + 1, Math.max(width - 1, .5), ROW - 1);
    c.globalAlpha = 1;
    if (width >= TEXT_FROM) {
      c.fillStyle = marked ? this.look.onFound : this.look.ink;
      c.fillText(this.fit(frame.label, width - 8), x + 4, y + ROW / 2 + 1);
    }
  }

  /* Cuts a text to a width. */
  fit(text, width) {
    const c = this.context;
    if (c.measureText(text).width <= width)
      return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = low + high + 1 >> 1;
      if (c.measureText(text.slice(0, middle) + "…").width <= width)
        low = middle;
      else
        high = middle - 1;
    }
    return low > 0 ? text.slice(0, low) + "…" : "";
  }

  /* Draws a line around the frame that the keyboard is at. */
  drawCursor() {
    const box = this.boxes.find(b => b.frame === this.cursor);
    if (box === undefined)
      return;
    this.context.strokeStyle = this.look.ink;
    this.context.lineWidth = 2;
    this.context.strokeRect(box.x + 1, this.top(box.row) + 1,
      Math.max(box.width - 3, 1), ROW - 2);
  }

  /* Returns the frame at a place of the mouse, or undefined. */
  at(event) {
    const x = event.offsetX, y = event.offsetY;
    const row = this.upwards ? Math.floor((this.height - 1 - y) / ROW)
      : Math.floor(y / ROW);
    const box = this.boxes.find(b => b.row === row && x >= b.x && x < b.x + b.width);
    return box && box.frame;
  }

  hover(event) {
    this.tell(this.at(event) || this.cursor);
  }

  click(event) {
    const frame = this.at(event);
    if (frame)
      this.zoom(frame);
  }

  doubleClick(event) {
    const frame = this.at(event);
    if (frame && frame.function >= 0)
      this.openSource(frame.function);
  }

  /* Moves the keyboard's place to a frame and shows it. */
  moveTo(frame) {
    if (!frame)
      return;
    this.cursor = frame;
    if (!this.boxes.some(b => b.frame === frame))
      this.focus = frame;
    this.draw();
    this.scrollTo(frame);
    this.tell(frame);
  }

  scrollTo(frame) {
    const box = this.canvas.parentElement, top = this.top(frame.depth);
    if (top < box.scrollTop)
      box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight)
      box.scrollTop = top + ROW - box.clientHeight;
  }

  /* Returns the frame `step` places beside a frame, or undefined. */
  beside(frame, step) {
    if (frame.parent === null)
      return undefined;
    const kids = kidsOf(frame.parent), next = kids[kids.indexOf(frame) + step];
    return next && next.value > 0 ? next : undefined;
  }

  /* Goes to the next frame that is marked among those drawn, or back. */
  moveToMatch(step) {
    const found = this.boxes.filter(b => this.marks && b.frame.function >= 0 &&
      this.marks[b.frame.function]).map(b => b.frame);
    const at = found.indexOf(this.cursor);
    if (found.length > 0)
      this.moveTo(found[(at < 0 && step < 0 ? 0 : at + step + found.length) %
        found.length]);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey)
      return;
    const inwards = this.upwards ? "ArrowUp" : "ArrowDown";
    const outwards = this.upwards ? "ArrowDown" : "ArrowUp";
    const first = kidsOf(this.cursor)[0];
    const keys = {
      [inwards]: () => this.moveTo(first && first.value > 0 ? first : undefined),
      [outwards]: () => this.moveTo(this.cursor.parent),
      ArrowLeft: () => this.moveTo(this.beside(this.cursor, -1)),
      ArrowRight: () => this.moveTo(this.beside(this.cursor, 1)),
      Home: () => this.moveTo(this.root),
      Enter: () => this.zoom(this.cursor),
      Escape: () => this.zoom(this.focus.parent || this.root),
      n: () => this.moveToMatch(1),
      N: () => this.moveToMatch(-1),
      s: () => this.cursor.function >= 0 && this.openSource(this.cursor.function),
    };
    if (keys[event.key] === undefined)
      return;
    event.preventDefault();
    keys[event.key]();
  }
}

/* Returns the colours of the page as they are now. */
function lookOf(onPaper) {
  const dark = !onPaper && isDark();
  return { dark, ink: dark ? "#f2f4f7" : "#14171b", found: dark ? "#8f1d73" : "#f5a3dd",
    onFound: dark ? "#fff" : "#14171b" };
}

/* Returns a colour of a hue on which the text of the graph can be read. */
function shade(hue, dark, step = 0) {
  return dark ? `hsl(${hue} 45% ${22 + 3 * step}%)` : `hsl(${hue} 62% ${82 - 5 * step}%)`;
}

const NO_COLOUR = { light: "#d5dae1", dark: "#3a424e" };

/* Returns a number that follows from a text alone. */
function hashOf(text) {
  let hash = 0;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash, 31) + text.charCodeAt(i) | 0;
  return hash >>> 0;
}

const noFunction = dark => dark ? NO_COLOUR.dark : NO_COLOUR.light;

/* Colours a frame by its function. */
function colourByFunction(frame, dark) {
  if (frame.function < 0)
    return noFunction(dark);
  const hash = hashOf(frame.label);
  return shade(hash % 360, dark, (hash >> 9) % 3);
}

const hueOfImage = once(image => (20 + 137.5 * imageNumbers().indexOf(image)) % 360);

/* Lists the images, in the order in which they come first in the tree. */
const imageNumbers = () => keptImages("all");
const keptImages = once(() => {
  const images = new Set();
  for (let n = 0; n < tree.count; n++)
    images.add(functions.all[tree.functionOf[n]].image);
  return [...images];
});

/* Colours a frame by the image of its function, in a few shades. */
function colourByImage(frame, dark) {
  if (frame.function < 0 || frame.function === functions.unknown)
    return noFunction(dark);
  const { image, name } = functions.all[frame.function];
  return shade(hueOfImage(image), dark, hashOf(name) % 3);
}

/* Returns how to colour frames by their events for each unit of the base: blue
 * has an eighth of the whole program's rate, red eight times as much. */
function colourByRate(root) {
  const whole = Number(root.value) / Number(root.base);
  return (frame, dark) => {
    const rate = Number(frame.value) / Number(frame.base);
    if (!(frame.base > 0) || !(whole > 0) || frame.function < 0)
      return noFunction(dark);
    return rateColour(rate > 0 ? Math.log2(rate / whole) / 3 : -1, dark);
  };
}

/* Returns the colour of a place from -1 (few) to 1 (many). */
function rateColour(place, dark) {
  const t = Math.max(-1, Math.min(1, place)), hue = t < 0 ? 215 : 12;
  const strength = Math.abs(t);
  return dark ? `hsl(${hue} ${10 + 60 * strength}% ${24 + 8 * strength}%)`
    : `hsl(${hue} ${20 + 75 * strength}% ${92 - 22 * strength}%)`;
}
