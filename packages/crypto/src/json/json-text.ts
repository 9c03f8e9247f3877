/**
 * The value of a JSON text; null when it is no JSON or names a member of one object twice: readers
 * differ on which of the two they take, so a signature over it would mean two things.
 */
export function parseJsonText(text: string): { readonly value: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return countMembers(value) === countWrittenMembers(text) ? { value } : null;
  } catch {
    return null;
  }
}

/** Members in a parsed value. */
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

/** The colons outside strings: a repeated name has two of them and is one member when parsed. */
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
