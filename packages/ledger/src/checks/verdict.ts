import type { Verdict } from "@agent/crypto";
import type { LedgerRefusal } from "../refusals.ts";

/** What a verifier found. `nested` is always empty: a ledger names receipts and carries none. */
export type LedgerVerdict = Verdict<LedgerRefusal> & {
  readonly nested: readonly [];
  /** What the signature stands for: the timeline; nothing when it is unsigned or refused. */
  readonly covered: readonly string[];
  /** The other members, which anybody may have written. */
  readonly uncovered: readonly string[];
};
