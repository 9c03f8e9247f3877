/** Writes the members of a JSON object as words; a text that is no JSON object stays as it is. */
export function describeDetail(detail: string): string {
  const members = parseObject(detail);
  if (members === undefined) return detail;
  return Object.entries(members)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${describeValue(value)}`)
    .join(", ");
}

function parseObject(text: string): object | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

/** A text that could be read as a further member is quoted, because agents choose some of them. */
function describeValue(value: unknown): string {
  const isPlain = typeof value === "string" && value !== "" && !/[,"\s]/.test(value);
  return isPlain ? value : JSON.stringify(value);
}
