/**
 * Parses a JSON text in a wrapper; null if it is not JSON or if an object names a member twice.
 * Readers differ on which of the two they use, so a signature over such a text would be ambiguous.
 */
export function parseJsonText(text: string): { readonly value: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return countMembers(value) === countWrittenMembers(text) ? { value } : null;
  } catch {
    return null;
  }
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
 * Counts the colons outside strings. A repeated name has two of them but is one member when parsed.
 */
function countWrittenMembers(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === ":") count += 1;
    else if (text[at] === '"') at = findClosingQuote(text, at);
  }
  return count;
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
