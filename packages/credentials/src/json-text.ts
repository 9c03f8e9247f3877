/** The value of a JSON text; null when it is no JSON or names a member of one object twice. */
export function parseJsonText(text: string): { readonly value: unknown } | null {
  let members = -1; // The root is handed to the reviver as a member of nothing.
  try {
    const value: unknown = JSON.parse(text, function (this: unknown, _, item: unknown) {
      if (!Array.isArray(this)) members += 1;
      return item;
    });
    return members === colonsOutsideStrings(text) ? { value } : null;
  } catch {
    return null;
  }
}

/** A repeated name has two colons in the text and is one member when it is parsed. */
function colonsOutsideStrings(json: string): number {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, "").split(":").length - 1;
}
