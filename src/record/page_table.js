/* SPDX-License-Identifier: MIT */
/* Tables that sort by the heading that is pressed, with a box that filters
 * them. Rows are made as they are asked for: some hundreds first. */

const ROWS_FIRST = 200;

/* Returns a cell of a number, which tells no more than its text. */
const numberCell = text => element("td", text);

/* A table. `columns` are those of names: { title, value(row), cell(row) };
 * `groups` are those of events: { title, hint, columns: [{ title, value(row),
 * show(value) }] }; `foot` lists [name, texts of all columns of events]. */
class Table {
  constructor(table, filter) {
    this.table = table;
    this.limit = ROWS_FIRST;
    this.filter = filter;
    if (filter)
      filter.addEventListener("input", () => this.fill());
  }

  /* Shows rows, sorted by a column of events: the largest first. */
  show({ rows, columns, groups, foot, caption }, sort) {
    Object.assign(this, { rows, columns, groups, foot });
    this.all = [...columns.map(c => ({ ...c, text: true })),
      ...groups.flatMap(g => g.columns)];
    this.sort = columns.length + sort;
    this.down = true;
    this.limit = ROWS_FIRST;
    this.table.replaceChildren(element("caption", caption, "soft"), this.makeHead(),
      this.body = element("tbody"), this.end = element("tfoot"));
    this.order();
  }

  makeHead() {
    const head = element("thead"), over = element("tr"), line = element("tr");
    for (const column of this.columns) {
      const th = this.heading(column.title, over.children.length);
      th.rowSpan = 2;
      th.className = "text";
      over.append(th);
    }
    for (const group of this.groups) {
      const th = element("th", group.title);
      th.colSpan = group.columns.length;
      th.scope = "colgroup";
      th.title = group.hint;
      over.append(th);
      for (const column of group.columns)
        line.append(this.heading(column.title,
          this.columns.length + line.children.length));
    }
    head.append(over, line);
    this.heads = [...over.children].slice(0, this.columns.length)
      .concat([...line.children]);
    return head;
  }

  /* Returns a heading that sorts. */
  heading(title, number) {
    const th = element("th");
    th.scope = "col";
    th.append(button(title, () => this.sortBy(number)));
    return th;
  }

  sortBy(number) {
    this.down = this.sort === number ? !this.down : !this.all[number].text;
    this.sort = number;
    this.order();
  }

  /* Puts the rows in order and fills the table. */
  order() {
    const { value, text } = this.all[this.sort];
    const sign = this.down ? -1 : 1;
    this.sorted = this.rows.map(row => ({ row, key: value(row) }));
    this.sorted.sort((a, b) => sign * (text
      ? a.key.localeCompare(b.key, "en", { numeric: true })
      : a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    this.heads.forEach((th, i) => i === this.sort
      ? th.setAttribute("aria-sort", this.down ? "descending" : "ascending")
      : th.removeAttribute("aria-sort"));
    this.fill();
  }

  /* Returns the rows that the filter leaves. */
  wanted() {
    const word = this.filter ? this.filter.value.trim().toLowerCase() : "";
    return this.sorted.map(s => s.row).filter(row => word === "" ||
      this.columns.some(c => c.value(row).toLowerCase().includes(word)));
  }

  fill() {
    const rows = this.wanted();
    this.body.replaceChildren(...rows.slice(0, this.limit).map(r => this.line(r)));
    if (rows.length > this.limit)
      this.body.append(this.moreLine(rows.length));
    this.end.replaceChildren(...this.foot(rows).map(([name, texts]) =>
      this.footLine(name, texts)));
  }

  line(row) {
    const tr = element("tr");
    this.columns.forEach((column, i) => {
      const cell = element(i === 0 ? "th" : "td", undefined, "text");
      if (i === 0)
        cell.scope = "row";
      cell.append(column.cell(row));
      cell.title = column.value(row);
      tr.append(cell);
    });
    for (const group of this.groups)
      for (const column of group.columns)
        tr.append(numberCell(column.show(column.value(row))));
    return tr;
  }

  footLine(name, texts) {
    const tr = element("tr"), th = element("th", name, "text");
    th.scope = "row";
    th.colSpan = this.columns.length;
    tr.append(th, ...texts.map(numberCell));
    return tr;
  }

  /* Returns the line that says how many rows there are more, and shows them. */
  moreLine(count) {
    const tr = element("tr", undefined, "more"), td = element("td");
    td.colSpan = this.all.length;
    td.append(`${digits(count - this.limit)} more rows: `,
      button("show 1,000 of them", () => {
        this.limit += 1000;
        this.fill();
      }));
    tr.append(td);
    return tr;
  }
}

/* A table that marks the chosen row. */
class ChoiceTable extends Table {
  constructor(table, filter, isOn) {
    super(table, filter);
    this.isOn = isOn;
  }

  line(row) {
    const tr = super.line(row);
    tr.classList.toggle("on", this.isOn(row));
    return tr;
  }
}
