import { buildRefusal, type CheckResult, runLocalChecks } from "@agent/crypto";
import { getCoverage } from "../coverage/coverage.ts";
import { CHECKS } from "./checks.ts";
import { parseHashedLedger } from "../parse.ts";
import type { LedgerRefusal } from "../refusals.ts";
import type { LedgerVerdict } from "./verdict.ts";

/** What the verifier knows besides the ledger; what is left out is not asked. */
export interface VerifyLedgerOptions {
  /** The key or all keys of the agent, as 64 lowercase hex digits; a signed ledger needs one. */
  readonly publicKey?: string | readonly string[] | undefined;
  /** The agent whose ledger it has to be. */
  readonly agentId?: string | undefined;
}

/**
 * Judges a ledger, given as a value or as its JSON text (specification, Ledger). Never throws on what
 * it is handed: a refused ledger has its `code`, of which LedgerRefusal is the list. A rung that
 * fails on a valid ledger is a remark (LedgerWarning): valid means that the timeline is what was
 * hashed and, unless `ledger.unsigned` is remarked, signed; `uncovered` names what is only claimed.
 */
export function verifyLedger(
  ledger: object | string,
  options: VerifyLedgerOptions = {},
): LedgerVerdict {
  const parsed = parseHashedLedger(ledger);
  if (!parsed.ok)
    return toRefusedVerdict(buildRefusal("structure", parsed.code).checks, parsed.code);
  const { publicKey = [], agentId } = options;
  const keys = typeof publicKey === "string" ? [publicKey] : publicKey;
  const context = { hash: parsed.hash, keys, agentId };
  const { checks, refusal } = runLocalChecks(CHECKS, parsed.ledger, context);
  return refusal === undefined
    ? { valid: true, checks, nested: [], ...getCoverage(parsed.ledger) }
    : toRefusedVerdict(checks, refusal);
}

function toRefusedVerdict(checks: readonly CheckResult[], code: LedgerRefusal): LedgerVerdict {
  return { valid: false, code, checks, nested: [], covered: [], uncovered: [] };
}
