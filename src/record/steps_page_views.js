/* SPDX-License-Identifier: MIT */
/* What a page of steps shows of one step, for each kind of steps. A view has:
 *
 *   title, allTitle   headings
 *   jumps             what one can go to next: a name, a key, a test of a step
 *   say(step, n)      parts of the sentence that tells the step
 *   now(step, n)      elements that show the step
 *   sums(n)           rows of what came up to the step
 *   all(n)            elements that show all sets, counters or causes
 *   columns           of the list of steps: a heading, a text, a class
 */

const hex = text => `0x${text}`;
const plural = (n, noun, nouns = `${noun}s`) => `${digits(n)} ${n === 1 ? noun : nouns}`;

/* Returns a table with a heading row. */
function tableOf(className, heads, rows) {
  const table = element("table", undefined, className), head = element("tr");
  head.append(...heads.map(h => element("th", h)));
  const thead = element("thead"), tbody = element("tbody");
  thead.append(head);
  tbody.append(...rows);
  table.append(thead, tbody);
  return table;
}

const strong = (text, className) => element("b", text, className);

/* Adds up values of the steps, so that those up to any step are found. */
function running(count, valueOf) {
  const sums = new Float64Array(count + 1);
  for (let i = 0; i < count; i++)
    sums[i + 1] = sums[i] + valueOf(i);
  return n => sums[n + 1];
}

/* Accesses to data, and the sets of a level */

class SetsView {
  constructor(data) {
    this.steps = data.steps;
    this.level = data.level;
    this.caches = 1 + Math.max(0, ...data.steps.map(s => s.cache));
    this.title = "This access";
    this.allTitle = `All ${plural(this.level.sets, "set")} of the ${this.level.title}`;
    this.jumps = [
      { name: "next miss", key: "m", of: s => s.hit === false },
      { name: "next conflict", key: "c", of: s => s.class === "conflict" },
      { name: "next line driven out", key: "e", of: s => s.evicted !== null }];
    /* The steps of each set of each cache. */
    this.bySet = new Map();
    this.steps.forEach((s, i) => {
      const key = this.keyOf(s.cache, s.set);
      if (!this.bySet.has(key))
        this.bySet.set(key, []);
      this.bySet.get(key).push(i);
    });
    const count = this.steps.length, steps = this.steps;
    this.counts = [
      ["hits", running(count, i => steps[i].hit === true)],
      ["misses", running(count, i => steps[i].hit === false)],
      ...["coherence", "false sharing", "first touch", "capacity", "conflict"].map(
        name => [name, running(count, i => steps[i].class === name), true, "part"]),
      ["passed this level", running(count, i => steps[i].hit === null), true],
      ["lines driven out", running(count, i => steps[i].evicted !== null)]];
    this.columns = [
      { title: "access", text: s => `${s.kind} ${s.bytes}`, className: "" },
      { title: "address", text: s => hex(s.address), className: "mono" },
      { title: "set", text: s => String(s.set), className: "number" },
      { title: "", text: s => this.word(s), className: s => s.hit === false ? "miss" : "hit" },
      { title: "drives out", text: s => s.evicted === null ? "" : hex(s.evicted), className: "mono" }];
  }

  keyOf(cache, set) {
    return cache * this.level.sets + set;
  }

  word(s) {
    return s.hit === null ? "passes" : s.hit ? "hit" : s.class === null ? "miss" : `miss: ${s.class}`;
  }

  say(s) {
    const parts = [`${s.kind === "load" ? "Load" : "Store"} of ${plural(s.bytes, "byte")} at ${hex(s.address)}` +
      `${s.second ? ", its second line" : ""}: `,
      strong(s.hit === null ? "passes" : s.hit ? "hit" : s.class === null ? "miss" : `${s.class} miss`,
        s.hit === false ? "miss" : "hit"), `. ${s.reason[0].toUpperCase()}${s.reason.slice(1)}.`];
    if (s.evicted !== null)
      parts.push(` It drives out the line ${hex(s.evicted)}.`);
    return parts;
  }

  bits(title, className, value, bits) {
    const box = element("div", undefined, className);
    box.append(element("i", title), strong(hex(value.toString(16))),
      element("i", bits === 0 ? "no bits" : bits === undefined ? "" : bits > 12 ? plural(bits, "bit")
        : `${bits} bits: ${value.toString(2).padStart(bits, "0")}`));
    return box;
  }

  now(s) {
    const address = element("div", undefined, "address");
    address.append(this.bits("tag", "tag", BigInt(`0x${s.tag}`)),
      this.bits("set", "set", BigInt(s.set), this.level.set_bits),
      this.bits("offset", "offset", BigInt(s.offset), this.level.offset_bits));
    return [address, this.places(s)];
  }

  places(s) {
    const lines = side => side.map(p => p && p.line);
    const before = lines(s.before), after = lines(s.after);
    const first = { use: "used last", age: "came last", way: "way 0" }[this.level.order];
    const cell = (place, asked, left) => {
      if (place === null)
        return element("td", "empty", "empty");
      const marks = (place.dirty ? " dirty" : "") + (place.others ? " others too" : "");
      return element("td", hex(place.line) + marks,
        `line${place.line === s.line && asked ? " asked" : ""}${left ? " left" : ""}`);
    };
    const rows = s.before.map((_, i) => {
      const row = element("tr");
      row.append(element("th", i === 0 ? first : String(this.level.order === "way" ? i : i + 1)),
        cell(s.before[i], true, before[i] !== null && !after.includes(before[i])),
        cell(s.after[i], true, false));
      return row;
    });
    const box = element("div", undefined, "wide");
    box.append(tableOf("places", [`set ${s.set}${this.caches > 1 ? ` of cache ${s.cache}` : ""}`,
      "before", "after"], rows));
    return box;
  }

  sums(n) {
    return this.counts.map(([name, sum, hides, className]) => [name, sum(n), className, hides])
      .filter(([, value, , hides]) => !hides || value > 0);
  }

  /* Returns the last step of a set up to a step, or -1. */
  lastOf(key, n) {
    const all = this.bySet.get(key);
    let low = 0, high = all === undefined ? 0 : all.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (all[middle] <= n)
        low = middle + 1;
      else
        high = middle;
    }
    return low === 0 ? -1 : all[low - 1];
  }

  all(n, choose) {
    const now = this.steps[n], box = element("div");
    const keys = [...this.bySet.keys()].sort((a, b) => a - b);
    const shown = this.level.sets * this.caches <= 256
      ? [...Array(this.level.sets * this.caches).keys()] : keys.slice(0, 256);
    box.id = "sets";
    for (const key of shown) {
      const set = key % this.level.sets, cache = Math.floor(key / this.level.sets);
      const last = this.lastOf(key, n);
      const next = last < 0 && this.bySet.has(key) ? this.bySet.get(key)[0] : last;
      const places = next < 0 ? [] : last < 0 ? this.steps[next].before : this.steps[last].after;
      const one = element("button", undefined, key === this.keyOf(now.cache, now.set) ? "one now" : "one");
      one.type = "button";
      one.title = next < 0 ? `set ${set}: no step asks it` : `set ${set}: ${
        places.filter(p => p !== null).length} of ${places.length} places have lines`;
      one.setAttribute("aria-label", one.title);
      one.append(element("span", this.caches > 1 ? `${cache}:${set}` : String(set)));
      for (let i = 0; i < this.level.ways; i++) {
        const p = places[i];
        one.append(element("i", undefined, !p ? "" : p.line === now.line && last === n ? "full asked" : "full"));
      }
      one.addEventListener("click", () => choose(key));
      box.append(one);
    }
    byId("all-note").textContent = keys.length > shown.length
      ? "The first 256 sets that the steps ask." : "Choose a set to see its steps alone.";
    return [box];
  }
}

/* Conditional branches, and what predicts them */

const STATES = ["strongly not taken", "weakly not taken", "weakly taken", "strongly taken"];

class BranchesView {
  constructor(data) {
    this.steps = data.steps;
    this.places = data.places;
    this.predictor = data.predictor;
    this.title = "This branch";
    this.allTitle = "Entries that the steps have asked";
    this.jumps = [{ name: "next wrong prediction", key: "m", of: s => s.wrong },
      { name: "next taken", key: "c", of: s => s.taken }];
    const count = this.steps.length, steps = this.steps;
    this.counts = [["branches", running(count, () => 1)], ["taken", running(count, i => steps[i].taken)],
      ["predicted wrong", running(count, i => steps[i].wrong)]];
    this.columns = [
      { title: "branch", text: s => this.where(s), className: "" },
      { title: "entry", text: s => this.entry(s), className: "mono" },
      { title: "predicted", text: s => s.predicted ? "taken" : "not taken", className: "" },
      { title: "went", text: s => s.taken ? "taken" : "not taken", className: "" },
      { title: "", text: s => s.wrong ? "wrong" : "right", className: s => s.wrong ? "miss" : "hit" }];
  }

  where(s) {
    return s.place === null ? "" : hex(this.places[s.place].address);
  }

  entry(s) {
    return s.tag !== null ? `entry ${s.index} of table ${s.table}` : `entry ${s.index}`;
  }

  /* Returns the name of a counter's state. */
  state(s, counter) {
    return s.tag === null ? STATES[counter] : `${counter} of -4 to 3, ${counter >= 0 ? "taken" : "not taken"}`;
  }

  say(s) {
    const why = s.sum !== null ? `the sum ${s.sum} of its weights`
      : `the counter of ${this.entry(s)}, ${this.state(s, s.before)},`;
    if (s.tag !== null && s.before >= 0 !== s.predicted)
      return [`Predicted ${s.predicted ? "taken" : "not taken"}, as ${this.entry(s)} is new and ` +
        `stands back, and ${s.taken ? "taken" : "not taken"}: `, strong(s.wrong ? "wrong" : "right",
        s.wrong ? "miss" : "hit"), `. ${this.learns(s)}`];
    return [`Predicted ${s.predicted ? "taken" : "not taken"} by ${why} ` +
      `and ${s.taken ? "taken" : "not taken"}: `, strong(s.wrong ? "wrong" : "right", s.wrong ? "miss" : "hit"),
      `. ${this.learns(s)}`];
  }

  learns(s) {
    if (s.sum !== null)
      return s.wrong || Math.abs(s.sum) <= s.threshold
        ? "The weights learn the direction." : `Beyond ${s.threshold} the weights stay.`;
    return s.before === s.after ? `The counter stays ${this.state(s, s.after)}.`
      : `The counter becomes ${this.state(s, s.after)}.`;
  }

  now(s) {
    const parts = [];
    if (s.sum === null) {
      const states = element("div", undefined, "states");
      const names = s.tag === null ? STATES.map((name, i) => [i, name])
        : [-4, -3, -2, -1, 0, 1, 2, 3].map(i => [i, String(i)]);
      for (const [value, name] of names)
        states.append(element("div", name,
          `${value === s.before ? "before " : ""}${value === s.after ? "after" : ""}`));
      parts.push(states, element("p", "Dashed: before; filled: after.", "soft"));
    }
    if (s.tag !== null)
      parts.push(element("p", `Table ${s.table} with tags, tag ${hex(s.tag.toString(16))}, usefulness ${
        s.useful_before} before and ${s.useful_after} after. An entry that is new may stand back ` +
        "behind the next longer history."));
    const history = element("p", undefined, "history"), used = Math.min(this.predictor.history, s.history.length);
    const cut = s.history.length - used;
    history.append(element("span", s.history.slice(0, cut)), s.history.slice(cut));
    parts.push(element("p", used === 0
      ? "Directions before, the newest at the end; the index does not depend on them:"
      : `Directions before, the newest at the end; the predictor uses the last ${this.predictor.history}:`),
      history);
    return parts;
  }

  sums(n) {
    return this.counts.map(([name, sum]) => [name, sum(n)]);
  }

  all(n) {
    const last = new Map();
    for (let i = 0; i <= n; i++) {
      const s = this.steps[i], key = `${s.table}:${s.index}:${s.tag}`;
      const old = last.get(key) || { times: 0, wrong: 0 };
      last.set(key, { s, times: old.times + 1, wrong: old.wrong + s.wrong });
    }
    const now = this.steps[n];
    const rows = [...last.values()].sort((a, b) => a.s.table - b.s.table || a.s.index - b.s.index)
      .slice(0, 256).map(({ s, times, wrong }) => {
        const row = element("tr");
        if (s === now)
          row.setAttribute("aria-current", "true");
        row.append(element("td", this.entry(s)), element("td", s.sum !== null ? `sum ${s.sum}`
          : this.state(s, s.after)), element("td", digits(times)), element("td", digits(wrong)));
        return row;
      });
    byId("all-note").textContent = last.size > 256 ? "The first 256." : "";
    return [tableOf("places", ["entry", this.predictor.kind === "perceptron" ? "last sum" : "state", "asked",
      "wrong"], rows)];
  }
}

/* Blocks of code, and their cycles */

class BubblesView {
  constructor(data) {
    this.steps = data.steps;
    this.places = data.places;
    this.causes = data.causes;
    this.title = "This block";
    this.allTitle = "Cycles so far, by cause";
    this.issue = this.causes.findIndex(c => /retire|issue/.test(c.name));
    this.jumps = [{ name: "next bubble", key: "m", of: s => this.waits(s) > 0 },
      { name: "next of another cause", key: "c",
        of: (s, at) => this.waits(s) > 0 && this.cause(s) !== this.cause(this.steps[at]) }];
    const count = this.steps.length, steps = this.steps;
    this.counts = [["blocks", running(count, () => 1)],
      ["instructions", running(count, i => steps[i].instructions)],
      ["cycles", running(count, i => steps[i].cycles)],
      ["of them bubbles", running(count, i => this.waits(steps[i]))]];
    this.columns = [
      { title: "block", text: s => s.place === null ? "" : hex(this.places[s.place].address), className: "mono" },
      { title: "instructions", text: s => digits(s.instructions), className: "number" },
      { title: "cycles", text: s => digits(s.cycles), className: "number" },
      { title: "bubbles", text: s => this.waits(s) > 0 ? digits(this.waits(s)) : "",
        className: () => "number miss" },
      { title: "most for", text: s => this.waits(s) > 0 ? this.causes[this.cause(s)].name : "", className: "" }];
  }

  waits(s) {
    return s.parts.reduce((sum, p) => p.cause === this.issue ? sum : sum + p.cycles, 0);
  }

  /* Returns the cause of the most bubbles, or -1. */
  cause(s) {
    const sums = new Map();
    let most = -1;
    for (const p of s.parts) {
      if (p.cause === this.issue)
        continue;
      sums.set(p.cause, (sums.get(p.cause) || 0) + p.cycles);
      if (most < 0 || sums.get(p.cause) > sums.get(most))
        most = p.cause;
    }
    return most;
  }

  say(s) {
    const waits = this.waits(s);
    return [`${plural(s.instructions, "instruction")} in ${plural(s.cycles, "cycle")}: `,
      waits > 0 ? strong(plural(waits, "bubble"), "miss") : strong("no bubble", "hit"),
      waits > 0 ? `, most for: ${this.causes[this.cause(s)].name}.` : "."];
  }

  now(s) {
    const most = Math.max(1, ...[...Array(s.instructions).keys()].map(i => this.partsOf(s, i)
      .reduce((sum, p) => sum + p.cycles, 0)));
    const rows = [...Array(s.instructions).keys()].map(i => {
      const place = s.place === null ? null : this.places[s.place + i], parts = this.partsOf(s, i);
      const bars = element("div", undefined, "bars"), row = element("tr");
      for (const p of parts.filter(p => p.cycles > 0)) {
        const bar = element("i", undefined, p.cause === this.issue ? "issue" : "wait");
        bar.style.width = `${100 * p.cycles / most}%`;
        bar.title = `${this.causes[p.cause].name}: ${digits(p.cycles)}`;
        bars.append(bar);
      }
      const drawn = element("td");
      drawn.append(bars);
      row.append(element("td", place === null ? "" : place.text || hex(place.address), "text"), drawn,
        element("td", parts.map(p => `${digits(p.cycles)} ${this.causes[p.cause].name}`).join(", "), "text"));
      return row;
    });
    const legend = element("p", undefined, "legend"), issue = element("span"), wait = element("span");
    issue.append(element("i", undefined, "issue"), "instructions retire");
    wait.append(element("i", undefined, "wait"), "bubbles");
    legend.append(issue, wait);
    const box = element("div", undefined, "wide");
    box.append(tableOf("code-rows", ["instruction", "cycles", ""], rows));
    return [legend, box, element("p", "The cycles in which the block's instructions retire stand at its " +
      "first instruction.", "soft")];
  }

  partsOf(s, instruction) {
    return s.parts.filter(p => p.instruction === instruction);
  }

  sums(n) {
    return this.counts.map(([name, sum]) => [name, sum(n)]);
  }

  all(n) {
    const sums = this.causes.map(() => 0);
    for (let i = 0; i <= n; i++)
      for (const p of this.steps[i].parts)
        sums[p.cause] += p.cycles;
    const whole = sums.reduce((a, b) => a + b, 0);
    byId("all-note").textContent = "";
    return [tableOf("places", ["cause", "cycles", "of all"], this.causes.map((c, i) => [c, sums[i]])
      .filter(([, value]) => value !== 0).sort((a, b) => b[1] - a[1]).map(([cause, value]) => {
        const row = element("tr");
        row.append(element("td", cause.name), element("td", digits(value)), element("td", percent(value, whole)));
        return row;
      }))];
  }
}
