/** Thrown for a value that has no canonical JSON text. */
export class CanonicalJsonError extends TypeError {
  override name = "CanonicalJsonError";
}

const MAX_DEPTH = 64;
const MAX_FAST_PATH_LENGTH = 48;

/**
 * Returns the RFC 8785 text of plain JSON data. Members that are `undefined` are left out. Throws
 * CanonicalJsonError on values that JSON cannot represent exactly: lone surrogates, non-finite
 * numbers, `undefined` in an array, objects that are not plain, and nesting deeper than `maxDepth`, 64
 * by default, which includes cycles.
 */
export function canonicalize(value: unknown, maxDepth = MAX_DEPTH): string {
  return writeValue(value, maxDepth);
}

/** The canonical texts of an object that carries its own signature. */
export interface SignedTexts {
  /** The text of the whole object, as `canonicalize` returns it. */
  readonly text: string;
  /** The text of all members but `signature`, which is the signed text. */
  readonly signedText: string;
}

/**
 * Returns both canonical texts of a plain object and writes each member once. Throws like
 * `canonicalize`.
 */
export function canonicalizeSigned(value: object): SignedTexts {
  const members = plainMembers(value);
  const all: string[] = [];
  const signed: string[] = [];
  for (const name of sortedKeys(members)) {
    const member = members[name];
    if (member === undefined) continue;
    const text = quoteText(name) + ":" + writeValue(member, MAX_DEPTH - 1);
    all.push(text);
    if (name !== "signature") signed.push(text);
  }
  return { text: `{${all.join(",")}}`, signedText: `{${signed.join(",")}}` };
}

function writeValue(value: unknown, depthLeft: number): string {
  switch (typeof value) {
    case "string":
      return quoteText(value);
    case "number":
      if (!Number.isFinite(value)) throw new CanonicalJsonError("a number is not finite");
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depthLeft === 0) throw new CanonicalJsonError("a value is nested deeper than allowed");
      return Array.isArray(value)
        ? writeArray(value, depthLeft - 1)
        : writeObject(value, depthLeft - 1);
    case "undefined":
    case "bigint":
    case "function":
    case "symbol":
      throw new CanonicalJsonError(`${typeof value} is not JSON`);
  }
}

function writeArray(items: readonly unknown[], depthLeft: number): string {
  let text = "[";
  for (let i = 0; i < items.length; i++) {
    if (i > 0) text += ",";
    text += writeValue(items[i], depthLeft);
  }
  return text + "]";
}

function writeObject(value: object, depthLeft: number): string {
  const members = plainMembers(value);
  let text = "{";
  for (const name of sortedKeys(members)) {
    const member = members[name];
    if (member === undefined) continue;
    if (text.length > 1) text += ",";
    text += quoteText(name) + ":" + writeValue(member, depthLeft);
  }
  return text + "}";
}

function plainMembers(value: object): Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new CanonicalJsonError("an object is not plain");
  }
  return value as Readonly<Record<string, unknown>>;
}

// Both `<` and the default sort compare UTF-16 code units, which is the order of RFC 8785.
function sortedKeys(members: object): string[] {
  const keys = Object.keys(members);
  for (let i = 1; i < keys.length; i++) {
    if (keys[i]! < keys[i - 1]!) return keys.sort();
  }
  return keys;
}

function quoteText(text: string): string {
  if (text.length <= MAX_FAST_PATH_LENGTH && isPlainAscii(text)) return '"' + text + '"';
  if (!text.isWellFormed()) throw new CanonicalJsonError("a text has a lone surrogate");
  return JSON.stringify(text);
}

// Most texts are short names and ids, for which this is faster than JSON.stringify.
function isPlainAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;
  }
  return true;
}
