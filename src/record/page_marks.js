/* SPDX-License-Identifier: MIT */
/* What pages of records share: whether the system's colours are dark, entries of a
 * legend, stacked bars, and the keys that search a table. */

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => darkScheme.matches;

/* Returns an entry of a legend. */
function legendEntry(colour, text) {
  const entry = element("span"), mark = element("i");
  mark.style.background = colour;
  entry.append(mark, text);
  return entry;
}

/* Returns the bar of a whole, whose parts are { name, colour, count }: the colour is a
 * variable of the style. */
function partsBar(parts) {
  const bar = element("span", undefined, "classes"), words = [];
  const all = parts.reduce((sum, { count }) => sum + count, 0);
  for (const { name, colour, count } of parts) {
    if (count === 0)
      continue;
    const part = element("i");
    part.style.width = `${100 * count / all}%`;
    part.style.background = `var(${colour})`;
    words.push(`${name} ${percent(count, all)}`);
    bar.append(part);
  }
  bar.title = words.join(", ");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", bar.title);
  return bar;
}

/* Has / go to the field `search`, and Escape leave a field, or else call `escape()`. */
function addSearchKeys(escape) {
  document.addEventListener("keydown", event => {
    const field = event.target.matches("input");
    if (event.key === "Escape") {
      if (field)
        event.target.blur();
      else
        escape();
    } else if (event.key === "/" && !field) {
      event.preventDefault();
      byId("search").focus();
    }
  });
}
