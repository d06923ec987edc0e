/* SPDX-License-Identifier: MIT */
/* What the pages share that draw. */

function svg(name, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes))
    e.setAttribute(key, value);
  return e;
}

/* Returns round numbers between two, about so many. */
function ticksOf(low, high, count = 4) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find(n => n * power >= rough) * power, ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step)
    ticks.push(at);
  return ticks;
}
