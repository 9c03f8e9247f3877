/**
 * The fault of a text: the broken rule and, if a number is refused, the name of its member, otherwise
 * empty.
 */
export interface JsonTextFault {
  readonly path: string;
  readonly message: string;
  /** Whether the text is JSON at all, so that another reader would accept it. */
  readonly isJson: boolean;
}

/**
 * Parses a JSON text; the result is wrapped, because null may also be the parsed value. Null if the text is
 * refused by `readJsonText`.
 */
export function parseJsonText(text: string): { readonly value: unknown } | null {
  const read = readJsonText(text);
  return "fault" in read ? null : read;
}

/**
 * Parses a JSON text that may be signed. Refuses a text that is not JSON, and one that parsers interpret
 * differently, because a signature over it would be ambiguous: an object names a member twice, or an
 * integer has more digits than a double can hold (RFC 8785, I-JSON). Such an integer is accepted only in
 * its canonical spelling, so that no other digits stand for the same number.
 */
export function readJsonText(
  text: string,
): { readonly value: unknown } | { readonly fault: JsonTextFault } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: { path: "", message: "must be JSON", isJson: false } };
  }
  const written = scanText(text);
  if (written.inexact !== undefined) {
    const message = "must be an integer below 2^53, or have the digits of its canonical JSON";
    return { fault: { path: written.inexact, message, isJson: true } };
  }
  if (countMembers(value) === written.members) return { value };
  const message = "must be JSON in which no object repeats a member";
  return { fault: { path: "", message, isJson: true } };
}

/** Counts the members of all objects in a parsed value. */
function countMembers(root: unknown): number {
  const pending: unknown[] = [root];
  let count = 0;
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== "object" || value === null) continue;
    const inner: unknown[] = Object.values(value);
    if (!Array.isArray(value)) count += inner.length;
    for (const item of inner) if (typeof item === "object") pending.push(item);
  }
  return count;
}

/**
 * Scans a valid JSON text. Counts the colons outside strings, because a duplicate name has two of them but
 * is one member when parsed, and finds the member of the first integer that has no exact value.
 */
function scanText(text: string): { readonly members: number; readonly inexact?: string } {
  let members = 0;
  let name = "";
  let string = "";
  const outerNames: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text[at]!;
    if (unit === ":") {
      members += 1;
      name = string;
    } else if (unit === '"') {
      const closing = findClosingQuote(text, at);
      string = text.slice(at, closing + 1);
      at = closing;
    } else if (unit === "{" || unit === "[") {
      outerNames.push(name);
    } else if (unit === "}" || unit === "]") {
      name = outerNames.pop() ?? "";
    } else if (unit >= "0" && unit <= "9") {
      const number = readNumber(text, at);
      if (isInexactInteger(number))
        return { members, inexact: name && (JSON.parse(name) as string) };
      at += number.length - 1;
    }
  }
  return { members };
}

const NUMBER = /\d[\d.eE+-]*/y;

/** Reads the number that begins at `at`, without its sign. */
function readNumber(text: string, at: number): string {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0] ?? "";
}

/** A double represents every integer of at most 15 digits exactly. */
function isInexactInteger(number: string): boolean {
  return number.length > 15 && /^\d+$/.test(number) && spellDigits(Number(number)) !== number;
}

/** Returns the digits of an integer in its canonical spelling, for example those of `1e+21`. */
function spellDigits(integer: number): string {
  const [mantissa = "", exponent] = String(integer).split("e+");
  if (exponent === undefined) return mantissa;
  const [first = "", rest = ""] = mantissa.split(".");
  return first + rest.padEnd(Number(exponent), "0");
}

function findClosingQuote(text: string, opening: number): number {
  let at = opening;
  do at = text.indexOf('"', at + 1);
  while (isEscaped(text, at));
  return at;
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === "\\") before -= 1;
  return (at - before) % 2 === 0;
}
