import type { Ledger } from "../schema.ts";
import type { LedgerVerdict } from "../checks/verdict.ts";

/** The hash and the signature are the seal itself: neither is a statement of the agent's. */
const INTEGRITY_MEMBERS = ["content_hash", "signature"];

/** Which members of a valid ledger its signature stands for. */
export function getCoverage(ledger: Ledger): Pick<LedgerVerdict, "covered" | "uncovered"> {
  const covered = ledger.signature === undefined ? [] : ["timeline"];
  const uncovered = Object.keys(ledger).filter(
    (member) => !covered.includes(member) && !INTEGRITY_MEMBERS.includes(member),
  );
  return { covered, uncovered };
}
