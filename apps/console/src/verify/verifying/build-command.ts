import { showText } from "./show-text.ts";

/** Builds the command that verifies the same file under the same keys. */
export function buildCommand(name: string, keys: readonly string[]): string {
  const named = keys.flatMap((key) => ["--key", key]);
  return ["agent-verify", ...named, quoteForShell(name)].join(" ");
}

function quoteForShell(name: string): string {
  const shown = showText(name).replaceAll(/[\n\t]/g, "?");
  if (/^[\w./][\w./-]*$/.test(shown)) return shown;
  const safe = shown.startsWith("-") ? `./${shown}` : shown;
  return `'${safe.replaceAll("'", `'\\''`)}'`;
}
