/* SPDX-License-Identifier: MIT */
/* The page of the history of tally check: what moved, and a curve for each benchmark. */

/* Places in a point, as the page has it. */
const RESULT = 0, MEDIAN = 1, LEAST = 2, MOST = 3, BEFORE = 4, MOVED = 5, CHANGE = 6, VERDICT = 7;
/* Curves that are drawn at first, and then at a time. */
const CURVES_FIRST = 24;
/* Units of a curve's drawing: the whole, and the space beside the curve. */
const WIDTH = 640, HEIGHT = 176, LEFT = 76, RIGHT = 12, TOP = 10, BOTTOM = 22;
const VERDICTS = { soft: "beyond a soft limit", hard: "beyond a hard limit" };

/* The reports, their series, and what could not be counted. */
let past, curvesShown = CURVES_FIRST;

const labelOf = result => `${past.results[result][1].slice(0, 10)} ${past.results[result][0]}`;
const signed = change => change === null ? "from 0"
  : `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)} %`;

/* Returns the points of each key: those are joined, one key's at a time. */
function runsOf(points) {
  const runs = [], runOf = [];
  points.forEach((point, i) => {
    runOf[i] = point[BEFORE] === i ? runs.push([]) - 1 : runOf[point[BEFORE]];
    runs[runOf[i]].push(point);
  });
  return runs;
}

const short = n => Intl.NumberFormat("en-US",
  { notation: "compact", maximumSignificantDigits: 6 }).format(n);

/* A curve: the medians of a series over all reports, and their range. */
class Curve {
  constructor(series) {
    this.series = series;
    const { points } = series, last = points[points.length - 1];
    let first = points.length - 1;
    while (points[first][BEFORE] !== first)
      first = points[first][BEFORE];
    const from = points[first][MEDIAN];
    const whole = last[MEDIAN] === from ? 0 : from === 0 ? null : 100 * (last[MEDIAN] - from) / from;
    this.figure = element("figure", undefined, "curve");
    const caption = element("figcaption");
    caption.append(element("span", series.benchmark),
      element("span", `${digits(last[MEDIAN])}  ${signed(whole)} in all`));
    this.figure.append(caption, this.draw());
  }

  x(result) {
    const count = past.results.length;
    return LEFT + (WIDTH - LEFT - RIGHT) * (count === 1 ? .5 : result / (count - 1));
  }

  y(value) {
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - this.low) / (this.high - this.low));
  }

  draw() {
    const { points, benchmark, measure } = this.series;
    const least = Math.min(...points.map(p => p[LEAST])), most = Math.max(...points.map(p => p[MOST]));
    const space = (most - least) * .08 || Math.max(1, most * .01);
    this.low = byId("from-zero").checked ? 0 : Math.max(0, least - space);
    this.high = most + space;
    this.drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img", tabindex: 0, "aria-label": `${measure} of ${benchmark}, ${points.length} reports` });
    for (const tick of ticksOf(this.low, this.high)) {
      const y = this.y(tick), text = svg("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" });
      text.textContent = short(tick);
      this.drawing.append(svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }), text);
    }
    const ends = [...new Set([0, past.results.length - 1])];
    ends.forEach((result, i) => {
      const text = svg("text", { x: i === 0 && ends.length > 1 ? LEFT : this.x(result), y: HEIGHT - 6,
        "text-anchor": ends.length === 1 ? "middle" : i === 0 ? "start" : "end" });
      text.textContent = past.results[result][1].slice(0, 10);
      this.drawing.append(text);
    });
    for (const run of runsOf(points))
      this.drawRun(run);
    this.cursor = svg("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
    this.drawing.append(this.cursor);
    this.at = points.length - 1;
    this.drawing.addEventListener("pointermove", e => this.point(e));
    this.drawing.addEventListener("click", e => this.point(e));
    this.drawing.addEventListener("keydown", e => this.key(e));
    this.drawing.addEventListener("focus", () => this.choose(this.at));
    this.drawing.addEventListener("blur", () => this.cursor.setAttribute("visibility", "hidden"));
    this.drawing.addEventListener("pointerleave", () => {
      if (document.activeElement !== this.drawing)
        this.cursor.setAttribute("visibility", "hidden");
    });
    return this.drawing;
  }

  drawRun(run) {
    const path = (points, place) => points.map(
      p => `${this.x(p[RESULT]).toFixed(1)},${this.y(p[place]).toFixed(1)}`).join(" ");
    this.drawing.append(
      svg("polygon", { class: "band", points: `${path(run, MOST)} ${path([...run].reverse(), LEAST)}` }),
      svg("polyline", { class: "line", points: path(run, MEDIAN) }));
    for (const p of run)
      this.drawing.append(svg("circle", { cx: this.x(p[RESULT]), cy: this.y(p[MEDIAN]),
        r: p[MOVED] ? 4.5 : 2.2, class: p[MOVED] ? "moved" : "still" }));
  }

  /* Chooses the point next to the mouse. */
  point(event) {
    const box = this.drawing.getBoundingClientRect();
    const x = (event.clientX - box.left) * WIDTH / box.width;
    const { points } = this.series;
    let best = 0;
    points.forEach((p, i) => {
      if (Math.abs(this.x(p[RESULT]) - x) < Math.abs(this.x(points[best][RESULT]) - x))
        best = i;
    });
    this.choose(best);
  }

  key(event) {
    const last = this.series.points.length - 1;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: last }[event.key];
    if (to === undefined)
      return;
    event.preventDefault();
    this.choose(Math.min(Math.max(to, 0), last));
  }

  choose(number) {
    const { benchmark, measure, points } = this.series, p = points[number];
    const x = this.x(p[RESULT]);
    this.at = number;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", "visible");
    byId("chosen").textContent = `${benchmark}, ${labelOf(p[RESULT])}: ${measure} ` +
      `${digits(p[MEDIAN])}, layouts ${digits(p[LEAST])} to ${digits(p[MOST])}` +
      (p[BEFORE] === number ? (number > 0 ? "; counted in another way than before" : "")
        : `; ${signed(p[CHANGE])} since ${labelOf(points[p[BEFORE]][RESULT])}` +
          (p[MOVED] ? "" : p[CHANGE] === 0 ? "" : ", no more than layouts differ")) +
      (VERDICTS[p[VERDICT]] ? `; ${VERDICTS[p[VERDICT]]} of its baseline` : "");
  }
}

function showMoves() {
  const moves = past.series.flatMap(series => series.points.filter(p => p[MOVED])
    .map(point => ({ series, point })));
  byId("moves-note").textContent = moves.length === 0
    ? "Nothing moved by more than layouts differ."
    : "A measure moved where all layouts count more, or all count less, than in the report before.";
  new Table(byId("moves"), null).show({
    rows: moves,
    columns: [
      { title: "report", value: m => labelOf(m.point[RESULT]), cell: m => labelOf(m.point[RESULT]) },
      { title: "benchmark", value: m => m.series.benchmark, cell: m => m.series.benchmark },
      { title: "measure", value: m => m.series.measure, cell: m => m.series.measure }],
    groups: [{ title: "medians", hint: "of all layouts", columns: [
      { title: "before", value: m => m.series.points[m.point[BEFORE]][MEDIAN], show: digits },
      { title: "then", value: m => m.point[MEDIAN], show: digits },
      { title: "change", value: m => m.point[CHANGE] === null ? Infinity : m.point[CHANGE],
        show: c => signed(c === Infinity ? null : c) }] }],
    foot: () => [], caption: `${digits(moves.length)} of ${digits(
      past.series.reduce((n, s) => n + s.points.length, 0))} counts` }, -3);
  byId("moves").hidden = moves.length === 0;
}

function showLapses() {
  const rows = past.lapses;
  byId("lapses-part").hidden = rows.length === 0;
  if (rows.length === 0)
    return;
  const column = (title, value) => ({ title, value, cell: value });
  new Table(byId("lapses"), null).show({
    rows, columns: [column("report", l => labelOf(l[0])), column("benchmark", l => l[1]),
      column("status", l => l[2]), column("reason", l => l[3] || "")],
    groups: [], foot: () => [], caption: `${digits(rows.length)} in all` }, -4);
}

function showCurves() {
  const measure = byId("measure").value, word = byId("search").value.trim().toLowerCase();
  const wanted = past.series.filter(s => s.measure === measure &&
    s.benchmark.toLowerCase().includes(word));
  byId("curves").replaceChildren(...wanted.slice(0, curvesShown).map(s => new Curve(s).figure));
  const more = byId("curves-more"), left = wanted.length - curvesShown;
  more.hidden = left <= 0;
  more.textContent = `show ${digits(Math.min(left, CURVES_FIRST))} more of ${digits(left)} curves`;
}

async function start() {
  past = await jsonOf("history");
  const { results, series } = past;
  const benchmarks = new Set(series.map(s => s.benchmark)).size;
  byId("about").textContent = `${digits(results.length)} ${results.length === 1 ? "report" : "reports"} of ` +
    `${digits(benchmarks)} ${benchmarks === 1 ? "benchmark" : "benchmarks"}, from ${labelOf(0)} to ${labelOf(results.length - 1)}`;
  const measures = [...new Set(series.map(s => s.measure))];
  byId("measure").append(...measures.map(m => element("option", m)));
  if (measures.includes("cost"))
    byId("measure").value = "cost";
  const again = () => {
    curvesShown = CURVES_FIRST;
    showCurves();
  };
  byId("measure").addEventListener("change", again);
  byId("search").addEventListener("input", again);
  byId("from-zero").addEventListener("change", showCurves);
  byId("curves-more").addEventListener("click", () => {
    curvesShown += CURVES_FIRST;
    showCurves();
  });
  showMoves();
  showLapses();
  showCurves();
  byId("main").hidden = false;
  byId("loading").remove();
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
