import { readFileSync } from "node:fs";
import * as v from "valibot";
import { operatorTokens } from "../config/config-values.ts";

/** Reads the operator's tokens from a file; undefined when it is unreadable or breaks the rule. */
export function readTokenFile(path: string): readonly string[] | undefined {
  try {
    return v.parse(operatorTokens, readFileSync(path, "utf8").trim());
  } catch {
    return undefined;
  }
}
