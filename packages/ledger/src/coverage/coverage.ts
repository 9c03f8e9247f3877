import type { Ledger } from "../schema.ts";
import type { LedgerVerdict } from "../checks/verdict.ts";

/** The members that are neither covered nor claims of the agent. */
const INTEGRITY_MEMBERS = ["content_hash", "signature"];

/** Returns the members of a valid ledger that its signature covers and those that it does not. */
export function getCoverage(ledger: Ledger): Pick<LedgerVerdict, "covered" | "uncovered"> {
  const covered = ledger.signature === undefined ? [] : ["timeline"];
  const uncovered = Object.keys(ledger).filter(
    (member) => !covered.includes(member) && !INTEGRITY_MEMBERS.includes(member),
  );
  return { covered, uncovered };
}
