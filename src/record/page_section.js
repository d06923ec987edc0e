/* SPDX-License-Identifier: MIT */
/* The sections of a page, which are unpacked when they are first asked for, and how
 * pages of records write names and numbers. */

/* Returns the bytes of text in base64. */
function fromBase64(text) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++)
    bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/* Returns the bytes that zlib's deflate stands for. */
async function inflate(packed) {
  if (typeof DecompressionStream === "undefined")
    return inflateSlowly(packed);
  const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
  /* A damaged stream fails where it is read. */
  writer.write(packed).catch(() => {});
  writer.close().catch(() => {});
  return joined(stream.readable.getReader());
}

/* Reads a stream of bytes to its end. */
async function joined(reader) {
  const parts = [];
  let size = 0;
  for (let part; !(part = await reader.read()).done; size += part.value.length)
    parts.push(part.value);
  const all = new Uint8Array(size);
  size = 0;
  for (const part of parts) {
    all.set(part, size);
    size += part.length;
  }
  return all;
}

/* Keeps what `make(key)` returns, so that each key is made once. */
function once(make) {
  const known = new Map();
  return key => {
    if (!known.has(key))
      known.set(key, make(key));
    return known.get(key);
  };
}

const turns = {};

/* Returns whether nothing of a kind has begun since: what is asked for last is
 * shown, even where something before is ready later. */
function turnOf(kind) {
  const turn = turns[kind] = (turns[kind] || 0) + 1;
  return () => turns[kind] === turn;
}

const section = once(name => inflate(fromBase64(byId(`data-${name}`).textContent)));

/* Returns the lines of a section of text. */
async function linesOf(name) {
  return new TextDecoder().decode(await section(name)).split("\n");
}

/* Returns the document that a section of JSON has. */
const jsonOf = async name => JSON.parse(new TextDecoder().decode(await section(name)));

const baseName = path => path.slice(path.lastIndexOf("/") + 1) || path;

/* Writes a count with all its digits. */
const digits = count => count.toLocaleString("en-US");

/* Writes what part of a total a count is. */
function percent(count, total) {
  if (!(total > 0))
    return "-";
  const part = 100 * Number(count) / Number(total);
  return `${(Math.abs(part) < .05 ? 0 : part).toFixed(1)} %`;
}

/* Says why the page cannot be shown. */
function fail(error) {
  byId("loading").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
}
