const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** The value of a JSON text; null when it is no JSON or names a member of one object twice. */
export function parseJsonText(text: string): { readonly value: unknown } | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  // A member written twice has two colons outside strings and is one member when parsed.
  const written = text.replaceAll(STRINGS, "").split(":").length - 1;
  return memberCount(value) === written ? { value } : null;
}

function memberCount(root: unknown): number {
  const values: unknown[] = [root];
  let count = 0;
  // The list grows while it is walked: recursion would end with a deep text.
  for (const value of values) {
    if (typeof value !== "object" || value === null) continue;
    const inner: unknown[] = Object.values(value);
    if (!Array.isArray(value)) count += inner.length;
    for (const each of inner) values.push(each);
  }
  return count;
}
