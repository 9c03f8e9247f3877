import { buildRefusal, type CheckResult, runLocalChecks } from "@agent/crypto";
import { getCoverage } from "../coverage/coverage.ts";
import { CHECKS } from "./checks.ts";
import { parseHashedLedger } from "../parse.ts";
import type { LedgerRefusal } from "../refusals.ts";
import type { LedgerVerdict } from "./verdict.ts";

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyLedgerOptions {
  /** The key or all keys of the agent, as 64 lower-case hex digits; a signed ledger needs one. */
  readonly publicKey?: string | readonly string[] | undefined;
  /** The agent whose ledger it must be. */
  readonly agentId?: string | undefined;
}

/**
 * Verifies a ledger, given as a value or as its JSON text (specification, Ledger). Never throws on a value:
 * a refused ledger has a `code` of LedgerRefusal. A failed check of a valid ledger is a warning
 * (LedgerWarning). A valid verdict means that the timeline matches its hash and, unless there is the
 * warning `ledger.unsigned`, that it is signed; `uncovered` lists the members that are not authenticated.
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
