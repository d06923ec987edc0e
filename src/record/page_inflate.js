/* SPDX-License-Identifier: MIT */
/* Unpacks zlib's deflate (RFC 1950, RFC 1951), for a browser without
 * DecompressionStream. */

/* Reads bits, the lowest of a byte first. */
class Bits {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.held = 0;
    this.count = 0;
  }

  take(count) {
    while (this.count < count) {
      this.held |= this.bytes[this.at++] << this.count;
      this.count += 8;
    }
    const value = this.held & (1 << count) - 1;
    this.held >>>= count;
    this.count -= count;
    return value;
  }

  /* Drops what is left of a byte that was begun. */
  align() {
    this.held = this.count = 0;
  }
}

/* Returns the table of a Huffman code from the lengths of its symbols. */
function huffman(lengths) {
  const counts = new Uint16Array(16), at = new Uint16Array(16);
  const symbols = new Uint16Array(lengths.length);
  for (const length of lengths)
    counts[length]++;
  counts[0] = 0;
  for (let i = 1; i < 16; i++)
    at[i] = at[i - 1] + counts[i - 1];
  lengths.forEach((length, symbol) => {
    if (length > 0)
      symbols[at[length]++] = symbol;
  });
  return { counts, symbols };
}

/* Reads the next symbol of a code. */
function symbolOf(bits, { counts, symbols }) {
  let code = 0, first = 0, index = 0;
  for (let length = 1; length < 16; length++) {
    code |= bits.take(1);
    if (code - counts[length] < first)
      return symbols[index + code - first];
    index += counts[length];
    first = first + counts[length] << 1;
    code <<= 1;
  }
  throw new Error("the data of the page are damaged");
}

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51,
  59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4,
  4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257,
  385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/* Returns the two codes that every writer knows. */
function fixedCodes() {
  const lengths = new Array(288);
  lengths.fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  return [huffman(lengths), huffman(new Array(30).fill(5))];
}

/* Reads the two codes of a block. */
function blockCodes(bits) {
  const literals = bits.take(5) + 257, distances = bits.take(5) + 1;
  const order = bits.take(4) + 4, first = new Array(19).fill(0), lengths = [];
  for (let i = 0; i < order; i++)
    first[CODE_ORDER[i]] = bits.take(3);
  const code = huffman(first);
  while (lengths.length < literals + distances) {
    const symbol = symbolOf(bits, code);
    const last = symbol === 16 ? lengths[lengths.length - 1] : 0;
    const times = symbol < 16 ? 1 : symbol === 16 ? bits.take(2) + 3
      : symbol === 17 ? bits.take(3) + 3 : bits.take(7) + 11;
    for (let i = 0; i < times; i++)
      lengths.push(symbol < 16 ? symbol : last);
  }
  return [huffman(lengths.slice(0, literals)),
    huffman(lengths.slice(literals, literals + distances))];
}

/* What was unpacked so far: bytes that grow. */
class Output {
  constructor() {
    this.bytes = new Uint8Array(1 << 16);
    this.size = 0;
  }

  reserve(count) {
    if (this.size + count <= this.bytes.length)
      return;
    const more = new Uint8Array(2 * (this.size + count));
    more.set(this.bytes);
    this.bytes = more;
  }

  copy(distance, length) {
    this.reserve(length);
    for (let i = 0; i < length; i++, this.size++)
      this.bytes[this.size] = this.bytes[this.size - distance];
  }
}

/* Unpacks a block of literals and copies. */
function unpackBlock(bits, out, [literal, distance]) {
  for (;;) {
    const symbol = symbolOf(bits, literal);
    if (symbol === 256)
      return;
    if (symbol < 256) {
      out.reserve(1);
      out.bytes[out.size++] = symbol;
      continue;
    }
    const length = LENGTH_BASE[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257]);
    const far = symbolOf(bits, distance);
    out.copy(DISTANCE_BASE[far] + bits.take(far < 4 ? 0 : (far >> 1) - 1), length);
  }
}

/* Takes over a block of bytes that are not packed. */
function copyBlock(bits, out) {
  bits.align();
  const length = bits.take(8) | bits.take(8) << 8;
  bits.take(16);
  bits.align();
  out.reserve(length);
  out.bytes.set(bits.bytes.subarray(bits.at, bits.at + length), out.size);
  out.size += length;
  bits.at += length;
}

/* Returns the bytes that `packed` stands for. */
function inflateSlowly(packed) {
  const bits = new Bits(packed), out = new Output();
  let last;
  bits.take(16);
  do {
    last = bits.take(1);
    const kind = bits.take(2);
    if (kind === 0)
      copyBlock(bits, out);
    else
      unpackBlock(bits, out, kind === 1 ? fixedCodes() : blockCodes(bits));
  } while (!last);
  return out.bytes.slice(0, out.size);
}
