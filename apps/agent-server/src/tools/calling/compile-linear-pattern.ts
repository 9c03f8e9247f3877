import { RE2JS } from "re2js";

/** Thrown for a valid JSON Schema pattern that cannot run in linear time. */
export class UnsupportedPattern extends Error {
  constructor(pattern: string) {
    super(`pattern ${JSON.stringify(pattern.slice(0, 200))} cannot be run in linear time`);
  }
}

/** The part of a regular expression that ajv uses; `toString` distinguishes patterns. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

const WHITESPACE = "\\t\\n\\x{b}\\f\\r \\x{a0}\\x{feff}\\x{2028}\\x{2029}\\p{Zs}";
const LINE_ENDS = "\\n\\r\\x{2028}\\x{2029}";

/**
 * Compiles an ECMAScript pattern (flag `u`, as in JSON Schema) for an engine that never backtracks,
 * so that no caller's text can block the agent. Throws SyntaxError for a malformed pattern, and
 * `UnsupportedPattern` for lookaround, back references and repetitions above 1,000.
 */
export function compileLinearPattern(pattern: string): Pattern {
  // Constructed only to refuse malformed patterns; it never runs.
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

/** Translates `.` and `\s`, which match more characters in ECMAScript than in the engine. */
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
