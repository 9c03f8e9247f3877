import { readFileSync } from "node:fs";
import { operatorTokens } from "./config-values.ts";

/** The operator's tokens in AGENT_API_TOKEN_FILE; undefined when it is unreadable or breaks the rule. */
export function readTokenFile(path: string): readonly string[] | undefined {
  try {
    return operatorTokens.parse(readFileSync(path, "utf8").trim());
  } catch {
    return undefined;
  }
}
