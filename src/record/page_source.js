/* SPDX-License-Identifier: MIT */
/* The source and the instructions of a function, with the counts of each line
 * and instruction, over all threads. Code that the compiler copied into the
 * function counts at the line that the copy is at. */

const BESIDE = 2, FOLD = 6, LINES_FIRST = 3000, HEAT_MOST = 50;

/* Reads the frames of chains: what instructions are in, innermost first. */
async function readChains() {
  const reader = new Reader(await section("chains")), chains = [];
  for (let left = reader.number(); left > 0; left--) {
    const frames = [];
    for (let count = reader.number(); count > 0; count--)
      frames.push({ function: reader.number(), file: reader.number(),
        line: reader.number() });
    chains.push(frames);
  }
  return chains;
}

/* Reads the instructions, in order of image and address. */
async function readInsns(chainCount) {
  const reader = new Reader(await section("insns")), count = reader.number();
  const chain = new Int32Array(count), size = new Uint8Array(count);
  const address = new BigUint64Array(count);
  let last = 0n;
  for (let i = 0; i < count; i++) {
    chain[i] = reader.number();
    last = BigInt.asUintN(64, last + reader.bigSigned());
    address[i] = last;
    size[i] = reader.bytes[reader.at++];
  }
  return { count, chain, size, address, byChain: listByKey(chain, chainCount),
    texts: await linesOf("asm") };
}

/* Reads the lines that have code of each function, run or not:
 * function -> file -> lines. */
async function readCodeLines() {
  const reader = new Reader(await section("lines")), by = new Map();
  for (let count; (count = reader.number()) !== 0;) {
    const f = reader.number(), file = reader.number(), lines = [];
    for (let line = 0; lines.length < count;)
      lines.push(line += reader.number());
    if (!by.has(f))
      by.set(f, new Map());
    by.get(f).set(file, lines);
  }
  return by;
}

/* Reads the sources: of each file how many lines it has, 0 if it could not be
 * read, and the lines that the page has by their numbers. */
async function readSources() {
  const reader = new Reader(await section("files")), files = new Map();
  const texts = await linesOf("source");
  let at = 0;
  for (let left = reader.number(); left > 0; left--) {
    const file = reader.number(), source = { count: reader.number(), lines: new Map() };
    let line = 0;
    if (source.count > 0)
      for (let distance; (distance = reader.number()) !== 0;) {
        line += distance;
        for (let count = reader.number(); count > 0; count--)
          source.lines.set(line++, texts[at++]);
        line--;
      }
    files.set(file, source);
  }
  return files;
}

/* Reads all that is known of code, once. */
const readCode = once(async () => {
  const chains = await readChains(), chainsOf = new Map();
  chains.forEach((frames, number) => {
    for (const f of new Set(frames.map(frame => frame.function))) {
      if (!chainsOf.has(f))
        chainsOf.set(f, []);
      chainsOf.get(f).push(number);
    }
  });
  return { chains, chainsOf, insns: await readInsns(chains.length),
    codeLines: await readCodeLines(), sources: await readSources() };
});

/* Reads the counts of an event at the instructions. */
const codeCounts = once(async number => {
  const { insns } = await readCode("all"), event = head.events[number];
  const reader = new Reader(await section(`code-${number}`));
  const counts = newCounts(event, insns.count);
  let at = -1;
  for (let distance; (distance = reader.number()) !== 0;) {
    at += distance;
    counts[at] = reader.count(event);
  }
  return counts;
});

/* Returns the instructions of a function and its lines with their counts:
 * { insns, files: file -> line -> { counts, insns } }. */
async function annotate(number, events) {
  const code = await readCode("all"), files = new Map(), insns = [];
  const counts = await Promise.all(events.map(codeCounts));
  const { start, items } = code.insns.byChain;
  for (const chain of code.chainsOf.get(number) || []) {
    const frame = code.chains[chain].find(f => f.function === number);
    for (let i = start[chain]; i < start[chain + 1]; i++)
      insns.push({ insn: items[i], file: frame.file, line: frame.line,
        counts: counts.map(c => c[items[i]]) });
  }
  insns.sort((a, b) => a.insn - b.insn);
  for (const insn of insns) {
    if (!files.has(insn.file))
      files.set(insn.file, new Map());
    const lines = files.get(insn.file);
    if (!lines.has(insn.line))
      lines.set(insn.line, { insns: [], counts: events.map(e => zeroOf(head.events[e])) });
    const line = lines.get(insn.line);
    line.insns.push(insn);
    insn.counts.forEach((count, e) => line.counts[e] += count);
  }
  return { code, insns, files };
}

/* The view of a function's code. */
class CodeView {
  constructor() {
    this.table = byId("code");
    byId("assembly").addEventListener("change", () => this.draw());
    byId("code-back").addEventListener("click", () => this.back());
  }

  /* Shows a function with the counts of events, and goes there. */
  async open(number, events) {
    this.from = document.activeElement;
    await this.show(number, events);
    byId("code-title").scrollIntoView();
    byId("code-title").focus({ preventScroll: true });
  }

  back() {
    if (this.from && this.from.isConnected) {
      this.from.scrollIntoView({ block: "center" });
      this.from.focus({ preventScroll: true });
    } else {
      byId("functions-title").scrollIntoView();
    }
  }

  async show(number, events) {
    const isLast = turnOf("code"), found = await annotate(number, events);
    if (!isLast())
      return;
    Object.assign(this, { number, events, found });
    this.limit = LINES_FIRST;
    this.draw();
  }

  draw() {
    const f = functions.all[this.number], { insns, files } = this.found;
    this.max = this.events.map((_, e) => Math.max(1, this.largest(e)));
    this.totals = this.events.map((number, e) =>
      sumOf(head.events[number], insns, i => i.counts[e]));
    byId("code-title").textContent = f.name;
    byId("code-controls").hidden = false;
    byId("code-note").textContent = this.note(f);
    this.rows = [];
    for (const file of this.fileOrder())
      this.addFile(file, files.get(file) || new Map());
    this.addWithoutLines();
    this.fill();
  }

  /* Returns the largest count of an event at a line, or at an instruction where
   * there are no lines. */
  largest(e) {
    let most = 0;
    for (const lines of this.found.files.values())
      for (const line of lines.values())
        for (const counts of line.insns[0].line > 0 ? [line.counts]
          : line.insns.map(i => i.counts))
          most = Math.max(most, Number(counts[e]));
    return most;
  }

  /* Says what the function has, and which sources lack. */
  note(f) {
    const parts = this.events.map((number, e) => {
      const event = head.events[number];
      return `${digits(this.totals[e])} ${event.asked} ` +
        `(${percent(this.totals[e], countOf(event, event.total))})`;
    });
    const place = f.image === "" ? "" : ` in ${f.image}`;
    if (this.found.insns.length === 0)
      return `No instruction of it${place} ran.`;
    const copies = this.found.code.chainsOf.get(this.number).some(chain =>
      this.found.code.chains[chain][0].function !== this.number);
    return `${parts.join(", ")}${place}, over all threads` +
      `${copies ? ", with the code of functions that the compiler copied into it" : ""}.`;
  }

  /* Lists the files with code of the function: that with most counts first. */
  fileOrder() {
    const known = this.found.code.codeLines.get(this.number) || new Map();
    const sum = file => {
      let all = 0;
      for (const line of (this.found.files.get(file) || new Map()).values())
        all += Number(line.counts[0]);
      return all;
    };
    return [...new Set([...known.keys(), ...this.found.files.keys()])]
      .filter(file => file !== 0).sort((a, b) => sum(b) - sum(a) || a - b);
  }

  /* Adds the lines of a file: those with code and some beside them. */
  addFile(file, lines) {
    const source = this.found.code.sources.get(file) || { count: 0, lines: new Map() };
    const known = this.found.code.codeLines.get(this.number);
    const code = new Set([...(known && known.get(file) || []), ...lines.keys()]
      .filter(line => line > 0));
    const order = [...code].sort((a, b) => a - b);
    if (order.length === 0)
      return;
    const last = order[order.length - 1];
    this.rows.push(() => this.fileRow(file, source, order[0], last));
    let next = order[0];
    for (const line of order) {
      const near = Math.max(next, line - BESIDE);
      if (near - next >= FOLD)
        this.rows.push(() => this.foldRow(near - next));
      for (let n = near - next >= FOLD ? near : next; n <= Math.min(line + BESIDE, last); n++)
        this.addLine(n, source, code.has(n), lines.get(n));
      next = Math.max(next, Math.min(line + BESIDE, last) + 1);
    }
  }

  addLine(number, source, hasCode, line) {
    this.rows.push(() => this.lineRow(number, source, hasCode, line));
    if (line && byId("assembly").checked)
      this.addInsns(line.insns);
  }

  addInsns(insns) {
    for (const insn of insns)
      this.rows.push(() => this.insnRow(insn));
  }

  /* Adds the instructions without a line, with gaps where code never ran. */
  addWithoutLines() {
    const { insns, code } = this.found;
    const left = insns.filter(i => i.file === 0 || i.line === 0);
    if (left.length === 0)
      return;
    this.rows.push(() => this.textRow("file", "without source lines"));
    let end = left[0].insn >= 0 ? code.insns.address[left[0].insn] : 0n;
    for (const insn of left) {
      const address = code.insns.address[insn.insn], gap = address - end;
      if (gap > 0n)
        this.rows.push(() => this.textRow("fold", `... ${digits(gap)} bytes that never ran`));
      end = address + BigInt(code.insns.size[insn.insn]);
      this.rows.push(() => this.insnRow(insn));
    }
  }

  /* Fills the table with the rows, as many as are shown. */
  fill() {
    const body = element("tbody"), headings = element("thead"), line = element("tr");
    const shown = this.rows.slice(0, this.limit);
    for (const number of this.events) {
      const th = element("th", head.events[number].asked);
      th.scope = "col";
      line.append(th);
    }
    line.append(element("th", "line"), element("th", "", "text"));
    headings.append(line);
    body.append(...shown.map(make => make()));
    if (this.rows.length > shown.length)
      body.append(this.moreRow());
    this.table.replaceChildren(headings, body);
  }

  moreRow() {
    const tr = this.textRow("more", `${digits(this.rows.length - this.limit)} more lines: `);
    tr.lastChild.append(button("show them", () => {
      this.limit = Infinity;
      this.fill();
    }));
    return tr;
  }

  /* Returns the cell of a count, coloured by its part of the largest one. */
  countCell(count, e) {
    const td = element("td", digits(count));
    const part = Number(count) / this.max[e];
    if (part > 0) {
      td.className = "heat";
      td.style.setProperty("--heat", `${(HEAT_MOST * Math.min(1, part)).toFixed(1)}%`);
      td.title = `${percent(count, this.totals[e])} of the function's ` +
        head.events[this.events[e]].asked;
    }
    return td;
  }

  /* Returns the cells of counts; of code that never ran a mark in each. */
  countCells(counts, mark) {
    return this.events.map((_, e) =>
      counts ? this.countCell(counts[e], e) : element("td", mark));
  }

  lineRow(number, source, hasCode, line) {
    const tr = element("tr", undefined, hasCode && !line ? "never" : "");
    const text = source.lines.get(number);
    tr.append(...this.countCells(line && line.counts, hasCode ? "-" : ""),
      element("td", String(number), "number"),
      element("td", text === undefined ? "" : text, "code"));
    if (hasCode && !line)
      tr.title = "never executed";
    return tr;
  }

  insnRow(insn) {
    const { address, texts } = this.found.code.insns;
    const tr = element("tr", undefined, "asm");
    tr.append(...this.countCells(insn.counts), element("td", "", "number"),
      element("td", `${address[insn.insn].toString(16).padStart(8)}  ` +
        texts[insn.insn], "code"));
    return tr;
  }

  fileRow(file, source, first, last) {
    const path = functions.texts[file];
    const tr = this.textRow("file", `${path}:${first}-${last}`);
    const lack = source.count === 0
      ? "the source could not be read when this page was written; --source OLD=NEW " +
        "says where it is"
      : source.count < last ? `the source has ${source.count} lines: it is another` : "";
    if (lack !== "")
      tr.lastChild.append(element("p", lack, "soft"));
    return tr;
  }

  foldRow(count) {
    return this.textRow("fold", `... ${digits(count)} lines without code`);
  }

  /* Returns a row that is one text beside the numbers. */
  textRow(className, text) {
    const tr = element("tr", undefined, className);
    const cell = element(className === "file" ? "th" : "td", text, "code");
    cell.colSpan = className === "file" ? this.events.length + 2 : 1;
    if (className === "file")
      cell.scope = "rowgroup";
    else
      tr.append(...this.events.map(() => element("td")), element("td"));
    tr.append(cell);
    return tr;
  }
}
