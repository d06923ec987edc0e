/* SPDX-License-Identifier: MIT */
/* The tables of functions and objects. */

/* Adds up what `value` returns of rows, in the kind of an event's counts. */
function sumOf(event, rows, value) {
  let sum = zeroOf(event);
  for (const row of rows)
    sum += value(row);
  return sum;
}

/* Returns the heading of an event's columns. */
const eventGroup = (event, columns) => ({
  title: `${event.asked} (${event.standing})`, hint: event.brief, columns });

/* Returns the columns of an event in the table of functions. */
function functionColumns(costs) {
  const columns = [
    { title: "self", value: f => costs.ofFunction[f.number], show: digits },
    { title: "self %", value: f => costs.ofFunction[f.number],
      show: v => percent(v, costs.total) }];
  if (head.has_callers)
    columns.push(
      { title: "incl.", value: f => costs.withCalls[f.number], show: digits },
      { title: "incl. %", value: f => costs.withCalls[f.number],
        show: v => percent(v, costs.total) });
  return eventGroup(costs.event, columns);
}

/* Returns the lines below a table: the sum of the rows that are shown, what is
 * elsewhere, the total. `self` returns the count of a row by costs. */
function footOf(all, what, inclusive, self) {
  const pair = (costs, count) => [digits(count), percent(count, costs.total),
    ...(inclusive ? ["", ""] : [])];
  return rows => [
    [`${digits(rows.length)} ${what}${rows.length === 1 ? "" : "s"}`,
      all.flatMap(c => pair(c, sumOf(c.event, rows, row => self(c, row))))],
    ["(elsewhere)", all.flatMap(c => pair(c, c.elsewhere))],
    ["total", all.flatMap(c => pair(c, c.total))]];
}

/* Shows the functions that have counts of the events. */
function showFunctions(table, all, openSource) {
  const rows = functions.all.filter(f => f.number !== functions.unknown &&
    all.some(c => c.ofFunction[f.number] != 0 || c.withCalls[f.number] != 0));
  table.show({
    rows,
    caption: "A click on a heading sorts, a click on a function shows its source.",
    columns: [
      { title: "function", value: f => f.name,
        cell: f => button(f.name, () => openSource(f.number), "name") },
      { title: "image", value: f => f.image, cell: f => baseName(f.image) },
      { title: "file", value: f => f.file, cell: f => baseName(f.file) }],
    groups: all.map(functionColumns),
    foot: footOf(all, "function", head.has_callers, (c, f) => c.ofFunction[f.number]),
  }, 0);
}

/* Reads the objects with their counts, and who misses on them. */
async function readObjects() {
  const reader = new Reader(await section("objects")), rows = [];
  const values = r => head.events.map(event => r.count(event));
  for (let left = reader.number(); left > 0; left--) {
    const number = reader.number(), allocations = reader.number();
    const bytes = reader.number(), kind = reader.text(), name = reader.text();
    rows.push({ number, allocations, bytes, kind, name, values: values(reader) });
  }
  const users = new Reader(await section("users")), by = new Map();
  for (let left = users.number(); left > 0; left--) {
    const object = users.number(), f = functions.all[users.number()];
    if (!by.has(object))
      by.set(object, []);
    by.get(object).push({ f, values: values(users) });
  }
  /* Object 0 is no object: an event of it alone is not of data. */
  const ofData = head.events.map((_, n) =>
    rows.some(row => row.number !== 0 && row.values[n] != 0));
  return { rows, users: by, ofData };
}

const keptObjects = once(readObjects);

/* Returns the columns of an event in the tables of objects. */
const objectColumns = ({ event, number, total }) => eventGroup(event, [
  { title: "self", value: row => row.values[number], show: digits },
  { title: "self %", value: row => row.values[number], show: v => percent(v, total) }]);

/* Returns what the tables of objects need of events: totals, and what is
 * elsewhere. */
function objectTotals(numbers, rows) {
  return numbers.map(number => {
    const event = head.events[number], total = countOf(event, event.total);
    const sum = sumOf(event, rows, row => row.values[number]);
    return { event, number, total, elsewhere: total - sum };
  });
}

/* Returns which of some events the tables of objects show: those of data, or, if
 * none of them is, the first that are. */
async function objectEvents(numbers) {
  const { ofData } = await keptObjects("all");
  const kept = numbers.filter(n => ofData[n]);
  return kept.length > 0 ? kept
    : head.events.map((_, n) => n).filter(n => ofData[n]).slice(0, COLUMNS_FIRST);
}

/* Shows the objects and their counts. */
async function showObjects(table, numbers, openObject) {
  const { rows } = await keptObjects("all");
  const all = objectTotals(numbers, rows);
  table.show({
    rows: rows.filter(row => numbers.some(n => row.values[n] != 0)),
    caption: "A click on an object shows whose accesses its counts are of.",
    columns: [
      { title: "object", value: o => o.name,
        cell: o => button(o.name, () => openObject(o), "name") },
      { title: "kind", value: o => o.kind, cell: o => o.kind },
      { title: "allocated", value: o => String(o.bytes), cell: o => o.allocations === 0 ? ""
        : `${digits(o.bytes)} bytes in ${digits(o.allocations)}` }],
    groups: all.map(objectColumns),
    foot: footOf(all, "object", false, (c, row) => row.values[c.number]),
  }, 0);
}

/* Shows the functions that have counts of an object. */
async function showUsers(table, object, numbers, openSource) {
  const { users } = await keptObjects("all");
  const rows = users.get(object.number) || [];
  const all = objectTotals(numbers, [object]);
  table.show({
    rows: rows.filter(row => numbers.some(n => row.values[n] != 0)),
    caption: "The parts of the object's counts, by function.",
    columns: [
      { title: "function", value: u => u.f.name,
        cell: u => button(u.f.name, () => openSource(u.f.number), "name") },
      { title: "image", value: u => u.f.image, cell: u => baseName(u.f.image) }],
    groups: all.map(objectColumns),
    foot: shown => footOf(all, "function", false, (c, row) => row.values[c.number])(shown)
      .slice(0, 1),
  }, 0);
}
