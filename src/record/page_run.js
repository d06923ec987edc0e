/* SPDX-License-Identifier: MIT */
/* What pages of a record say first: which command ran, and what a reader must know
 * of the run. */

const head = JSON.parse(byId("head").textContent);

/* Fills the title of the page of `tally WORD`, the line below it, and the notes:
 * those of the run, and [holds, text] each of `more`. */
function tellRun(word, about, more) {
  const command = head.command.join(" ");
  document.title = `${command} — tally ${word}`;
  byId("title").textContent = command;
  byId("about").textContent = about;
  const notes = [
    [head.cut, "The record is cut short."],
    [head.interrupted, "The run was interrupted."],
    [head.partial, "Counts of a part of the run are missing."],
    [head.side_by_side, "Threads or processes ran side by side: another run differs."],
    [head.outside, "Something outside ended a wait: another run may differ."],
    [head.signalled, "A signal came from outside: another run may differ."],
    ...more];
  for (const [holds, text] of notes)
    if (holds)
      byId("notes").append(element("li", text));
}
