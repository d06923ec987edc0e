/* SPDX-License-Identifier: MIT */
/* The drawing of when each thread ran and waited: a row for each thread, from its begin
 * to its end, in which a column of pixels has the colours of what the thread did in
 * that time, each as high as its part. */

/* Threads that are drawn at most, those that waited most, and the height of a row. */
const ROWS_MOST = 500, ROW = 22, ROW_OF_MANY = 10, MANY_ROWS = 40, AXIS = 24;
/* The shortest part of the time that is drawn, in cycles, and what a step of the wheel
 * or of a key does to it. */
const RANGE_LEAST = 20, NEARER = .7;
/* Pixels that the mouse may miss a wait by. */
const MISS = 3;

/* What a thread does besides running, in the order of a stretch's times. */
const WAITING = [
  { name: "waited at locks", colour: "--lock" },
  { name: "waited for something else", colour: "--other" },
  { name: "spun", colour: "--spinning" }];

const colourOf = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Timeline {
  /* `threads`: { name, begin, end, last, stretches, unended }, of which `last` is when
   * the last thread of its process ended. `tell(thread, stretch, cycle)` says what was at
   * a place, `choose(lock)` chooses a lock. */
  constructor(canvas, threads, tell, choose) {
    Object.assign(this, { canvas, threads, tell, choose, lock: -1, row: 0, at: -1 });
    this.height = threads.length > MANY_ROWS ? ROW_OF_MANY : ROW;
    this.first = Math.min(...threads.map(t => t.begin));
    this.end = Math.max(this.first + 1, ...threads.map(t => t.last));
    this.sums = new Float64Array(0);
    this.whole();
    canvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
    canvas.addEventListener("pointerdown", e => this.press(e));
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerup", e => this.release(e));
    canvas.addEventListener("keydown", e => this.key(e));
    onSize(canvas.parentElement, () => this.draw());
    darkScheme.addEventListener("change", () => this.draw());
  }

  whole() {
    this.show(this.first, this.end);
  }

  /* Draws a part of the time. */
  show(from, to) {
    const length = Math.min(this.end - this.first, Math.max(RANGE_LEAST, to - from));
    this.from = Math.max(this.first, Math.min(from, this.end - length));
    this.to = this.from + length;
    this.draw();
  }

  /* Draws `factor` times as much of the time; what was at `middle`, a part of the width,
   * stays there. */
  zoom(factor, middle = .5) {
    const length = this.to - this.from, cycle = this.from + middle * length;
    this.show(cycle - middle * length * factor, cycle + (1 - middle) * length * factor);
  }

  /* Moves by a part of what is drawn. */
  pan(part) {
    const by = part * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }

  chosen(lock) {
    this.lock = lock;
    this.draw();
  }

  draw() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.parentElement;
    const width = Math.max(200, box.clientWidth), height = this.threads.length * this.height + AXIS;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.height = `${height}px`;
    this.pen = this.canvas.getContext("2d");
    this.pen.scale(ratio, ratio);
    this.pen.font = `${Math.min(12, this.height - 2)}px system-ui, sans-serif`;
    this.left = Math.ceil(Math.max(...this.threads.map(
      t => this.pen.measureText(t.name).width))) + 10;
    this.width = Math.max(1, Math.floor(width - this.left - 2));
    this.colours = Object.fromEntries(["--running", "--ink", "--soft", "--line", "--bar", "--unended",
      ...WAITING.map(w => w.colour)].map(name => [name, colourOf(name)]));
    if (this.sums.length !== 3 * this.width)
      this.sums = new Float64Array(3 * this.width);
    this.drawAxis();
    this.threads.forEach((thread, number) => this.drawRow(thread, number));
    this.drawMark();
    byId("range").textContent = `cycles ${digits(Math.round(this.from))} to ` +
      `${digits(Math.round(this.to))} of ${digits(this.end)}`;
  }

  xOf(cycle) {
    return this.left + (cycle - this.from) / (this.to - this.from) * this.width;
  }

  cycleAt(x) {
    return this.from + (x - this.left) / this.width * (this.to - this.from);
  }

  drawAxis() {
    const { pen } = this;
    const bottom = this.threads.length * this.height;
    pen.fillStyle = this.colours["--soft"];
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const cycle of ticksOf(this.from, this.to, this.width / 110)) {
      const x = this.xOf(cycle), half = pen.measureText(digits(cycle)).width / 2;
      pen.fillRect(x, 0, .5, bottom + 4);
      pen.fillText(digits(cycle), Math.max(this.left, Math.min(x, this.left + this.width - half)),
        bottom + 7);
    }
  }

  /* Draws a part of a row from one cycle to another; nothing of it may be in sight. */
  bar(from, to, top, height, colour) {
    const a = Math.max(this.left, this.xOf(from)), b = Math.min(this.left + this.width, this.xOf(to));
    if (b <= a)
      return;
    this.pen.fillStyle = colour;
    this.pen.fillRect(a, top, Math.max(b - a, .5), height);
  }

  drawRow(thread, number) {
    const { pen } = this, top = number * this.height + 2, height = this.height - 3;
    pen.fillStyle = this.colours["--ink"];
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillText(thread.name, this.left - 6, top + height / 2);
    this.bar(thread.begin, thread.end, top, height, this.colours["--running"]);
    for (const chosen of this.lock < 0 ? [true] : [false, true]) {
      this.addUp(thread, chosen);
      pen.globalAlpha = chosen ? 1 : .35;
      this.drawSums(top, height);
      pen.globalAlpha = 1;
    }
    for (const wait of thread.unended) {
      pen.globalAlpha = this.lock < 0 ? 1 : .35;
      this.bar(Math.max(wait.since, thread.begin), thread.last, top + height / 3, height / 3,
        this.colours["--unended"]);
      pen.globalAlpha = 1;
    }
  }

  /* Returns the index of the first stretch of a thread that ends behind a cycle. */
  firstAfter(thread, cycle) {
    let low = 0, high = thread.stretches.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (thread.stretches[middle].end > cycle)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  /* Adds up, for each column, the parts of its time that the thread waited: at the chosen
   * lock, or in all else; where none is chosen, in all. */
  addUp(thread, chosen) {
    const perColumn = (this.to - this.from) / this.width;
    this.sums.fill(0);
    for (let i = this.firstAfter(thread, this.from); i < thread.stretches.length; i++) {
      const s = thread.stretches[i];
      if (s.begin >= this.to)
        break;
      if (this.lock >= 0 && (s.lock === this.lock) !== chosen)
        continue;
      const a = (s.begin - this.from) / perColumn, b = (s.end - this.from) / perColumn;
      for (let x = Math.max(0, Math.floor(a)); x < Math.min(this.width, b); x++) {
        const part = (Math.min(b, x + 1) - Math.max(a, x)) / (b - a) / perColumn;
        for (let k = 0; k < 3; k++)
          this.sums[3 * x + k] += s.time[k] * part;
      }
    }
  }

  drawSums(top, height) {
    for (let x = 0; x < this.width;) {
      const at = 3 * x, [a, b, c] = this.sums.subarray(at, at + 3);
      let next = x + 1;
      while (next < this.width && Math.abs(this.sums[3 * next] - a) +
             Math.abs(this.sums[3 * next + 1] - b) + Math.abs(this.sums[3 * next + 2] - c) < .02)
        next++;
      let bottom = top + height;
      [a, b, c].forEach((part, k) => {
        const high = Math.min(bottom - top, part * height);
        if (high <= 0)
          return;
        bottom -= high;
        this.pen.fillStyle = this.colours[WAITING[k].colour];
        this.pen.fillRect(this.left + x, bottom, next - x, high);
      });
      x = next;
    }
  }

  /* Marks the wait that is chosen by the keyboard or the mouse. */
  drawMark() {
    const stretch = this.threads[this.row].stretches[this.at];
    if (!stretch)
      return;
    const a = Math.max(this.left, this.xOf(stretch.begin));
    const b = Math.min(this.left + this.width, this.xOf(stretch.end));
    if (b < a)
      return;
    this.pen.strokeStyle = this.colours["--ink"];
    this.pen.lineWidth = 2;
    this.pen.strokeRect(a - 1, this.row * this.height + 1, Math.max(3, b - a + 2), this.height - 1);
  }

  /* Goes to a wait of a thread, -1: none, and says what it is. */
  goTo(row, at, cycle) {
    this.row = row;
    this.at = at;
    const stretch = this.threads[row].stretches[at];
    if (stretch && cycle === undefined && (stretch.begin < this.from || stretch.end > this.to)) {
      const length = Math.max(this.to - this.from, 1.2 * (stretch.end - stretch.begin));
      const middle = (stretch.begin + stretch.end) / 2;
      this.show(middle - length / 2, middle + length / 2);
    } else {
      this.draw();
    }
    this.tell(this.threads[row], stretch, cycle);
  }

  /* Finds what is below the mouse: [row, wait, cycle], or null. */
  find(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, row = Math.floor((event.clientY - box.top) / this.height);
    if (row < 0 || row >= this.threads.length || x < this.left)
      return null;
    const thread = this.threads[row], cycle = this.cycleAt(x);
    const miss = MISS * (this.to - this.from) / this.width;
    let best = -1, distance = miss;
    for (let i = this.firstAfter(thread, cycle - miss); i < thread.stretches.length; i++) {
      const s = thread.stretches[i];
      if (s.begin > cycle + miss)
        break;
      const far = Math.max(s.begin - cycle, cycle - s.end, 0);
      if (best < 0 || far < distance)
        [best, distance] = [i, far];
    }
    return [row, best, cycle];
  }

  wheel(event) {
    if (event.deltaY === 0)
      return;
    event.preventDefault();
    const x = event.clientX - this.canvas.getBoundingClientRect().left - this.left;
    this.zoom(event.deltaY < 0 ? NEARER : 1 / NEARER, Math.max(0, Math.min(1, x / this.width)));
  }

  press(event) {
    this.drag = { x: event.clientX, from: this.from, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.drag) {
      const found = this.find(event);
      if (found && (found[0] !== this.row || found[1] !== this.at || found[1] < 0))
        this.goTo(...found);
      return;
    }
    const by = event.clientX - this.drag.x;
    this.drag.moved ||= Math.abs(by) > MISS;
    if (this.drag.moved) {
      const length = this.to - this.from, from = this.drag.from - by / this.width * length;
      this.show(from, from + length);
    }
  }

  release(event) {
    const moved = this.drag && this.drag.moved, found = this.find(event);
    this.drag = null;
    if (moved || !found)
      return;
    this.goTo(...found);
    const stretch = this.threads[found[0]].stretches[found[1]];
    if (stretch && stretch.lock >= 0)
      this.choose(stretch.lock);
  }

  key(event) {
    const thread = this.threads[this.row], last = thread.stretches.length - 1;
    const middle = (this.from + this.to) / 2;
    /* The wait that the keyboard goes on from. */
    const near = () => this.at >= 0 ? this.at : this.firstAfter(thread, middle);
    const row = n => {
      const to = Math.max(0, Math.min(this.threads.length - 1, n));
      const at = this.firstAfter(this.threads[to], middle);
      this.goTo(to, at < this.threads[to].stretches.length ? at : -1, middle);
    };
    const keys = {
      ArrowUp: () => row(this.row - 1),
      ArrowDown: () => row(this.row + 1),
      ArrowLeft: () => last >= 0 && this.goTo(this.row, Math.max(0, near() - 1)),
      ArrowRight: () => last >= 0 &&
        this.goTo(this.row, Math.min(last, this.at < 0 ? near() : this.at + 1)),
      "+": () => this.zoom(NEARER),
      "=": () => this.zoom(NEARER),
      "-": () => this.zoom(1 / NEARER),
      0: () => this.whole(),
      Enter: () => {
        const stretch = thread.stretches[this.at];
        if (stretch && stretch.lock >= 0)
          this.choose(stretch.lock);
      },
    };
    if (!(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey)
      return;
    event.preventDefault();
    keys[event.key]();
  }
}
