/* SPDX-License-Identifier: MIT */
/* Puts the page of tally locks together. Choosing a lock shows its waits alone, in the
 * drawing and in the table of who waited. */

/* What threads did, in the order of their times. */
const STATES = [{ name: "ran", colour: "--running" }, ...WAITING];
/* What findings are about, and the colours of their cards. */
const FINDING_COLOURS = { waits: "--lock", deadlock: "--unended", abandoned: "--unended",
  standstill: "--unended" };

/* The report, and the lock that is chosen: its number, -1: none. */
let report, chosenLock = -1, timeline;
let threadTable, lockTable, waitTable, unendedTable;

const sumOf = numbers => numbers.reduce((a, b) => a + b, 0);

/* Returns the name of a thread, with its process where there are several. */
const threadName = (process, thread) => report.several ? `process ${process} thread ${thread}`
  : `thread ${thread}`;

/* Returns what a lock is, in words. */
function lockName(lock) {
  switch (lock.ended_by) {
  case "futex":
    return `${lock.class === "futex" ? "lock" : lock.class} ${lock.name}`;
  case "spin":
    return `spinning in ${lock.name}`;
  case "time":
    return `some time, in ${lock.name}`;
  case "thread":
    return `another thread, in ${lock.name}`;
  default:
    return `something outside, in ${lock.name}`;
  }
}

/* Returns the stacked bar of the times of states. */
const timeBar = time => partsBar(STATES.map(
  ({ name, colour }, i) => ({ name, colour, count: time[i] })));

/* Says until when a wait lasted, in words. */
function wakerText(lock, wait) {
  const [, , waker, by] = wait;
  if (waker < 0)
    return "";
  const name = threadName(lock.process, waker);
  const did = lock.ended_by === "spin" ? "had run" : lock.class === "join" ? "ended"
    : lock.class === "mutex" || lock.class === "rwlock" ? "let it go" : "let it go on";
  return ` until ${name} ${did}${by === "" ? "" : ` in ${by}`}`;
}

/* Returns what a thread did at a place of the drawing. */
function placeText(thread, stretch, cycle) {
  if (!stretch) {
    const at = Math.round(cycle);
    const what = at < thread.begin ? "had not begun" : at <= thread.end ? "ran"
      : thread.unended.length > 0 ? `waited to the end for ${unendedName(thread.unended[0])}`
        : "had ended";
    return `${thread.name}, cycle ${digits(Math.max(0, at))}: it ${what}`;
  }
  const waited = sumOf(stretch.time), lock = report.locks[stretch.lock];
  const wait = lock && lock.waits[stretch.wait];
  const what = !lock ? "" : `${lockName(lock)}${wait[1] === "" || lock.ended_by !== "futex" ? ""
    : `, in ${wait[1]}`}${wakerText(lock, wait)}`;
  const range = `${thread.name}, cycles ${digits(stretch.begin)} to ${digits(stretch.end)}: `;
  return stretch.count === 1
    ? `${range}${digits(waited)} cycles of waiting for ${what}`
    : `${range}${digits(stretch.count)} waits of ${digits(waited)} cycles` +
      `${what === "" ? "" : `; the longest for ${what}`}`;
}

const unendedName = u => u.waits_for === "futex"
  ? `${u.class === "futex" ? "lock" : u.class} ${u.name}`
  : u.waits_for === "time" ? "some time" : "something outside";

/* Makes the rows of the drawing: those threads that waited most. */
function timelineRows() {
  const last = new Map();
  for (const t of report.threads)
    last.set(t.process, Math.max(t.end, last.get(t.process) || 0));
  const rows = report.threads.map(t => ({ name: threadName(t.process, t.thread),
    process: t.process, number: t.thread, begin: t.begin, end: t.end, last: last.get(t.process),
    waited: sumOf(t.time.slice(1)), stretches: [], unended: [] }));
  for (const [thread, begin, end, count, lock, other, spin, number, wait] of report.stretches)
    rows[thread].stretches.push({ begin, end, count, time: [lock, other, spin], lock: number, wait });
  for (const u of report.unended) {
    const row = rows.find(r => r.process === u.process && r.number === u.thread);
    if (row)
      row.unended.push(u);
  }
  const drawn = new Set([...rows].sort((a, b) => b.waited - a.waited).slice(0, ROWS_MOST));
  byId("time-note").textContent = "Modelled cycles, estimated, of a computer where each thread has " +
    "a processor of its own." + (rows.length > ROWS_MOST
    ? ` The ${digits(ROWS_MOST)} threads that waited most, of ${digits(rows.length)}.` : "") +
    (report.stretches.some(s => s[3] > 1)
      ? " Where waits follow each other too closely to be kept one by one, a column shows which " +
        "part of its time was spent in them." : "");
  return rows.filter(r => drawn.has(r));
}

function showThreads() {
  threadTable.show({
    rows: report.threads,
    caption: "A click on a heading sorts.",
    columns: [
      { title: "thread", value: t => threadName(t.process, t.thread),
        cell: t => threadName(t.process, t.thread) },
      { title: "what it did", value: t => String(t.time[0] / (sumOf(t.time) || 1)),
        cell: t => timeBar(t.time) }],
    groups: [{ title: "cycles (estimated)", hint: "of the thread's own time", columns: [
      { title: "begin", value: t => t.begin, show: digits },
      { title: "end", value: t => t.end, show: digits },
      ...STATES.map(({ name }, i) => ({ title: name, value: t => t.time[i],
        show: v => v === 0 ? "-" : digits(v) }))] },
    { title: "how often", hint: "waits at locks", columns: [
      { title: "waits at locks", value: t => t.waits, show: digits }] }],
    foot: rows => [[`${digits(rows.length)} thread${rows.length === 1 ? "" : "s"}`, ["", "",
      ...STATES.map((_, i) => digits(rows.reduce((n, t) => n + t.time[i], 0))),
      digits(rows.reduce((n, t) => n + t.waits, 0))]]],
  }, 3);
}

function showLocks() {
  const all = report.threads.reduce((n, t) => n + sumOf(t.time), 0);
  lockTable.show({
    rows: report.locks,
    caption: "A click on a lock shows its waits alone.",
    columns: [
      { title: "what", value: lockName,
        cell: k => button(lockName(k), () => choose(k.number), "name") },
      { title: "address", value: k => k.address, cell: k => k.address }],
    groups: [{ title: "cycles (estimated)", hint: "of all threads", columns: [
      { title: "all waits", value: k => k.time, show: digits },
      { title: "%", value: k => k.time, show: v => percent(v, all) },
      { title: "longest", value: k => k.longest, show: digits }] },
    { title: "how often", hint: "", columns: [
      { title: "waits", value: k => k.count, show: digits },
      { title: "threads", value: k => k.threads, show: digits }] }],
    foot: () => [],
  }, 0);
}

function showWaits() {
  const rows = report.locks.filter(k => chosenLock < 0 || k.number === chosenLock)
    .flatMap(lock => lock.waits.map(wait => ({ lock, wait })));
  const waker = r => r.wait[2] < 0 ? "" : threadName(r.lock.process, r.wait[2]);
  waitTable.show({
    rows,
    caption: chosenLock < 0 ? "Of all locks." : `Of ${lockName(report.locks[chosenLock])}.`,
    columns: [
      { title: "for", value: r => lockName(r.lock),
        cell: r => button(lockName(r.lock), () => choose(r.lock.number), "name") },
      { title: "who", value: r => threadName(r.lock.process, r.wait[0]),
        cell: r => threadName(r.lock.process, r.wait[0]) },
      { title: "where", value: r => r.wait[1], cell: r => r.wait[1] || "?" },
      { title: "let go on by", value: waker, cell: waker },
      { title: "where", value: r => r.wait[3], cell: r => r.wait[3] }],
    groups: [{ title: "cycles (estimated)", hint: "of these waits", columns: [
      { title: "all waits", value: r => r.wait[5], show: digits },
      { title: "longest", value: r => r.wait[6], show: digits }] },
    { title: "how often", hint: "", columns: [
      { title: "waits", value: r => r.wait[4], show: digits }] }],
    foot: found => [[`${digits(found.length)} kind${found.length === 1 ? "" : "s"} of waits`,
      [digits(found.reduce((n, r) => n + r.wait[5], 0)), "",
        digits(found.reduce((n, r) => n + r.wait[4], 0))]]],
  }, 0);
}

function showUnended() {
  byId("unended-part").hidden = report.unended.length === 0;
  const holder = u => u.holder_ended ? "a thread that has ended"
    : u.holder < 0 ? "" : threadName(u.process, u.holder);
  unendedTable.show({
    rows: report.unended,
    caption: "No sum has these.",
    columns: [
      { title: "who", value: u => threadName(u.process, u.thread),
        cell: u => threadName(u.process, u.thread) },
      { title: "for", value: unendedName, cell: unendedName },
      { title: "where", value: u => u.at, cell: u => u.at || "?" },
      { title: "held by", value: holder, cell: holder }],
    groups: [{ title: "cycles (estimated)", hint: "", columns: [
      { title: "since", value: u => u.since, show: digits },
      { title: "until the end", value: u => u.time, show: digits }] }],
    foot: () => [],
  }, 1);
}

function showFindings() {
  byId("findings-note").textContent = report.findings.length === 0
    ? "Nothing stands out: no lock has 1 of 100 of the time that threads ran, spun or waited."
    : "Times are estimated. A click shows the lock everywhere on the page.";
  byId("findings").replaceChildren(...report.findings.map(finding => {
    const item = element("li"), lock = report.locks[finding.lock];
    const card = button("", () => lock && choose(lock.number === chosenLock ? -1 : lock.number));
    card.style.setProperty("--mark", `var(${FINDING_COLOURS[finding.kind]})`);
    card.setAttribute("aria-pressed", String(lock !== undefined && lock.number === chosenLock));
    card.append(element("span", lock ? lockName(lock) : finding.kind, "soft"));
    if (lock)
      card.append(element("strong", `${digits(lock.time)} cycles in ${digits(lock.count)} ` +
        `wait${lock.count === 1 ? "" : "s"}`));
    card.append(element("span", finding.text));
    item.append(card);
    return item;
  }));
}

/* Shows a lock alone; -1: all. */
function choose(lock) {
  chosenLock = lock;
  byId("chosen").hidden = lock < 0;
  byId("chosen-name").textContent = lock < 0 ? "" : lockName(report.locks[lock]);
  showFindings();
  showWaits();
  lockTable.fill();
  timeline.chosen(lock);
}

function tellSum() {
  const all = sumOf(head.time), busy = head.time[0] + head.time[3];
  byId("sum").textContent = `${digits(report.threads.length)} ` +
    `thread${report.threads.length === 1 ? "" : "s"}, ${digits(head.elapsed)} cycles from first to ` +
    `last (estimated); ${(head.elapsed > 0 ? busy / head.elapsed : 0).toFixed(2)} threads ran at a time`;
  const entries = STATES.map(({ name, colour }, i) => [colour,
    `${name}: ${digits(head.time[i])} (${percent(head.time[i], all)})`]);
  if (report.unended.length > 0)
    entries.push(["--unended", "waited to the end"]);
  byId("legend").replaceChildren(...entries.map(
    ([colour, text]) => legendEntry(`var(${colour})`, text)));
}

function addControls() {
  const act = { nearer: () => timeline.zoom(NEARER), further: () => timeline.zoom(1 / NEARER),
    earlier: () => timeline.pan(-.5), later: () => timeline.pan(.5),
    whole: () => timeline.whole(), all: () => choose(-1) };
  for (const [id, action] of Object.entries(act))
    byId(id).addEventListener("click", action);
  addSearchKeys(() => {
    if (chosenLock >= 0)
      choose(-1);
  });
}

async function start() {
  tellRun("locks", `What threads waited for, on ${head.machine} (${head.isa}); ${head.creator}`, [
    [head.lost, "Some waits or threads found no room, and are missing."],
    [head.waited_outside && !head.outside,
      "Something outside ended a wait: another run may differ."]]);
  report = await jsonOf("locks");
  report.several = new Set(report.threads.map(t => t.process)).size > 1;
  report.locks.forEach((lock, number) => lock.number = number);
  threadTable = new Table(byId("threads"));
  lockTable = new ChoiceTable(byId("locks"), byId("search"), k => k.number === chosenLock);
  waitTable = new Table(byId("waits"));
  unendedTable = new Table(byId("unended"));
  byId("main").hidden = false;
  timeline = new Timeline(byId("time"), timelineRows(),
    (thread, stretch, cycle) => byId("time-status").textContent =
      placeText(thread, stretch, cycle), lock => choose(lock));
  tellSum();
  addControls();
  showThreads();
  showLocks();
  showUnended();
  choose(-1);
  byId("loading").remove();
  /* For tests and timings: when the page could be used, in milliseconds. */
  document.documentElement.dataset.ready = String(performance.now());
}

start().catch(fail);
