import type { Verdict } from "@agent/crypto";
import type { LedgerRefusal } from "../refusals.ts";

/**
 * The verdict on a ledger. `nested` is always empty, because a ledger refers to receipts and
 * contains none.
 */
export type LedgerVerdict = Verdict<LedgerRefusal> & {
  readonly nested: readonly [];
  /** The members that the signature covers: the timeline, or none if the ledger is unsigned or refused. */
  readonly covered: readonly string[];
  /** The other members, which are not authenticated. */
  readonly uncovered: readonly string[];
};
