import { RE2JS } from "re2js";

/** A pattern that is valid in JSON Schema, but has no form whose time is linear in the text. */
export class UnsupportedPattern extends Error {
  constructor(pattern: string) {
    super(`the pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be run in linear time`);
  }
}

/** What ajv needs of a regular expression; `toString` tells patterns apart. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

const WHITESPACE = "\\t\\n\\x{b}\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}";
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";

/**
 * Compiles an ECMAScript pattern (flag `u`, as JSON Schema has it) for an engine that never backtracks, so
 * that no text sent by a stranger can stop the agent. Throws SyntaxError for what is no pattern, and
 * `UnsupportedPattern` for lookaround, back references and repetitions beyond 1,000.
 */
export function compileLinearPattern(pattern: string): Pattern {
  // Only to refuse what ECMAScript refuses: it is never run.
  RegExp(pattern, "u");
  const translated = translatePattern(pattern);
  if (translated === undefined) throw new UnsupportedPattern(pattern);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(translated));
    return { test: (text) => compiled.test(text), toString: () => `/${pattern}/u` };
  } catch {
    throw new UnsupportedPattern(pattern);
  }
}

/** `.` and `\s` mean more characters in ECMAScript than in the engine. */
function translatePattern(pattern: string): string | undefined {
  let inClass = false;
  let translated = "";
  for (const [token] of pattern.matchAll(/\\[\s\S]|[\s\S]/gu)) {
    if (token === "[") inClass = true;
    else if (token === "]") inClass = false;
    if (token === "\\S" && inClass) return undefined;
    if (token === "\\s") translated += inClass ? WHITESPACE : `[${WHITESPACE}]`;
    else if (token === "\\S") translated += `[^${WHITESPACE}]`;
    else if (token === "." && !inClass) translated += `[^${LINE_ENDS}]`;
    else translated += token;
  }
  return translated;
}
