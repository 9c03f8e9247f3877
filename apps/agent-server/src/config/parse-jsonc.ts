const commentPattern = /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g;
// Only behind a value: "[,]" stays the mistake that it is.
const trailingCommaPattern = /"(?:[^"\\]|\\.)*"|(?<=[^\s[{,:]\s*),(?=\s*[}\]])/g;

/**
 * Reads JSON in which comments and commas behind the last member are allowed, so that a configuration can
 * explain itself; throws like `JSON.parse`, whose lines stay those of the text.
 */
export function parseJsonc(text: string): unknown {
  const blankUnlessString = (part: string) =>
    part.startsWith('"') ? part : part.replace(/[^\n]/g, "");
  return JSON.parse(
    text
      .replace(commentPattern, blankUnlessString)
      .replace(trailingCommaPattern, blankUnlessString),
  );
}
