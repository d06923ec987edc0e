/* SPDX-License-Identifier: MIT */
/* The page of tally curve and tally sweep: a plot over one axis, with a line for the
 * whole and one for each part, or one for each combination of settings. */

/* Lines that are drawn at first. */
const LINES_FIRST = 8;
const COLOURS = 8;
/* Units of the drawing beside the plot itself. */
const LEFT = 74, RIGHT = 16, TOP = 14, BOTTOM = 40;

/* What is shown, the chart of it, its lines, and where the cursor is. */
let shown, chart, lines, table, at = 0, width = 960, height = 460;

const whole = () => lines.find(l => l.whole);
const drawn = () => lines.filter(l => l.on);

/* Writes a number of the axis. */
function sizeText(n) {
  let unit = 0;
  for (; shown.x.bytes && n >= 1024 && unit < 3; unit++)
    n /= 1024;
  return `${Number(n.toPrecision(4))}${["", "K", "M", "G"][unit]}`;
}

/* Returns what counts are multiplied by to be shown. */
const factor = () => chart.units[Number(byId("unit").value)].factor;

/* Writes a count in the unit that is shown. */
function show(count) {
  if (count === null || count === undefined)
    return "-";
  const { factor: f, suffix } = chart.units[Number(byId("unit").value)];
  return f === 1 ? digits(count) : `${Number((count * f).toPrecision(4)).toLocaleString("en-US")}${suffix}`;
}

const short = n => Intl.NumberFormat("en-US",
  { notation: "compact", maximumSignificantDigits: 4 }).format(n);

/* The axes */

const isStacked = () => byId("stacked").checked && !byId("stacked-part").hidden;
const isLogarithmic = () => byId("scale").value === "log" && !isStacked();

function x(place) {
  const { xs, ordered } = chart, span = width - LEFT - RIGHT;
  if (xs.length === 1)
    return LEFT + span / 2;
  if (!ordered)
    return LEFT + span * place / (xs.length - 1);
  const [low, high] = [xs[0], xs[xs.length - 1]].map(Math.log2);
  return LEFT + span * (Math.log2(xs[place]) - low) / (high - low);
}

function y(value) {
  const { low, high } = chart, span = height - TOP - BOTTOM;
  if (!isLogarithmic())
    return TOP + span * (1 - value / high);
  const n = Math.max(value, low);
  return TOP + span * (1 - Math.log(n / low) / Math.log(high / low));
}

/* Returns round numbers between two: of a logarithmic scale powers of 10, or if these
 * are few 2 and 5 times these too. */
function ticks() {
  const { low, high } = chart;
  if (isLogarithmic()) {
    const powers = Math.log10(high / low), found = [];
    const times = powers > 4 ? [1] : [1, 2, 5];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      found.push(...times.map(n => n * 10 ** power));
    return found.filter(n => n >= low && n <= high);
  }
  return ticksOf(0, high);
}

/* Finds what the scale goes from and to. */
function scale() {
  const all = drawn().flatMap(l => [...l.ys, ...(l.highs || [])]).filter(n => n !== null)
    .map(n => n * factor());
  const least = Math.min(...all.filter(n => n > 0), Infinity);
  chart.high = (isStacked() ? Math.max(...whole().ys) * factor() : Math.max(...all, 0)) * 1.05 || 1;
  chart.low = least < chart.high ? Math.min(least * .9, chart.high / 10) : chart.high / 10;
}

/* The drawing */

function drawGrid(plot) {
  for (const tick of ticks()) {
    const text = svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" });
    text.textContent = short(tick);
    plot.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }), text);
  }
  let last = -Infinity;
  chart.labels.forEach((label, place) => {
    const isRound = !chart.ordered || chart.xs.length <= 24 || Number.isInteger(Math.log2(chart.xs[place]));
    if (!isRound || x(place) - last < 9 * (label.length + 1))
      return;
    last = x(place);
    const text = svg("text", { x: x(place), y: height - BOTTOM + 17, "text-anchor": "middle" });
    text.textContent = label;
    plot.append(svg("line", { class: "grid", x1: x(place), x2: x(place), y1: TOP, y2: height - BOTTOM }), text);
  });
  const name = svg("text", { x: (LEFT + width - RIGHT) / 2, y: height - 6, "text-anchor": "middle" });
  name.textContent = shown.x.name;
  plot.append(name);
  const own = chart.xs.indexOf(chart.own);
  if (own >= 0) {
    const text = svg("text", { x: x(own) + 4, y: TOP + 11 });
    text.textContent = "the machine's";
    plot.append(svg("line", { class: "own", x1: x(own), x2: x(own), y1: TOP, y2: height - BOTTOM }), text);
  }
}

/* Returns the places of points where the values are known, as runs. */
function known(values) {
  const runs = [];
  values.forEach((value, place) => {
    if (value === null)
      return;
    if (place === 0 || values[place - 1] === null)
      runs.push([]);
    runs[runs.length - 1].push(place);
  });
  return runs;
}

const path = (places, values) => places.map(
  place => `${x(place).toFixed(1)},${y(values[place] * factor()).toFixed(1)}`).join(" ");

function drawLine(plot, line) {
  if (line.highs)
    for (const run of known(line.highs))
      plot.append(svg("polygon", { class: "range", fill: line.colour,
        points: `${path(run, line.highs)} ${path([...run].reverse(), line.lows)}` }));
  for (const run of chart.ordered ? known(line.ys) : [])
    plot.append(svg("polyline", { class: "line", stroke: line.colour, points: path(run, line.ys),
      "stroke-dasharray": line.dashes }));
  if (chart.xs.length <= 24 || !chart.ordered)
    for (const place of known(line.ys).flat())
      plot.append(svg("circle", { cx: x(place), cy: y(line.ys[place] * factor()), r: 3, fill: line.colour }));
  const knee = chart.xs.indexOf(line.needs);
  if (knee >= 0)
    plot.append(svg("circle", { class: "knee", cx: x(knee), cy: y(line.ys[knee] * factor()), r: 5,
      stroke: line.colour }));
}

/* Draws the parts one upon another, and what is left of the whole above. */
function drawStack(plot) {
  let below = chart.xs.map(() => 0);
  const places = [...chart.xs.keys()];
  for (const line of drawn().filter(l => !l.whole)) {
    const above = below.map((n, i) => n + line.ys[i]);
    plot.append(svg("polygon", { class: "band", fill: line.colour,
      points: `${path(places, above)} ${path([...places].reverse(), below)}` }));
    below = above;
  }
  drawLine(plot, whole());
}

function draw() {
  const plot = byId("plot"), box = plot.getBoundingClientRect();
  width = Math.max(340, Math.min(1400, Math.round(box.width) || 960));
  height = width < 600 ? 340 : 460;
  plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
  plot.setAttribute("aria-label", `${chart.name} by ${shown.x.name}, ${drawn().length} lines`);
  plot.replaceChildren();
  scale();
  drawGrid(plot);
  if (isStacked())
    drawStack(plot);
  else
    [...drawn()].reverse().forEach(line => drawLine(plot, line));
  plot.append(svg("line", { class: "cursor", id: "cursor", y1: TOP, y2: height - BOTTOM }));
  choose(at);
}

/* Reading */

/* Chooses a place of the axis: shows there what each line has. */
function choose(place) {
  at = Math.min(Math.max(place, 0), chart.xs.length - 1);
  const cursor = byId("cursor");
  cursor.setAttribute("x1", x(at));
  cursor.setAttribute("x2", x(at));
  const texts = drawn().slice(0, 4).map(l => `${l.name} ${show(l.ys[at])}${
    l.highs && l.highs[at] !== l.lows[at] ? ` (${show(l.lows[at])} to ${l.highs[at] === null ? "more" : show(l.highs[at])})` : ""}`);
  const more = drawn().length - texts.length;
  byId("chosen").textContent = `${shown.x.name} ${chart.labels[at]}: ${texts.join("; ") || "no line is drawn"}` +
    (more > 0 ? `; and ${digits(more)} more below` : "");
  table.fill();
}

function nearest(event) {
  const box = byId("plot").getBoundingClientRect();
  const where = (event.clientX - box.left) * width / box.width;
  let best = 0;
  chart.xs.forEach((_, place) => {
    if (Math.abs(x(place) - where) < Math.abs(x(best) - where))
      best = place;
  });
  choose(best);
}

function key(event) {
  const last = chart.xs.length - 1;
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
  if (to === undefined)
    return;
  event.preventDefault();
  choose(to);
}

/* The lines */

/* Returns the cell with a line's name, and what switches the line on and off. */
function nameCell(line) {
  const label = element("label"), box = element("input"), colour = element("i");
  box.type = "checkbox";
  box.checked = line.on;
  box.addEventListener("change", () => {
    line.on = box.checked;
    draw();
    [...byId("lines").querySelectorAll("input")].find(b => b.dataset.line === String(line.number))?.focus();
  });
  box.dataset.line = line.number;
  colour.style.background = line.on ? line.colour : "none";
  label.append(box, colour, element("span", line.name));
  return label;
}

function showTable() {
  const columns = [{ title: "line", value: l => l.name, cell: nameCell }];
  if (lines.some(l => l.kind))
    columns.push({ title: "kind", value: l => l.kind || "", cell: l => l.kind || "" });
  const group = { title: chart.name, hint: "at the size of the cursor", columns: [
    { title: "at the cursor", value: l => l.ys[at] ?? -1, show: n => show(n < 0 ? null : n) }] };
  if (whole())
    group.columns.push({ title: "share", value: l => l.ys[at], show: n => percent(n, whole().ys[at]) });
  if (lines.some(l => l.first))
    group.columns.push({ title: "first touches", value: l => l.first || 0, show: n => show(n) });
  if (lines.some(l => l.needs !== undefined))
    group.columns.push({ title: "needs", value: l => l.needs || 0, show: n => n === 0 ? "-" : sizeText(n) });
  table.show({ rows: lines, columns, groups: [group], foot: () => [],
    caption: `${digits(lines.length)} in all` }, 0);
}

function showChart() {
  chart = shown.charts[Number(byId("chart").value)];
  lines = chart.lines.map((line, number) => ({ ...line, number, on: number <= LINES_FIRST,
    colour: line.whole ? "var(--ink)" : `var(--line-${(number - (chart.lines[0].whole ? 1 : 0)) % COLOURS + 1})`,
    dashes: number > COLOURS ? "7 4" : "none" }));
  byId("stacked-part").hidden = !whole() || lines.length < 2;
  const unit = byId("unit"), before = unit.value;
  unit.replaceChildren(...chart.units.map((u, i) => {
    const option = element("option", u.name);
    option.value = i;
    return option;
  }));
  unit.value = chart.units[before] ? before : 0;
  byId("unit-part").hidden = chart.units.length < 2;
  at = Math.max(0, chart.xs.indexOf(chart.own));
  showTable();
  draw();
}

function switchLines(on) {
  lines.forEach((line, number) => line.on = on(number) || (line.whole && isStacked()));
  draw();
}

async function start() {
  shown = await jsonOf("plot");
  byId("title").textContent = document.title = shown.title;
  byId("about").textContent = shown.about;
  for (const part of ["words", "notes"]) {
    byId(part).append(...shown[part].map(text => element("li", text)));
    byId(`${part}-part`).hidden = shown[part].length === 0;
  }
  byId("chart").append(...shown.charts.map((c, i) => {
    const option = element("option", c.name);
    option.value = i;
    return option;
  }));
  byId("chart-part").hidden = shown.charts.length < 2;
  table = new Table(byId("lines"), byId("search"));
  byId("main").hidden = false;
  byId("chart").addEventListener("change", showChart);
  for (const name of ["unit", "scale", "stacked"])
    byId(name).addEventListener("change", draw);
  byId("first").addEventListener("click", () => switchLines(n => n <= LINES_FIRST));
  byId("every").addEventListener("click", () => switchLines(() => true));
  byId("none").addEventListener("click", () => switchLines(() => false));
  const plot = byId("plot");
  plot.addEventListener("pointermove", nearest);
  plot.addEventListener("click", nearest);
  plot.addEventListener("keydown", key);
  window.addEventListener("resize", draw);
  showChart();
  byId("loading").remove();
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
