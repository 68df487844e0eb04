// A little work that a machine has to do before it may say much, and that no third party has to watch. SHA-256 stands
// here because the browser's own needs a secure context and a promise for every try.
const ROUNDS = new Uint32Array(64);
const START = new Uint32Array(8);

(() => {
  const bits = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32);
  let found = 0;
  for (let candidate = 2; found < 64; candidate += 1) {
    let prime = true;
    for (let by = 2; by * by <= candidate; by += 1) if (candidate % by === 0) prime = false;
    if (!prime) continue;
    if (found < 8) START[found] = bits(Math.sqrt(candidate));
    ROUNDS[found] = bits(Math.cbrt(candidate));
    found += 1;
  }
})();

const SCHEDULE = new Uint32Array(64);

function turn(value, by) {
  return (value >>> by) | (value << (32 - by));
}

function mix(state, block, offset) {
  const w = SCHEDULE;
  for (let at = 0; at < 16; at += 1) w[at] = block.getUint32(offset + at * 4);
  for (let at = 16; at < 64; at += 1) {
    const a = w[at - 15];
    const b = w[at - 2];
    const low = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const high = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    w[at] = (w[at - 16] + low + w[at - 7] + high) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let at = 0; at < 64; at += 1) {
    const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[at] + w[at]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, at) => {
    state[at] = (state[at] + value) | 0;
  });
}

export function sha256(bytes) {
  const padded = new DataView(new ArrayBuffer(((bytes.length + 8) >> 6 << 6) + 64));
  bytes.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(bytes.length, 128);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const state = Uint32Array.from(START);
  for (let offset = 0; offset < padded.byteLength; offset += 64) mix(state, padded, offset);
  return state;
}

export function leadingZeros(state) {
  let zeros = 0;
  for (const word of state) {
    zeros += Math.clz32(word);
    if (word !== 0) break;
  }
  return zeros;
}

// The first number that, behind the challenge, gives a hash with as many zero bits in front as it asks for. Now and then
// the page gets a turn, so that it does not freeze.
export async function solve(challenge) {
  const wanted = Number.parseInt(challenge, 10);
  const encoder = new TextEncoder();
  let last = performance.now();
  for (let number = 0; ; number += 1) {
    if (leadingZeros(sha256(encoder.encode(`${challenge}.${number}`))) >= wanted) return String(number);
    if (number % 256 === 0 && performance.now() - last > 12) {
      await new Promise((resolve) => setTimeout(resolve));
      last = performance.now();
    }
  }
}
