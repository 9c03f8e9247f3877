import type { LedgerRefusal } from "./refusals.ts";

/** One rung of the ladder that was judged; a rung that fails on a valid ledger is a remark. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly code?: string;
}

/** What a verifier found: the rungs in the order they were judged, up to the one that refused. */
export type LedgerVerdict = {
  readonly checks: readonly Check[];
  /** Always empty: a ledger names receipts and carries none. */
  readonly nested: readonly [];
  /** What the signature stands for: the timeline; nothing when it is unsigned or refused. */
  readonly covered: readonly string[];
  /** The other members, which anybody may have written. */
  readonly uncovered: readonly string[];
} & (
  | { readonly valid: true; readonly code?: undefined }
  | { readonly valid: false; readonly code: LedgerRefusal }
);
