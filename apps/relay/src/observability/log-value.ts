import { isPlainObject } from "@agent/crypto";
import { isSecretName, REDACTED } from "@agent/wire";

const MAX_TEXT_LENGTH = 2_000;
const MAX_MEMBERS = 50;
const MAX_DEPTH = 4;

type Redact = (text: string) => string;

/** Formats any value as JSON of bounded size, redacted. A cycle does not throw. */
export function encodeLogValue(value: unknown, redact: Redact, depth = 0): string {
  switch (typeof value) {
    case "string":
      return encodeText(value, redact);
    case "number":
      return Number.isFinite(value) ? String(value) : `"${value}"`;
    case "boolean":
      return value ? "true" : "false";
    case "bigint":
      return `"${value}"`;
    case "object":
      return value === null ? "null" : encodeObject(value, redact, depth);
    case "undefined":
    case "function":
    case "symbol":
      return `"[${typeof value}]"`;
  }
}

/** Formats a member as JSON, without the value of one that is named like a secret. */
export function encodeLogMember(
  name: string,
  value: unknown,
  redact: Redact,
  depth: number,
): string {
  const text = isSecretName(name) ? `"${REDACTED}"` : encodeLogValue(value, redact, depth);
  return `${encodeText(name, redact)}:${text}`;
}

function encodeObject(value: object, redact: Redact, depth: number): string {
  // Bytes are counted but never shown, because they may be a key.
  if (ArrayBuffer.isView(value)) return `"[${value.byteLength} bytes]"`;
  if (depth >= MAX_DEPTH) return `"[nested]"`;
  if (Array.isArray(value)) {
    const items = value
      .slice(0, MAX_MEMBERS)
      .map((item) => encodeLogValue(item, redact, depth + 1));
    return `[${items.join(",")}]`;
  }
  // Other members of an error are left out, because libraries attach whole requests there.
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    return encodeMembers({ name, message, code: getErrorCode(value), stack, cause }, redact, depth);
  }
  if (value instanceof Date || value instanceof URL)
    return encodeText(String(value.toJSON()), redact);
  if (isPlainObject(value)) return encodeMembers(value, redact, depth);
  // Members of other classes are not shown.
  return `"[object]"`;
}

function encodeMembers(value: object, redact: Redact, depth: number): string {
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (members.length === MAX_MEMBERS) break;
    if (member === undefined) continue;
    members.push(encodeLogMember(name, member, redact, depth + 1));
  }
  return `{${members.join(",")}}`;
}

/** Ids and codes, which JSON writes as they are. */
const PLAIN_TEXT = /^[\w.:-]{1,100}$/;

/** JSON does not escape these, but terminals and line readers interpret them. */
const LINE_BREAKERS = /[\x7f-\x9f\u2028\u2029]/g;

const escapeCharacter = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Redacts before it cuts, because a cut secret would not be recognised. */
function encodeText(text: string, redact: Redact): string {
  const clean = redact(text);
  if (PLAIN_TEXT.test(clean)) return `"${clean}"`;
  const bounded = clean.length > MAX_TEXT_LENGTH ? `${clean.slice(0, MAX_TEXT_LENGTH)}…` : clean;
  return JSON.stringify(bounded).replaceAll(LINE_BREAKERS, escapeCharacter);
}

const getErrorCode = (error: Error): unknown => ("code" in error ? error.code : undefined);
