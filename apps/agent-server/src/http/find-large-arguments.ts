/** The end of a message, where the members after its arguments are searched for. */
const MAX_TAIL_BYTES = 16_384;
/** Most texts are shorter, and for them a native search would cost more. */
const SHORT_TEXT = 16;

const ARGUMENTS_NAME = Buffer.from('"arguments"');
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The depth of the members of `params`; the message has depth 1. */
const PARAMS_DEPTH = 2;

export type MessageSize =
  | { readonly size: "small" }
  /** The arguments of a call hold too many values; they begin at `from` and end before `to`. */
  | { readonly size: "large-arguments"; readonly from: number; readonly to: number }
  | { readonly size: "large" };

const SMALL = { size: "small" } as const;
const LARGE = { size: "large" } as const;

/**
 * Finds the arguments in a JSON-RPC message in UTF-8 if they hold more than `max` values, and
 * finds whether the rest of the message does. It stops at the limit, so that a message that is too
 * large is not read. A message that is not JSON gets any answer.
 */
export function findLargeArguments(bytes: Buffer, max: number): MessageSize {
  // Each value takes at least two bytes, with the comma or bracket before it.
  if (bytes.length <= 2 * max) return SMALL;
  const count = { inside: 0, outside: 0 };
  let depth = 0;
  let textFrom = -1;
  let from = -1;
  for (let at = 0; at < bytes.length; at++) {
    let held = false;
    switch (bytes[at]) {
      case undefined:
        break;
      case QUOTE:
        if (depth === PARAMS_DEPTH) textFrom = at;
        at = findTextEnd(bytes, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        if (depth === PARAMS_DEPTH && isArgumentsName(bytes, textFrom)) from = at;
        depth++;
        held = !isEmpty(bytes, at);
        break;
      case COMMA:
        held = true;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        if (depth === PARAMS_DEPTH) from = -1;
        break;
    }
    if (!held) continue;
    const total = from === -1 ? ++count.outside : ++count.inside;
    if (total > max) return from === -1 ? LARGE : describeArguments(bytes, from);
  }
  return SMALL;
}

function describeArguments(bytes: Buffer, from: number): MessageSize {
  const to = findArgumentsEnd(bytes);
  return to === undefined || to <= from ? LARGE : { size: "large-arguments", from, to };
}

/** Finds the end of the arguments from the end of the message, which is shorter than they are. */
function findArgumentsEnd(bytes: Buffer): number | undefined {
  const first = Math.max(0, bytes.length - MAX_TAIL_BYTES);
  let depth = 0;
  let end = 0;
  for (let at = bytes.length - 1; at >= first; at--) {
    switch (bytes[at]) {
      case undefined:
        break;
      case QUOTE:
        at = findTextStart(bytes, at, first);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth++;
        if (depth === PARAMS_DEPTH + 1) end = at + 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth--;
        break;
    }
  }
  return depth > PARAMS_DEPTH ? end : undefined;
}

function isArgumentsName(bytes: Buffer, from: number): boolean {
  return ARGUMENTS_NAME.every((byte, index) => bytes[from + index] === byte);
}

function isEmpty(bytes: Buffer, openedAt: number): boolean {
  for (let at = openedAt + 1; at < bytes.length; at++) {
    const code = bytes[at];
    // All white space of JSON is at most a space.
    if (code !== undefined && code > 0x20) return code === CLOSE_LIST || code === CLOSE_OBJECT;
  }
  return true;
}

/** Returns the index of the quote that ends the text whose first quote is at `start`. */
function findTextEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length) {
    const stop = Math.min(at + SHORT_TEXT, bytes.length);
    while (at < stop) {
      const code = bytes[at];
      if (code === QUOTE) return at;
      at += code === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) break;
    if (!isEscaped(bytes, quote, at)) return quote;
    at = quote + 1;
  }
  return bytes.length;
}

function findTextStart(bytes: Buffer, end: number, first: number): number {
  let at = end - 1;
  while (at >= first && (bytes[at] !== QUOTE || isEscaped(bytes, at, first))) at--;
  return at;
}

/** Returns whether an odd number of backslashes, back to `first`, precedes a quote. */
function isEscaped(bytes: Buffer, quote: number, first: number): boolean {
  let at = quote;
  while (at > first && bytes[at - 1] === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}
