/* SPDX-License-Identifier: MIT */
/* The page of steps: a player that goes from step to step. All that it shows is in
 * its data, as the model had it: nothing is computed anew. */

const VIEWS = { sets: SetsView, branches: BranchesView, bubbles: BubblesView };
/* What is shown, and how far to trust it. */
const SHOWN = { sets: "Addresses are those of the program; hits, misses and sets are the model's own (modelled).",
  branches: "Directions are those of the program; counters and predictions are the model's own (modelled).",
  bubbles: "Blocks are those that ran; cycles are the model's own (modelled), and add up to those of the run." };
/* Steps that the list shows before and behind the one that is shown. */
const AROUND = 7;

/* The document, its view, the step that is shown, the set that alone is played, and
 * what plays. */
let data, view, at = 0, only = null, timer = null;

const inOnly = n => only === null || view.keyOf(data.steps[n].cache, data.steps[n].set) === only;

/* Returns the next step in a direction that a test holds for, or -1. */
function findStep(from, direction, test) {
  for (let n = from + direction; n >= 0 && n < data.steps.length; n += direction)
    if (inOnly(n) && test(data.steps[n]))
      return n;
  return -1;
}

/* Goes on by so many steps of those that are played. */
function move(count) {
  const direction = Math.sign(count);
  let to = at;
  for (let i = 0; i < Math.abs(count); i++) {
    const next = findStep(to, direction, () => true);
    if (next < 0)
      break;
    to = next;
  }
  show(to);
  return to;
}

function jump(row, direction) {
  stop();
  const from = at, to = findStep(at, direction, s => row.of(s, from));
  if (to >= 0)
    show(to);
  else
    byId("said").textContent =
      `There is no ${row.name.replace("next", direction < 0 ? "earlier" : "further")}.`;
}

function stop() {
  if (timer !== null)
    clearInterval(timer);
  timer = null;
  byId("play").textContent = "play";
  byId("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (timer !== null) {
    stop();
    return;
  }
  byId("play").textContent = "pause";
  byId("play").setAttribute("aria-pressed", "true");
  timer = setInterval(() => {
    const before = at;
    if (move(1) === before)
      stop();
  }, 1000 / Number(byId("speed").value));
}

function showWhere(step) {
  const box = byId("where"), place = step.place === null ? null : data.places[step.place];
  box.replaceChildren();
  if (place === null) {
    box.append(element("p", data.imported === null ? "The code of this step has no name."
      : `The trace was imported from ${data.imported}, which does not say what the instruction is.`, "soft"));
    return;
  }
  const name = place.function === null ? "code without a name"
    : place.inlined_into === null ? place.function : `${place.function}, copied into ${place.inlined_into}`;
  box.append(element("p", place.file === null ? name : `${name} (${baseName(place.file)}:${place.line})`, "name"));
  if (place.source !== null)
    box.append(element("div", place.source.trim(), "code"));
  box.append(element("div", `${hex(place.address)}  ${place.text === null ? "" : place.text}`, "code"));
  box.append(element("p", `Thread ${step.thread}, its instruction ${digits(step.instruction)}.`, "soft"));
}

function showList() {
  const body = element("tbody");
  const near = [];
  for (let n = at, i = 0; n >= 0 && i <= AROUND; i++, n = findStep(n, -1, () => true))
    near.unshift(n);
  for (let n = findStep(at, 1, () => true), i = 0; n >= 0 && i < AROUND; i++, n = findStep(n, 1, () => true))
    near.push(n);
  for (const n of near) {
    const s = data.steps[n], row = element("tr");
    row.append(element("td", digits(n + 1), "number"), ...view.columns.map(c => element("td", c.text(s),
      typeof c.className === "function" ? c.className(s) : c.className)));
    if (n === at)
      row.setAttribute("aria-current", "true");
    row.addEventListener("click", () => {
      stop();
      show(n);
    });
    body.append(row);
  }
  byId("list").tBodies[0].replaceWith(body);
}

/* Shows a step. */
function show(n) {
  at = Math.min(Math.max(n, 0), data.steps.length - 1);
  const step = data.steps[at];
  byId("slider").value = at + 1;
  byId("number").value = at + 1;
  byId("said").replaceChildren(`Step ${digits(at + 1)}. `, ...view.say(step));
  byId("now").replaceChildren(...view.now(step));
  showWhere(step);
  byId("sums").replaceChildren(...view.sums(at).map(([name, value, className]) => {
    const row = element("tr");
    row.append(element("th", name, className), element("td", digits(value)));
    return row;
  }));
  byId("all").replaceChildren(...view.all(at, chooseSet));
  showList();
  byId("back").disabled = byId("first").disabled = findStep(at, -1, () => true) < 0;
  byId("step").disabled = findStep(at, 1, () => true) < 0;
}

/* Plays the steps of one set alone, or of all (null). */
function chooseSet(key) {
  stop();
  only = key !== null && view.bySet.has(key) ? key : null;
  byId("set").value = only === null ? "" : String(only);
  if (!inOnly(at)) {
    const next = findStep(at, 1, () => true);
    at = next >= 0 ? next : findStep(at, -1, () => true);
  }
  show(at);
}

function setUpSets() {
  byId("only").hidden = false;
  const all = element("option", "all sets");
  all.value = "";
  byId("set").append(all, ...[...view.bySet.keys()].sort((a, b) => a - b).map(key => {
    const set = key % view.level.sets, cache = Math.floor(key / view.level.sets);
    const option = element("option", view.caches > 1 ? `${set} of cache ${cache}` : String(set));
    option.value = String(key);
    return option;
  }));
  byId("set").addEventListener("change", () => chooseSet(byId("set").value === "" ? null
    : Number(byId("set").value)));
}

/* Writes what part of the run the steps are of. */
function partText() {
  const { part, steps } = data, words = [plural(steps.length, "step")];
  if (part.in !== null)
    words.push(`of ${part.in}`);
  if (part.line !== null)
    words.push(`of ${part.line}`);
  if (part.from !== null)
    words.push(`from where ${part.from} is entered`);
  else if (part.first_instruction > 1)
    words.push(`from instruction ${digits(part.first_instruction)} on`);
  else
    words.push("from the start of the run");
  const ends = { program: "to its end", to: `to where ${part.to} is entered`,
    steps: `as many as were asked for (--steps ${part.most_steps}); the run would go on`,
    room: "as many as a page has room for; the run would go on",
    instructions: `over ${digits(part.instructions || 0)} instructions` };
  return `${words.join(" ")}, ${ends[part.ended]}. ${SHOWN[data.what]}`;
}

function aboutText() {
  const { level, predictor } = data, of = `${data.command.map(baseName).join(" ")} on ${data.machine}`;
  if (level)
    return `${of}: ${level.title} of ${plural(level.bytes, "byte")}, ${plural(level.sets, "set")} of ${
      plural(level.ways, "line")}, lines of ${plural(level.line_bytes, "byte")}, replacement ${level.replacement}`;
  if (predictor)
    return `${of}: direction predictor ${predictor.kind}, ${predictor.kind === "perceptron" ||
      predictor.kind === "tage" ? "as many bits as " : ""}${plural(predictor.entries, "counter")} of two bits${
      predictor.history > 0 ? `, history of ${plural(predictor.history, "branch", "branches")}` : ""}`;
  return `${of}: the cycles of its pipeline`;
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range]), select"))
    return;
  const presses = event.target.matches("button") && (event.key === " " || event.key === "Enter");
  const row = view.jumps.find(j => j.key === event.key.toLowerCase());
  const keys = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), PageUp: () => move(-10),
    PageDown: () => move(10), Home: () => show(inOnly(0) ? 0 : findStep(0, 1, () => true)),
    End: () => show(inOnly(data.steps.length - 1) ? data.steps.length - 1
      : findStep(data.steps.length - 1, -1, () => true)) };
  if (presses)
    return;
  if (event.key === " ")
    play();
  else if (row)
    jump(row, event.shiftKey ? -1 : 1);
  else if (keys[event.key]) {
    stop();
    keys[event.key]();
  } else
    return;
  event.preventDefault();
}

function setUp() {
  byId("now-title").textContent = view.title;
  byId("all-title").textContent = view.allTitle;
  byId("jumps").append(...view.jumps.map(row => {
    const b = button(row.name, () => jump(row, 1));
    b.title = row.key;
    return b;
  }));
  byId("keys").textContent = `${view.jumps.map(j => `${j.key}: ${j.name}`).join("; ")}; with Shift backwards`;
  const head = element("thead"), row = element("tr");
  row.append(element("th", "step"), ...view.columns.map(c => element("th", c.title)));
  head.append(row);
  byId("list").append(head, element("tbody"));
  byId("slider").max = byId("number").max = data.steps.length;
  byId("of").textContent = `of ${digits(data.steps.length)}`;
  const go = id => {
    stop();
    const value = Number(byId(id).value);
    if (Number.isInteger(value) && value >= 1)
      show(value - 1);
  };
  byId("slider").addEventListener("input", () => go("slider"));
  byId("number").addEventListener("change", () => go("number"));
  byId("first").addEventListener("click", () => {
    stop();
    show(inOnly(0) ? 0 : findStep(0, 1, () => true));
  });
  for (const [id, count] of [["back", -1], ["step", 1]])
    byId(id).addEventListener("click", () => {
      stop();
      move(count);
    });
  byId("play").addEventListener("click", play);
  byId("speed").addEventListener("change", () => {
    if (timer !== null) {
      stop();
      play();
    }
  });
  document.addEventListener("keydown", onKey);
}

async function start() {
  data = await jsonOf("steps");
  view = new VIEWS[data.what](data);
  document.title = `tally teach: ${data.command.map(baseName).join(" ")}`;
  byId("about").textContent = aboutText();
  byId("part").textContent = partText();
  setUp();
  if (data.what === "sets")
    setUpSets();
  show(0);
  byId("main").hidden = false;
  byId("loading").remove();
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
