import { parseJsonText } from "@agent/crypto";
import {
  findLogPlace,
  getOutcome,
  parseLogOptions,
  PROOF_LEVELS,
  type Verdict,
  verifyArtifact,
  verifyLogProof,
} from "@agent/verify";
import type { LogExample } from "../../load-log-examples.ts";
import { NOW, type Shown } from "./verifier.ts";

/** Returns the verdict of Node.js in the page's words. */
export function getExpected(
  text: string,
  keys: readonly string[],
  { log = {}, proof, identity }: Partial<LogExample> = {},
): Shown {
  const parsed = parseLogOptions(log);
  if (!parsed.ok) throw new Error(parsed.message);
  const publicKey = keys.length === 0 ? undefined : keys;
  const options = { now: NOW, publicKey, log: parsed.options };
  const relaySuccession = identity?.succession;
  const artifact = parseJsonText(text)?.value ?? text;
  const alone = verifyArtifact(text, { ...options, relaySuccession });
  const verdict = verifyLogProof(alone, artifact, proof, options);
  const place = findLogPlace(verdict, artifact, options, proof);
  const isLogText = verdict.kind === "log_proof" || verdict.kind === "checkpoint";
  const isNamed = isLogText ? log.log !== undefined : publicKey !== undefined;
  return {
    state: getState(verdict, isNamed),
    code: verdict.code,
    levels: verdict.kind === null ? [] : PROOF_LEVELS.map(({ name }) => levelOf(verdict, name)),
    ...(place !== null && { head: Buffer.from(place.root).toString("hex") }),
  };
}

function getState(verdict: Verdict, isNamed: boolean): string {
  if (verdict.kind === null) return "unreadable";
  if (getOutcome(verdict, { publicKey: isNamed ? "named" : undefined }) === "refused") {
    return "refused";
  }
  const isBound = verdict.checks.some(({ name, ok }) => name === "key_bound" && ok);
  return isNamed && isBound ? "confirmed" : "unconfirmed";
}

function levelOf({ checks }: Verdict, name: string): string {
  const check = checks.find((each) => each.name === name);
  return check === undefined ? "absent" : check.ok ? "holds" : "fails";
}
