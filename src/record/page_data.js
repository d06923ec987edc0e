/* SPDX-License-Identifier: MIT */
/* The data of the page of a record.
 *
 * A count is a Number where all sums of its event are exact as Numbers, else a
 * BigInt: arrays of both kinds are added up by the same lines. */

const head = JSON.parse(byId("head").textContent);

/* Reads the numbers of a section one after the other. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /* Returns the next number, which has at most 53 bits. */
  number() {
    let byte = this.bytes[this.at++];
    if (byte < 128)
      return byte;
    let value = byte & 127, factor = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte > 127);
    return value;
  }

  /* Returns the next number as a BigInt. */
  big() {
    let value = 0n, shift = 0n, byte;
    do {
      byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    return value;
  }

  /* Returns the next number with a sign. */
  signed() {
    const bits = this.number();
    return bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
  }

  bigSigned() {
    const bits = this.big();
    return bits & 1n ? -(bits + 1n >> 1n) : bits >> 1n;
  }

  /* Returns the next count of an event. */
  count(event) {
    return event.big ? this.bigSigned() : this.signed();
  }

  text() {
    const size = this.number();
    this.at += size;
    return new TextDecoder().decode(this.bytes.subarray(this.at - size, this.at));
  }
}

/* Returns a count that is written in decimal. */
const countOf = (event, text) => event.big ? BigInt(text) : Number(text);

/* Returns no count of an event. */
const zeroOf = event => event.big ? 0n : 0;

/* Returns an array of counts of an event, all 0. */
const newCounts = (event, size) =>
  event.big ? new BigInt64Array(size) : new Float64Array(size);

/* Reads the functions: their names, images and files, and the number of the
 * one that stands for callers that are not known. */
async function readFunctions() {
  const texts = await linesOf("texts");
  const reader = new Reader(await section("functions"));
  const unknown = reader.number(), count = reader.number(), all = [];
  for (let i = 0; i < count; i++) {
    const name = texts[reader.number()], image = texts[reader.number()];
    const file = texts[reader.number()];
    all.push({ number: i, name: name || nameless(image), image, file });
  }
  all[unknown].name = "(unknown callers)";
  return { texts, unknown, all };
}

/* Returns the name of code without one. */
function nameless(image) {
  return image === "" ? "(code of no file)" : `(no symbols in ${baseName(image)})`;
}

/* Lists the numbers 0 to keys.length - 1 by their keys: those with the key k are
 * items[start[k]] up to items[start[k + 1]], in order. Keys below 0 are left
 * out. */
function listByKey(keys, keyCount) {
  const start = new Int32Array(keyCount + 1), items = new Int32Array(keys.length);
  for (const key of keys)
    if (key >= 0)
      start[key + 1]++;
  for (let i = 0; i < keyCount; i++)
    start[i + 1] += start[i];
  const next = start.slice();
  for (let i = 0; i < keys.length; i++)
    if (keys[i] >= 0)
      items[next[keys[i]]++] = i;
  return { start, items };
}

/* Reads the tree of calls. A node has a greater number than its parent; the
 * parent of the outermost is -1. */
async function readTree(functionCount) {
  const reader = new Reader(await section("tree")), count = reader.number();
  const parent = new Int32Array(count), functionOf = new Int32Array(count);
  const inlined = new Uint8Array(count), roots = [];
  for (let i = 0; i < count; i++) {
    const distance = reader.number(), word = reader.number();
    parent[i] = distance === 0 ? -1 : i - distance;
    functionOf[i] = word >> 1;
    inlined[i] = word & 1;
    if (distance === 0)
      roots.push(i);
  }
  const tree = { count, parent, functionOf, inlined, roots };
  tree.below = listByKey(parent, count);
  tree.outermost = findOutermost(tree, functionCount);
  return tree;
}

/* Marks the nodes that have no node of their own function above them, so that
 * recursion counts once. */
function findOutermost(tree, functionCount) {
  const outermost = new Uint8Array(tree.count), above = new Int32Array(functionCount);
  const { start, items } = tree.below;
  const stack = tree.roots.slice().reverse();
  while (stack.length > 0) {
    const node = stack.pop();
    if (node < 0) {
      above[tree.functionOf[~node]]--;
      continue;
    }
    outermost[node] = above[tree.functionOf[node]]++ === 0 ? 1 : 0;
    stack.push(~node);
    for (let i = start[node]; i < start[node + 1]; i++)
      stack.push(items[i]);
  }
  return outermost;
}

let functions, tree;

/* Returns the counts of an event in a thread, or in all if it is -1: of each
 * node its own (self) and with all nodes below it (inclusive), the same of each
 * function, the total, and what no instruction has (elsewhere). */
async function readCosts(number, thread) {
  const event = head.events[number], self = newCounts(event, tree.count);
  const reader = new Reader(await section(`values-${number}`));
  for (let t = 0; t < head.threads.length; t++) {
    const taken = thread < 0 || thread === t;
    let node = -1;
    for (let distance; (distance = reader.number()) !== 0;) {
      node += distance;
      const value = reader.count(event);
      if (taken)
        self[node] += value;
    }
  }
  return addUp(event, self, totalOf(event, number, thread));
}

/* Returns the total of an event, or undefined where the record has none. */
function totalOf(event, number, thread) {
  if (thread < 0)
    return countOf(event, event.total);
  return head.has_totals ? countOf(event, head.threads[thread].totals[number]) : undefined;
}

/* Adds counts of nodes up. */
function addUp(event, self, total) {
  const inclusive = self.slice(), count = functions.all.length;
  const ofFunction = newCounts(event, count), withCalls = newCounts(event, count);
  let sum = zeroOf(event);
  for (let n = tree.count - 1; n >= 0; n--) {
    const f = tree.functionOf[n];
    if (tree.parent[n] >= 0)
      inclusive[tree.parent[n]] += inclusive[n];
    if (tree.outermost[n] === 1)
      withCalls[f] += inclusive[n];
    ofFunction[f] += self[n];
    sum += self[n];
  }
  if (total === undefined)
    total = sum;
  return { event, self, inclusive, ofFunction, withCalls, total, sum,
    elsewhere: total - sum };
}

const keptCosts = once(key => readCosts(...key.split(" ").map(Number)));

/* Returns the costs of an event in a thread; -1: in all. */
const costsOf = (number, thread) => keptCosts(`${number} ${thread}`);
