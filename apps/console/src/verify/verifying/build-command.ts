import { formatNamedKey, type NamedKey } from "@agent/verify";
import { showText } from "../../shared/format/show-text.ts";
import { splitWords, type TrustTexts } from "./parse-trust.ts";

/** Builds the command that verifies the same file with the same keys. */
export function buildCommand(
  name: string,
  keys: readonly NamedKey[],
  { log, witnesses, quorum }: TrustTexts,
  uses: { readonly proof: boolean; readonly succession: boolean },
): string {
  const option = (flag: string, text: string) => (text === "" ? [] : [flag, quoteForShell(text)]);
  return [
    "agent-verify",
    ...keys.flatMap((key) => ["--key", formatNamedKey(key)]),
    ...option("--log", log.trim()),
    ...splitWords(witnesses).flatMap((witness) => option("--witness", witness)),
    ...option("--quorum", quorum.trim()),
    ...(uses.proof ? ["--proof", "THE-PROOF-FILE"] : []),
    ...(uses.succession ? ["--succession", "THE-SUCCESSION-FILE"] : []),
    quoteForShell(name),
  ].join(" ");
}

function quoteForShell(name: string): string {
  const shown = showText(name).replaceAll(/[\n\t]/g, "?");
  if (/^[\w./][\w./-]*$/.test(shown)) return shown;
  const safe = shown.startsWith("-") ? `./${shown}` : shown;
  return `'${safe.replaceAll("'", `'\\''`)}'`;
}
