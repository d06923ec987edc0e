/* SPDX-License-Identifier: MIT */
/* What the scripts of tally's pages share. */

const byId = id => document.getElementById(id);

/* Returns an element with a text, which is never read as HTML. */
function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined)
    e.textContent = text;
  if (className)
    e.className = className;
  return e;
}

/* Returns a button that does `action`, which gets no argument. */
function button(text, action, className) {
  const b = element("button", text, className);
  b.type = "button";
  b.addEventListener("click", () => action());
  return b;
}
