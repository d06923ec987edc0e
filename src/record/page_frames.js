/* SPDX-License-Identifier: MIT */
/* The frames of a graph, which are made as they are drawn: a frame knows its
 * value and finds the frames below it when they are asked for.
 *
 * { label, function (or -1), value, self, base (what a rate is by), parent,
 *   depth, kids() } */

/* Returns the frames below one, largest first, which are made once. */
function kidsOf(frame) {
  if (frame.kids === undefined) {
    frame.kids = frame.open();
    frame.kids.sort((a, b) => a.value < b.value ? 1 : a.value > b.value ? -1
      : a.label < b.label ? -1 : 1);
    for (const kid of frame.kids) {
      kid.parent = frame;
      kid.depth = frame.depth + 1;
    }
  }
  return frame.kids;
}

/* Returns the frame of what no instruction has, alone in a list. */
function elsewhereFrames(costs) {
  if (costs.elsewhere == 0)
    return [];
  return [{ label: "(elsewhere)", function: -1, value: costs.elsewhere,
    self: costs.elsewhere, open: () => [] }];
}

/* Returns the frame of a node of the tree of calls. */
function nodeFrame(node, costs, base) {
  const { start, items } = tree.below;
  const number = tree.functionOf[node];
  return {
    label: functions.all[number].name,
    function: number,
    inlined: tree.inlined[node] === 1,
    value: costs.inclusive[node],
    self: costs.self[node],
    base: base && base.inclusive[node],
    open: () => Array.from(items.subarray(start[node], start[node + 1]),
      kid => nodeFrame(kid, costs, base)),
  };
}

/* Returns the outermost frame: that of the whole program. */
function rootFrame(costs, base, open) {
  return { label: "all", function: -1, value: costs.total, self: costs.elsewhere,
    base: base && base.total, parent: null, depth: 0,
    open: () => [...open(), ...elsewhereFrames(costs)] };
}

/* Returns the graph of callers and what they call. */
function callGraph(costs, base) {
  return rootFrame(costs, base,
    () => tree.roots.map(node => nodeFrame(node, costs, base)));
}

/* Returns frames of nodes grouped by the function of the node that `at` has for
 * each: there the calls have got to on their way from a function out. */
function groupFrames(nodes, at, costs, base, own) {
  const groups = new Map();
  for (let i = 0; i < nodes.length; i++) {
    if (at[i] < 0)
      continue;
    const number = tree.functionOf[at[i]];
    let group = groups.get(number);
    if (group === undefined)
      groups.set(number, group = { nodes: [], at: [] });
    group.nodes.push(nodes[i]);
    group.at.push(at[i]);
  }
  return Array.from(groups, ([number, group]) =>
    callerFrame(number, group, costs, base, own));
}

/* Returns the frame of a function on the way from functions out to their
 * callers. Where `own` is set the frame is of the function whose costs these
 * are. */
function callerFrame(number, { nodes, at }, costs, base, own) {
  const zero = zeroOf(costs.event);
  const sum = values => nodes.reduce((all, node) => all + values[node], zero);
  const value = sum(costs.self);
  return {
    label: functions.all[number].name,
    function: number,
    value,
    self: own ? value : zero,
    base: base && nodes.reduce((all, node) => all + Number(base.self[node]), 0),
    open: () => groupFrames(nodes, at.map(node => tree.parent[node]), costs, base, false),
  };
}

/* Returns the graph of functions by their own costs, and who calls them. */
function invertedGraph(costs, base) {
  return rootFrame(costs, base, () => {
    const nodes = [];
    for (let n = 0; n < tree.count; n++)
      if (costs.self[n] != 0 || (base && base.self[n] != 0))
        nodes.push(n);
    return groupFrames(nodes, nodes, costs, base, true);
  });
}

/* Returns the sum of all nodes that are in a function of `marks` or below one:
 * each count once, however many of the functions are on its path. */
function sumOfMarked(costs, marks) {
  const under = new Uint8Array(tree.count);
  let sum = zeroOf(costs.event);
  for (let n = 0; n < tree.count; n++) {
    const parent = tree.parent[n];
    under[n] = marks[tree.functionOf[n]] | (parent >= 0 ? under[parent] : 0);
    if (under[n])
      sum += costs.self[n];
  }
  return sum;
}
