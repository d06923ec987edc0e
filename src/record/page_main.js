/* SPDX-License-Identifier: MIT */
/* Puts the parts of the page together. */

/* The events of the tables at first: up to four, as many as fit beside the names. */
const COLUMNS_FIRST = 4, NAMES_WIDTH = 700, COLUMNS_WIDTH = 320;

/* What is shown: numbers of events and of a thread (-1: all). */
const shown = { event: 0, thread: -1, columns: [] };

let graph, code, table, objects, users, object;

let underWay = 0;

/* Returns a function that does the same, and marks the page as busy until what it
 * began has come to its end. */
function marked(work) {
  return async (...values) => {
    underWay++;
    document.body.setAttribute("aria-busy", "true");
    try {
      return await work(...values);
    } finally {
      document.body.setAttribute("aria-busy", String(--underWay > 0));
    }
  };
}

/* Returns the events of the tables: the chosen one first. */
const tableEvents = () =>
  [shown.event, ...shown.columns.filter(number => number !== shown.event)];

const chosenEvent = () => head.events[shown.event];

/* Writes the line of a frame. */
function tell(frame) {
  if (!frame)
    return;
  const total = graph.root.value, f = functions.all[frame.function];
  const parts = [`${digits(frame.value)} ${chosenEvent().asked} ` +
    `(${percent(frame.value, total)})`, `self ${digits(frame.self)} ` +
    `(${percent(frame.self, total)})`];
  if (head.instructions >= 0 && head.instructions !== shown.event && frame.base > 0)
    parts.push(`${rateText(Number(frame.value) / Number(frame.base))} per 1000 instructions`);
  const place = f && f.image !== "" ? ` — ${[baseName(f.image), f.file].filter(
    text => text !== "").join(", ")}` : "";
  byId("status").textContent = `${frame.label}${frame.inlined ? " (inlined)" : ""}: ` +
    `${parts.join(", ")}${place}`;
}

/* Writes a rate as events per 1000 of the base, with three digits. */
function rateText(rate) {
  const value = 1000 * rate, size = Math.abs(value);
  return size >= 100 || size === 0 ? digits(Math.round(value))
    : size >= .001 ? value.toFixed(2 - Math.floor(Math.log10(size))) : value.toExponential(1);
}

/* Returns whether colours are by rate, which needs the instructions' counts. */
const isByRate = () => byId("colour").value === "rate";

/* Returns how frames are coloured, and writes what the colours are. */
function colouring(root) {
  switch (byId("colour").value) {
  case "rate":
    legendOfRate(root);
    return colourByRate(root);
  case "function":
    byId("legend").replaceChildren();
    return colourByFunction;
  default:
    legendOfImages();
    return colourByImage;
  }
}

function legendOfImages() {
  const images = imageNumbers().slice(0, 12);
  byId("legend").replaceChildren(...images.map(image => legendEntry(
    shade(hueOfImage(image), isDark()), image === "" ? "code of no file" : baseName(image))));
}

function legendOfRate(root) {
  const whole = Number(root.value) / Number(root.base);
  const entries = [-1, -.5, 0, .5, 1].map(place => legendEntry(
    rateColour(place, isDark()), rateText(whole * 8 ** place)));
  byId("legend").replaceChildren(
    `${chosenEvent().asked} per 1000 instructions: `, ...entries);
}

/* Draws the graph of the chosen event, thread and kind. What is zoomed into stays
 * unless the graph is of another kind. */
const drawGraph = marked(async (keepZoom = true) => {
  const isLast = turnOf("graph");
  const costs = await costsOf(shown.event, shown.thread);
  const base = head.instructions >= 0 ? await costsOf(head.instructions, shown.thread)
    : undefined;
  if (!isLast())
    return;
  const view = byId("view").value;
  const root = (view === "inverted" ? invertedGraph : callGraph)(costs, base);
  graph.show(root, colouring(root), view === "up", keepZoom);
  tellFound(costs);
});

/* Marks the functions that have the searched text in their names. */
const search = marked(async () => {
  const word = byId("search").value.trim().toLowerCase();
  graph.mark(word === "" ? null : Uint8Array.from(functions.all,
    f => f.name.toLowerCase().includes(word) ? 1 : 0));
  tellFound(await costsOf(shown.event, shown.thread));
});

/* Writes what part of the event is in functions that the search found. */
function tellFound(costs) {
  if (!graph.marks) {
    byId("found").textContent = "";
    return;
  }
  const count = graph.marks.reduce((sum, mark) => sum + mark, 0);
  const sum = sumOfMarked(costs, graph.marks);
  byId("found").textContent = `${digits(count)} function${count === 1 ? "" : "s"} and what ` +
    `they call: ${digits(sum)} (${percent(sum, costs.total)})`;
}

/* What the standing of an event says, in doc/glossary.md's words. */
const STANDINGS = {
  exact: "equal to what the processor would count in user mode",
  modelled: "follows from a model of caches, TLBs or predictors",
  estimated: "follows from a model of timing",
  idle: "cannot be raised by this model",
};

/* Says what is known of the chosen event. */
async function tellStanding() {
  const isLast = turnOf("standing"), event = chosenEvent();
  const costs = await costsOf(shown.event, shown.thread);
  if (!isLast())
    return;
  const brief = event.brief === "" ? "" : ` — ${event.brief}`;
  const name = event.asked === event.name ? "" : ` (${event.name})`;
  byId("standing").textContent = `${digits(costs.total)} ${event.asked}${name}, ` +
    `${event.standing}; elsewhere ${digits(costs.elsewhere)}${brief}`;
  byId("standing-note").textContent = (STANDINGS[event.standing]
    ? `${event.standing}: ${STANDINGS[event.standing]}; ` : "") +
    "elsewhere: what no instruction raised";
}

async function drawTables() {
  const events = tableEvents(), isLast = turnOf("tables");
  const all = await Promise.all(events.map(n => costsOf(n, shown.thread)));
  if (!isLast())
    return;
  showFunctions(table, all, openSource);
  if (head.has_objects)
    await drawObjects();
}

async function drawObjects() {
  const isLast = turnOf("objects");
  const events = await objectEvents(tableEvents());
  if (!isLast())
    return;
  const lacks = events.includes(shown.event) ? ""
    : `${chosenEvent().asked} is not told by object: the table has events that are. `;
  byId("objects-note").textContent = lacks + (head.heap_is_whole
    ? "A static program: its allocator's blocks are not told apart." : "");
  await showObjects(objects, events, openObject);
  if (object)
    await showUsers(users, object, events, openSource);
}

const openObject = marked(async chosen => {
  object = chosen;
  byId("users-part").hidden = false;
  byId("users-title").textContent = `Whose accesses: ${object.name}`;
  await showUsers(users, object, await objectEvents(tableEvents()), openSource);
  byId("users-title").focus();
});

const openSource = marked(number => code.open(number, tableEvents()));

/* Shows another event everywhere. */
const chooseEvent = marked(async number => {
  shown.event = number;
  byId("event").value = String(number);
  await Promise.all([drawGraph(), tellStanding(), drawTables()]);
  if (code.number !== undefined)
    await code.show(code.number, tableEvents());
});

const chooseThread = marked(async number => {
  shown.thread = number;
  byId("thread").value = String(number);
  await Promise.all([drawGraph(), tellStanding(), drawTables()]);
});

/* Adds the boxes that choose the events of the tables. */
function addColumnBoxes() {
  const fit = Math.floor((innerWidth - NAMES_WIDTH) / COLUMNS_WIDTH);
  shown.columns = head.events.map((_, n) => n)
    .slice(0, Math.min(Math.max(fit, 1), COLUMNS_FIRST));
  head.events.forEach((event, number) => {
    const label = element("label"), box = element("input");
    box.type = "checkbox";
    box.checked = shown.columns.includes(number);
    box.addEventListener("change", () => {
      shown.columns = shown.columns.filter(n => n !== number);
      if (box.checked)
        shown.columns.push(number);
      chooseEvent(shown.event);
    });
    label.append(box, ` ${event.asked} (${event.standing})`);
    label.title = event.brief;
    byId("column-boxes").append(label);
  });
}

/* Fills a list of choices. */
function addOptions(select, texts, first) {
  texts.forEach((text, i) => {
    const option = element("option", text);
    option.value = i + first;
    select.append(option);
  });
}

/* Says what a reader must know of the whole record. */
function addNotes() {
  const notes = [
    [head.cut, "The record is cut short: the run went on after its last chunk."],
    [head.interrupted, "The run was interrupted."],
    [head.partial, "Counts of a part of the run are missing."],
    [head.side_by_side, "Threads or processes ran side by side: another run has other counts."],
    [head.outside, "Something outside ended a wait: another run may have other counts."],
    [head.signalled, "A signal came from outside: another run may have other counts."],
    [head.left_early, "Blocks of code were left before their end: all counts are estimated."],
    [head.events.some(e => e.big), "Counts are exact to the last digit; shares and widths are " +
      "rounded."]];
  for (const [holds, text] of notes)
    if (holds)
      byId("notes").append(element("li", text));
}

/* Says what the graph cannot show. */
function addGraphNote() {
  byId("graph-note").textContent = head.has_callers ? ""
    : "The record has no callers (tally record --no-callers), so that the graph is flat: " +
      "functions, and what the compiler copied into them.";
  const rate = byId("colour").querySelector("[value=rate]");
  if (head.instructions < 0) {
    rate.disabled = true;
    rate.textContent += ": the page has no event of instructions";
  }
}

/* Names the thread of a row of the head. */
const threadName = t => `${baseName(t.program)} (process ${t.pid}), thread ${t.thread}`;

function addControls() {
  addOptions(byId("event"), head.events.map(e => `${e.asked} (${e.standing})`), 0);
  byId("thread-label").hidden = head.threads.length < 2;
  addOptions(byId("thread"), ["all threads", ...head.threads.map(threadName)], -1);
  byId("event").addEventListener("change", e => chooseEvent(Number(e.target.value)));
  byId("thread").addEventListener("change", e => chooseThread(Number(e.target.value)));
  byId("view").addEventListener("change", () => drawGraph(false));
  byId("colour").addEventListener("change", () => drawGraph());
  byId("search").addEventListener("input", search);
  byId("search").addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === "Escape")
      byId("graph").focus();
  });
  byId("reset").addEventListener("click", () => {
    byId("search").value = "";
    search();
    graph.reset();
  });
  document.addEventListener("keydown", event => {
    if (event.key !== "/" || event.target.matches("input, select"))
      return;
    event.preventDefault();
    byId("search").focus();
  });
  darkScheme.addEventListener("change", () => drawGraph());
}

/* Says which command was recorded, and on what. */
function tellRecord() {
  const command = head.command.join(" ");
  document.title = `${command} — tally report`;
  byId("title").textContent = command;
  byId("about").textContent = `on ${head.machine} (${head.isa}` +
    `${head.cpu ? `, ${head.cpu}` : ""}); ${head.creator}`;
}

function addObjects() {
  byId("objects-part").hidden = !head.has_objects;
  objects = new Table(byId("objects"), byId("object-filter"));
  users = new Table(byId("users"));
}

async function start() {
  tellRecord();
  addNotes();
  functions = await readFunctions();
  tree = await readTree(functions.all.length);
  graph = new Graph(byId("graph"), tell, openSource);
  code = new CodeView();
  table = new Table(byId("functions"), byId("function-filter"));
  addObjects();
  addGraphNote();
  addControls();
  addColumnBoxes();
  if (imageNumbers().length < 2)
    byId("colour").value = "function";
  await chooseEvent(0);
  byId("loading").remove();
  /* For tests and timings: when the page could be used, in milliseconds. */
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
