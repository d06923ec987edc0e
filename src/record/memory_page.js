/* SPDX-License-Identifier: MIT */
/* Puts the page of tally memory together. Choosing an object filters the sets, the
 * threads, what drove out what, and the reuse. */

/* Places in a list of counts, as the page has them. */
const LOADS = 0, STORES = 1, LOAD_MISSES = 2, STORE_MISSES = 3, COHERENCE = 4, FALSE = 5,
  FIRST = 6, CAPACITY = 7, CONFLICT = 8;
/* Rows of the map of sets, threads of the matrix and findings that are drawn at first. */
const SET_ROWS = 12, THREADS_FIRST = 24, FINDINGS_FIRST = 12;

/* Returns a count: zeroes at the end of a list are left out. */
const countOf = (counts, n) => counts[n] || 0;

const accessesOf = counts => countOf(counts, LOADS) + countOf(counts, STORES);

const missesOf = counts => countOf(counts, LOAD_MISSES) + countOf(counts, STORE_MISSES);

const CLASSES = [
  { name: "coherence, true", colour: "--true", of: c => countOf(c, COHERENCE) - countOf(c, FALSE) },
  { name: "false sharing", colour: "--false", of: c => countOf(c, FALSE) },
  { name: "first touch", colour: "--first", of: c => countOf(c, FIRST) },
  { name: "capacity", colour: "--capacity", of: c => countOf(c, CAPACITY) },
  { name: "conflict", colour: "--conflict", of: c => countOf(c, CONFLICT) }];

const KIND_COLOURS = { "false-sharing": "--false", sharing: "--true", conflict: "--conflict",
  capacity: "--capacity", "first-touch": "--first", "sparse-lines": "--soft" };

/* The report, and what is chosen: numbers of an object and of a finding, a pair of
 * threads, and a row of shared lines; -1 or null: none. */
let memory;
const chosen = { object: -1, finding: -1, pair: null, row: null };
let objectTable, sharedTable, drivenTable, lineTable, rowsOfSets = SET_ROWS,
  threadsShown = THREADS_FIRST, findingsShown = FINDINGS_FIRST;

/* Returns the stacked bar of the classes of counts. */
const classBar = counts => partsBar(CLASSES.map(
  ({ name, colour, of }) => ({ name, colour, count: of(counts) })));

/* Returns the class with most misses, by which the column of bars sorts. */
const mainClass = counts => CLASSES.reduce(
  (a, b) => b.of(counts) > a.of(counts) ? b : a).name;

/* Returns the columns of misses and classes. */
const missGroups = () => [{
  title: `misses (${head.standing})`, hint: `loads and stores that missed the ${head.cache_title}`,
  columns: [
    { title: "misses", value: r => missesOf(r.counts), show: digits },
    { title: "%", value: r => missesOf(r.counts),
      show: v => percent(v, missesOf(memory.counts)) }],
}, {
  title: `of these (${head.standing})`, hint: "each miss has one class",
  columns: CLASSES.map(c => ({ title: c.name, value: r => c.of(r.counts),
    show: v => v === 0 ? "-" : digits(v) })),
}];

/* Returns the line below a table of counts. */
const missFoot = what => rows => {
  const sum = f => rows.reduce((all, row) => all + f(row.counts), 0);
  return [[`${digits(rows.length)} ${what}${rows.length === 1 ? "" : "s"}`,
    [digits(sum(missesOf)), percent(sum(missesOf), missesOf(memory.counts)),
      ...CLASSES.map(c => digits(sum(c.of)))]]];
};

const classColumn = { title: "classes", value: r => mainClass(r.counts),
  cell: r => classBar(r.counts) };

const nameOf = number => memory.objects[number].name;

function showObjects() {
  const used = o => o.fetched > 0 ? o.used / o.fetched : -1;
  objectTable.show({
    rows: memory.objects.filter(o => missesOf(o.counts) > 0),
    caption: "A click on a heading sorts, a click on an object shows only its sets, threads " +
      "and reuse.",
    columns: [
      { title: "object", value: o => o.name,
        cell: o => button(o.name, () => choose(o.number), "name") },
      classColumn,
      { title: "kind", value: o => o.kind, cell: o => o.kind }],
    groups: [...missGroups(), { title: "accesses (exact)",
      hint: "all loads and stores of the object", columns: [{ title: "accesses",
        value: o => accessesOf(o.counts), show: digits }] },
    { title: "bytes (modelled)", hint: "that came in, and what part was touched",
      columns: [{ title: "came in", value: o => o.fetched, show: digits },
        { title: "used", value: used,
          show: v => v < 0 ? "-" : `${Math.round(100 * v)} %` }] }],
    foot: rows => [["with misses", rows], ["without misses", memory.objects.filter(
      o => missesOf(o.counts) === 0 && accessesOf(o.counts) > 0)]].filter(
      ([, of], i) => i === 0 || of.length > 0).flatMap(([which, of]) =>
      missFoot("object")(of).map(([name, texts]) => [`${name} ${which}`, [...texts,
        digits(of.reduce((n, o) => n + accessesOf(o.counts), 0)),
        digits(of.reduce((n, o) => n + o.fetched, 0)), ""]])),
  }, 0);
}

/* Returns how the addresses of a line follow each other, in words. */
const addressText = l => l.addresses +
  (l.stride === null ? "" : ` ${l.stride < 0 ? "-" : "+"}${digits(Math.abs(l.stride))}`);

function showLines() {
  const place = l => l.file === null ? "" : `${baseName(l.file)}:${l.line}`;
  lineTable.show({
    rows: memory.lines,
    caption: "Of all objects. How addresses follow each other is exact, and of the " +
      "instruction of the line that misses most; strides are in bytes.",
    columns: [
      { title: "function", value: l => l.function || "", cell: l => l.function || "(no name)" },
      { title: "line", value: l => l.file === null ? "" : `${l.file}:${l.line}`, cell: place },
      { title: "addresses", value: addressText, cell: addressText },
      { title: "source", value: l => l.text || "", cell: l => l.text || "" },
      classColumn],
    groups: missGroups(),
    foot: missFoot("line"),
  }, 0);
}

/* Shows a paragraph where a line about the run holds. */
function tell(id, holds, text) {
  byId(id).hidden = !holds;
  byId(id).textContent = holds ? text : "";
}

function showFindings() {
  tell("findings-loader", memory.loader_most, `${digits(memory.loader)} misses ` +
    `(${percent(memory.loader, missesOf(memory.counts))}) are of the start by the dynamic ` +
    "loader, not of the program.");
  tell("findings-turns", memory.few_turns > 0, `Threads had ${digits(memory.few_turns)} ` +
    `turn${memory.few_turns === 1 ? "" : "s"} each at most: what they share shows more with ` +
    "shorter turns, as by --quantum 1000.");
  byId("findings-note").textContent = memory.findings.length === 0 && memory.loader > 0
    ? "Nothing of the program itself stands out."
    : memory.findings.length === 0
    ? "Nothing stands out: no object has misses of one class in more than 1 of 1,000 accesses."
    : `Counts are ${head.standing}. A click shows the object everywhere on the page.`;
  byId("findings").replaceChildren(...memory.findings.slice(0, findingsShown).map((finding, i) => {
    const item = element("li"), card = button("", () => chooseFinding(i));
    card.style.setProperty("--mark", `var(${KIND_COLOURS[finding.kind] || "--soft"})`);
    card.setAttribute("aria-pressed", String(chosen.finding === i));
    card.append(element("span", finding.kind.replace("-", " "), "soft"),
      element("strong", `${digits(finding.misses)} misses, ` +
        percent(finding.misses, missesOf(memory.counts))),
      element("span", finding.text));
    item.append(card);
    return item;
  }));
  byId("findings-more").hidden = memory.findings.length <= findingsShown;
}

/* Shows a row for all objects and one for each of the objects with most conflicts. */
function showSets() {
  const rows = memory.objects.filter(o => countOf(o.counts, CONFLICT) > 0 &&
    (chosen.object < 0 || o.number === chosen.object));
  rows.sort((a, b) => countOf(b.counts, CONFLICT) - countOf(a.counts, CONFLICT));
  const any = countOf(memory.counts, CONFLICT) > 0;
  const most = memory.sets.reduce((a, b) => Math.max(a, b), 1);
  byId("sets-part").hidden = !any;
  byId("sets-note").textContent = any
    ? `Conflict misses (${head.standing}) by set of the cache, ${digits(head.set_count)} sets ` +
      "from left to right."
    : "No conflict misses.";
  byId("sets-legend").replaceChildren(...[0, 1 / 16, 1 / 4, 1].map(share => legendEntry(
    share > 0 ? heatColour(share, 1) : "", digits(Math.ceil(share * most)))), element("span", "conflict misses of a set"));
  const line = (label, row, count) => {
    const tr = element("div", undefined, "set-row");
    tr.append(label, row.cells, element("span", digits(count)));
    label.title = label.textContent;
    return tr;
  };
  const tell = text => byId("sets-status").textContent = text;
  byId("sets").replaceChildren(
    line(element("span", "all objects"), new SetRow("all objects", memory.sets, most, tell),
      countOf(memory.counts, CONFLICT)),
    ...rows.slice(0, rowsOfSets).map(o => line(
      wrapped(button(o.name, () => choose(o.number), "name")),
      new SetRow(o.name, o.sets, most, tell), countOf(o.counts, CONFLICT))));
  byId("sets-status").textContent = "";
  if (rows.length > rowsOfSets) {
    const left = rows.length - rowsOfSets;
    const more = button(left > 100 ? `show 100 of ${digits(left)} more objects`
      : `show ${digits(left)} more object${left > 1 ? "s" : ""}`,
      () => {
        rowsOfSets += 100;
        showSets();
      });
    more.id = "sets-more";
    byId("sets").append(more);
  }
}

function wrapped(child) {
  const span = element("span");
  span.append(child);
  return span;
}

/* Returns the rows of shared lines of the chosen object, or of all. */
const sharedRows = () => memory.objects
  .filter(o => chosen.object < 0 || o.number === chosen.object)
  .flatMap(o => o.shared.map(([process, thread, from, lines, address, misses, other, asked,
    stored, used]) => ({ object: o.number, process, thread, from, lines, address, misses, other,
    used, asked: BigInt(`0x${asked}`), stored: BigInt(`0x${stored}`) })));

const severalProcesses = rows => new Set(rows.map(r => r.process)).size > 1;

/* Fills the matrix of threads: whose misses, and who stored to the line last. */
function showThreads(rows) {
  const several = severalProcesses(rows);
  const name = (process, thread) => several ? `process ${process} thread ${thread}`
    : `thread ${thread}`;
  const pairs = new Map(), threads = new Map();
  for (const row of rows) {
    const keys = [`${row.process} ${row.thread}`, `${row.process} ${row.from}`];
    keys.forEach((key, i) => {
      const old = threads.get(key) || { key, process: row.process,
        thread: i === 0 ? row.thread : row.from, misses: 0 };
      old.misses += row.misses;
      threads.set(key, old);
    });
    const pair = pairs.get(keys.join(" ")) || { misses: 0, other: 0 };
    pair.misses += row.misses;
    pair.other += row.other;
    pairs.set(keys.join(" "), pair);
  }
  const most = [...pairs.values()].reduce((n, p) => Math.max(n, p.misses), 1);
  const all = [...threads.values()].sort((a, b) => b.misses - a.misses);
  const drawn = all.slice(0, threadsShown)
    .sort((a, b) => a.process - b.process || a.thread - b.thread);
  const header = element("thead"), line = element("tr"), body = element("tbody");
  line.append(element("th", "misses of \\ of stores by"), ...drawn.map(t => {
    const th = element("th", name(t.process, t.thread));
    th.scope = "col";
    return th;
  }));
  header.append(line);
  for (const row of drawn) {
    const tr = element("tr"), th = element("th", name(row.process, row.thread));
    th.scope = "row";
    tr.append(th, ...drawn.map(column => {
      const td = element("td"), key = `${row.key} ${column.key}`, pair = pairs.get(key);
      if (!pair)
        return td;
      const b = button(digits(pair.misses), () => choosePair(key));
      b.append(element("small", `${percent(pair.other, pair.misses)} false`));
      b.setAttribute("aria-pressed", String(chosen.pair === key));
      b.setAttribute("aria-label", `${name(row.process, row.thread)} missed ` +
        `${digits(pair.misses)} times what ${name(column.process, column.thread)} stored, ` +
        `${digits(pair.other)} of these false sharing`);
      td.style.background = heatColour(pair.misses, most);
      td.style.color = inkOn(heatOf(pair.misses, most));
      td.append(b);
      return td;
    }));
    body.append(tr);
  }
  byId("threads").replaceChildren(header, body);
  if (all.length > threadsShown) {
    const caption = element("caption");
    caption.append(`the ${threadsShown} threads with most of ${digits(all.length)}: `,
      button("show all", () => {
        threadsShown = Infinity;
        showShared();
      }));
    byId("threads").prepend(caption);
  }
}

/* Shows the bytes of a row of shared lines. */
function showStrip(row) {
  if (!row) {
    byId("strip").replaceChildren();
    return;
  }
  byId("strip").replaceChildren(
    element("p", `${nameOf(row.object)}: ${digits(row.lines)} line${row.lines === 1 ? "" : "s"}, ` +
      `${row.lines === 1 ? "" : "shown together, the first "}at 0x${row.address}; ` +
      `${digits(row.misses)} misses (${head.standing}), ${digits(row.other)} of these false ` +
      `sharing; after ${digits(row.used)} of the false ones the thread used what others had ` +
      "stored to, before it missed the line again: these would come all the same if the bytes " +
      `were put apart. Asked for are bytes ${rangesOf(row.asked)}; stored to are bytes ` +
      `${rangesOf(row.stored)}; both: ${rangesOf(row.asked & row.stored)}.`),
    stripOf(`thread ${row.thread}`, `thread ${row.from}`, row.asked, row.stored));
}

function showShared() {
  const all = sharedRows();
  const rows = all.filter(r => chosen.pair === null ||
    `${r.process} ${r.thread} ${r.process} ${r.from}` === chosen.pair);
  byId("shared-part").hidden = all.length === 0;
  byId("shared-note").textContent = all.length === 0
    ? `No coherence misses${chosen.object < 0 ? "" : " of this object"}.`
    : `Coherence misses (${head.standing}): a row is the thread that missed, a column the ` +
      "thread that has stored to the line last. A click on a cell or a row shows its bytes.";
  showThreads(all);
  rows.sort((a, b) => b.misses - a.misses);
  if (!rows.includes(chosen.row))
    chosen.row = rows[0] || null;
  showStrip(chosen.row);
  sharedTable.show({
    rows,
    caption: "Lines of one object, by pairs of threads.",
    columns: [
      { title: "object", value: r => nameOf(r.object), cell: r => button(nameOf(r.object), () => {
        chosen.row = r;
        showStrip(r);
        sharedTable.fill();
      }, "name") },
      { title: "first line at", value: r => `0x${r.address}`, cell: r => `0x${r.address}` }],
    groups: [{ title: "who", hint: "numbers of processes and threads", columns: [
      { title: "process", value: r => r.process, show: digits },
      { title: "thread", value: r => r.thread, show: digits },
      { title: "stored by", value: r => r.from, show: digits }] },
    { title: `misses (${head.standing})`, hint: "coherence misses", columns: [
      { title: "misses", value: r => r.misses, show: digits },
      { title: "false", value: r => r.other, show: digits },
      { title: "then used", value: r => r.used, show: digits },
      { title: "lines", value: r => r.lines, show: digits }] }],
    foot: () => [],
  }, 3);
}

function showDriven() {
  const text = n => memory.texts[n];
  const place = d => `${text(d[2]) === null ? "(no name)" : text(d[2])}` +
    (text(d[3]) === null ? "" : ` (${baseName(text(d[3]))}:${d[4]})`);
  const by = d => d[0] === d[1] ? "itself" : nameOf(d[1]);
  byId("driven").hidden = memory.driven.length === 0;
  byId("driven-note").textContent = memory.driven.length === 0 ? "No line that was missed had been driven out."
    : chosen.object < 0 ? ""
    : "The lines of this object, and those of others that it drove out.";
  drivenTable.show({
    rows: memory.driven.filter(d => chosen.object < 0 || d[0] === chosen.object ||
      d[1] === chosen.object),
    caption: "The access that had driven the missed line out.",
    columns: [
      { title: "object", value: d => nameOf(d[0]),
        cell: d => button(nameOf(d[0]), () => choose(d[0]), "name") },
      { title: "driven out by", value: by,
        cell: d => button(by(d), () => choose(d[1]), "name") },
      { title: "in", value: place, cell: place }],
    groups: [{ title: `misses (${head.standing})`, hint: "of lines that were driven out",
      columns: [
        { title: "all", value: d => d[5] + d[6], show: digits },
        { title: "capacity", value: d => d[5], show: digits },
        { title: "conflict", value: d => d[6], show: digits }] }],
    foot: rows => [[`${digits(rows.length)} row${rows.length === 1 ? "" : "s"}`,
      [d => d[5] + d[6], d => d[5], d => d[6]].map(f =>
        digits(rows.reduce((sum, d) => sum + f(d), 0)))]],
  }, 0);
}

function showReuse() {
  const counts = chosen.object < 0 ? memory.reuse : memory.objects[chosen.object].reuse;
  const all = fillReuse(byId("reuse"), counts);
  byId("reuse").hidden = all === 0;
  byId("reuse-note").textContent = all === 0 ? "No line came back after others."
    : `${digits(all)} accesses to lines that were asked for before, but not last, by how much ` +
      "other data came in between; exact for a fully associative cache.";
}

/* Shows everything that follows from the chosen object. */
function showChosen() {
  byId("chosen").hidden = chosen.object < 0;
  byId("chosen-name").textContent = chosen.object < 0 ? ""
    : `Shown: ${nameOf(chosen.object)}`;
  objectTable.fill();
  showFindings();
  showSets();
  showShared();
  showDriven();
  showReuse();
}

/* Chooses an object; -1: all. */
function choose(object) {
  Object.assign(chosen, { object, finding: -1, pair: null, row: null });
  showChosen();
}

/* Chooses the object of a finding; a second time: all objects. The focus stays on the
 * card, which is drawn anew. */
function chooseFinding(number) {
  const off = chosen.finding === number;
  choose(off ? -1 : memory.findings[number].object);
  chosen.finding = off ? -1 : number;
  showFindings();
  byId("findings").children[number].firstChild.focus();
}

function choosePair(key) {
  chosen.pair = chosen.pair === key ? null : key;
  chosen.row = null;
  showShared();
  const pressed = byId("threads").querySelector("[aria-pressed=true]");
  if (pressed)
    pressed.focus();
}

function tellHead() {
  tellRun("memory", `Why data missed the ${head.cache_title} of ${head.machine} ` +
    `(${head.isa}): ${sizeText(head.cache_bytes)}, ${digits(head.cache_ways)} ` +
    `way${head.cache_ways === 1 ? "" : "s"}, lines of ${digits(head.cache_line)} bytes; ` +
    head.creator, [[head.heap !== null, `Heap by site not available: ${head.heap}.`]]);
}

function tellSum() {
  const misses = missesOf(memory.counts);
  const accesses = accessesOf(memory.counts);
  byId("sum").textContent = `${digits(misses)} misses (${head.standing}) of ` +
    `${digits(accesses)} accesses (exact), ${percent(misses, accesses)}`;
  byId("legend").replaceChildren(...CLASSES.map(({ name, colour, of }) => legendEntry(
    `var(${colour})`, `${name}: ${digits(of(memory.counts))} ` +
      `(${percent(of(memory.counts), misses)})`)));
}

function addControls() {
  byId("findings-more").textContent = `show all ${digits(memory.findings.length)} findings`;
  byId("findings-more").addEventListener("click", () => {
    findingsShown = Infinity;
    showFindings();
  });
  byId("all").addEventListener("click", () => choose(-1));
  addSearchKeys(() => {
    if (chosen.object >= 0 || chosen.pair !== null)
      choose(-1);
  });
  darkScheme.addEventListener("change", () => {
    showSets();
    showShared();
  });
}

async function start() {
  tellHead();
  memory = await jsonOf("memory");
  memory.objects.forEach((object, number) => object.number = number);
  objectTable = new ChoiceTable(byId("objects"), byId("search"),
    o => o.number === chosen.object);
  sharedTable = new ChoiceTable(byId("shared"), null, r => r === chosen.row);
  drivenTable = new Table(byId("driven"));
  lineTable = new Table(byId("lines"), byId("line-filter"));
  byId("main").hidden = false;
  tellSum();
  addControls();
  showObjects();
  showLines();
  showChosen();
  byId("loading").remove();
  /* For tests and timings: when the page could be used, in milliseconds. */
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
