import { readFileSync, statSync } from "node:fs";

type TokenResult =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly message: string };

/** The permissions of all but the owner of a file. */
const OTHERS = 0o077;

/**
 * Reads the operator's token from a file that only its owner may read, or otherwise from the environment.
 * Of two tokens the first is used.
 */
export function readOperatorToken(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): TokenResult {
  if (file === undefined) {
    const token = firstToken(env["AGENT_API_TOKEN"] ?? "");
    if (token !== "") return checkToken(token, "AGENT_API_TOKEN");
    const named = env["AGENT_API_TOKEN_FILE"]?.trim() ?? "";
    if (named !== "") return readTokenFrom(named);
    return {
      ok: false,
      message: "set AGENT_API_TOKEN to the master token of the relay, or name --token-file FILE",
    };
  }
  return readTokenFrom(file);
}

function readTokenFrom(file: string): TokenResult {
  try {
    if ((statSync(file).mode & OTHERS) !== 0) {
      return { ok: false, message: `others may read ${file}: chmod 600 ${file}` };
    }
    const token = firstToken(readFileSync(file, "utf8"));
    if (token === "") return { ok: false, message: `${file} contains no token` };
    return checkToken(token, file);
  } catch {
    return { ok: false, message: `${file} cannot be read` };
  }
}

/** Anything else cannot be sent in a header. */
function checkToken(token: string, source: string): TokenResult {
  if (/^[\x21-\x7e]+$/.test(token)) return { ok: true, token };
  return { ok: false, message: `the token in ${source} must be printable ASCII without blanks` };
}

const firstToken = (text: string) => text.split(",")[0]?.trim() ?? "";
