/* SPDX-License-Identifier: MIT */
/* Heat: colours that grow darker on a light page and lighter on a dark one, and
 * that people tell apart who see no red or no green (viridis). */

const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/* Returns the parts of the colour of a count, of which `most` is the largest; the
 * root of its share, so that small counts can be seen. */
function heatOf(count, most) {
  const share = Math.sqrt(count / most);
  const place = (isDark() ? share : 1 - share) * (HEAT.length - 1);
  const from = Math.min(Math.floor(place), HEAT.length - 2);
  return HEAT[from].map((c, i) => Math.round(c + (HEAT[from + 1][i] - c) * (place - from)));
}

const heatColour = (count, most) => `rgb(${heatOf(count, most).join(" ")})`;

/* Returns the colour of text on a colour: the one of two with more contrast. */
function inkOn(parts) {
  const [r, g, b] = parts.map(p => p / 255)
    .map(p => p <= .04045 ? p / 12.92 : ((p + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b > .179 ? "#000" : "#fff";
}

/* Columns of pixels at most: a canvas cannot be of any width. */
const COLUMNS_MOST = 4096;

/* A row of the map of sets. `tell(text)` shows what a set has. */
class SetRow {
  constructor(label, counts, most, tell) {
    this.counts = counts;
    this.step = Math.ceil(head.set_count / COLUMNS_MOST);
    this.columns = Math.ceil(head.set_count / this.step);
    this.label = label;
    this.most = most;
    this.tell = tell;
    this.at = 0;
    this.canvas = element("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.place = element("span", undefined, "place");
    this.place.hidden = true;
    this.cells = element("span", undefined, "cells");
    this.cells.style.minWidth = `${this.columns}px`;
    this.cells.append(this.canvas, this.place);
    this.canvas.addEventListener("mousemove", e => this.show(
      Math.floor(e.offsetX / this.canvas.clientWidth * this.columns)));
    this.canvas.addEventListener("focus", () => this.show(this.at));
    for (const end of ["mouseleave", "blur"])
      this.canvas.addEventListener(end, () => this.place.hidden = true);
    this.canvas.addEventListener("keydown", e => this.key(e));
    this.draw();
  }

  /* Returns the misses of a column, which is of one set but in large caches. */
  countOf(column) {
    let sum = 0;
    for (let i = column * this.step; i < (column + 1) * this.step; i++)
      sum += this.counts[i] || 0;
    return sum;
  }

  draw() {
    this.canvas.width = this.columns;
    this.canvas.height = 1;
    const look = this.canvas.getContext("2d");
    for (let column = 0; column < this.columns; column++) {
      const count = this.countOf(column);
      if (count > 0) {
        look.fillStyle = heatColour(Math.min(count, this.most), this.most);
        look.fillRect(column, 0, 1, 1);
      }
    }
    this.canvas.setAttribute("aria-label", `${this.label}: conflict misses by set; ` +
      "the arrow keys go from set to set");
  }

  show(column) {
    this.at = Math.min(Math.max(column, 0), this.columns - 1);
    const first = this.at * this.step;
    const last = Math.min(first + this.step, head.set_count) - 1;
    const text = `${first === last ? `set ${first}` : `sets ${first}-${last}`}: ` +
      `${digits(this.countOf(this.at))} conflict misses — ${this.label}`;
    this.place.hidden = false;
    this.place.style.left = `${100 * this.at / this.columns}%`;
    this.place.style.width = `${100 / this.columns}%`;
    this.canvas.title = text;
    this.tell(text);
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -this.columns, End: this.columns };
    const step = steps[event.key];
    if (step === undefined)
      return;
    event.preventDefault();
    this.show(this.at + step);
  }
}

/* Returns numbers of bytes as ranges, such as "0-7, 12". */
function rangesOf(bits) {
  const parts = [];
  for (let i = 0; i < 64; i++) {
    const first = i;
    if (!(bits >> BigInt(i) & 1n))
      continue;
    while (i + 1 < 64 && bits >> BigInt(i + 1) & 1n)
      i++;
    parts.push(first === i ? `${i}` : `${first}-${i}`);
  }
  return parts.join(", ") || "none";
}

/* Returns a line of cells, one a byte. `mark(i)` returns the class of byte i. */
function byteCells(label, mark) {
  const cells = element("div", undefined, "bytes");
  cells.setAttribute("role", "img");
  cells.setAttribute("aria-label", label);
  for (let i = 0; i < 64; i++) {
    const cell = element("i", undefined, mark(i));
    cell.title = `byte ${i}`;
    cells.append(cell);
  }
  return cells;
}

/* Returns the bytes of a line of cache that a thread asks for, those that others
 * stored to, and those of both. */
function stripOf(asker, storer, asked, stored) {
  const strip = element("div", undefined, "strip"), both = asked & stored;
  const rule = byteCells("numbers of bytes", () => "");
  rule.className = "bytes rule";
  [...rule.children].forEach((cell, i) => cell.textContent = i % 8 === 0 ? String(i) : "");
  strip.append(element("span", "byte", "soft"), rule);
  for (const [text, bits, name] of [[`${asker} asks for`, asked, "asked"],
    [`stored to, last by ${storer}`, stored, "stored"], ["both", both, "both"]])
    strip.append(element("span", text), byteCells(`${text}: bytes ${rangesOf(bits)}`,
      i => bits >> BigInt(i) & 1n ? name : ""));
  return strip;
}

/* Returns a size in its largest whole unit. */
function sizeText(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes % 1024 === 0 && bytes > 0 && unit + 1 < units.length) {
    bytes /= 1024;
    unit++;
  }
  return `${digits(bytes)} ${units[unit]}`;
}

/* Fills a table with how soon lines come back: counts by powers of two of lines. */
function fillReuse(table, counts) {
  const all = counts.reduce((a, b) => a + b, 0), most = Math.max(...counts, 1);
  const header = element("thead"), line = element("tr"), body = element("tbody");
  for (const text of ["less than", "accesses", "%", "", "hits of a cache of this size", ""]) {
    const th = element("th", text);
    th.scope = "col";
    line.append(th);
  }
  header.append(line);
  const bar = (share, name) => {
    const td = element("td", undefined, name), i = element("i");
    i.style.width = `${100 * share}%`;
    td.append(i);
    return td;
  };
  let sum = 0, edge = false;
  const addEdge = () => {
    const tr = element("tr", undefined, "edge"), td = element("th",
      `above: what a fully associative cache of ${sizeText(head.cache_bytes)}, as the ` +
      `${head.cache_title}, would have`);
    td.colSpan = 6;
    tr.append(td);
    body.append(tr);
    edge = true;
  };
  const first = counts.findIndex(count => count > 0);
  for (let i = first; i >= 0 && i < counts.length; i++) {
    const size = head.cache_line * 2 ** i;
    if (!edge && size > head.cache_bytes)
      addEdge();
    const tr = element("tr"), name = element("th", sizeText(size));
    sum += counts[i];
    name.scope = "row";
    tr.append(name, element("td", digits(counts[i])), element("td", percent(counts[i], all)),
      bar(counts[i] / most, "bar"), element("td", percent(sum, all)), bar(sum / all, "bar sum"));
    body.append(tr);
  }
  if (!edge && all > 0)
    addEdge();
  table.replaceChildren(header, body);
  return all;
}
