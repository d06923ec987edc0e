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

/* Calls `draw` when an element has another size, and when a pixel of the page has another
 * number of pixels of the screen, as after a move to another screen. */
function onSize(element, draw) {
  new ResizeObserver(draw).observe(element);
  const watch = () => matchMedia(`(resolution: ${devicePixelRatio}dppx)`)
    .addEventListener("change", () => { draw(); watch(); }, { once: true });
  watch();
}
