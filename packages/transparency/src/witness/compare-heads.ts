import { equalBytes } from "@agent/crypto";
import type { TreeHead } from "../notes/checkpoint.ts";
import { verifyConsistency } from "../tree/verify-proof.ts";

/** Whether both heads can belong to one log that only grew, or the code of the refusal. */
export type CompareHeadsResult =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "log.wrong_origin" | "log.equivocation" | "log.consistency_invalid";
    };

/**
 * Compares two heads of one log that were opened by `openCheckpoint`, in any order. Different roots for one
 * size are `log.equivocation`: the log signed both checkpoints, which are the evidence. Heads of different
 * sizes need the consistency proof between them; without a valid one the result is
 * `log.consistency_invalid`, which alone proves nothing against the log. Heads of two origins are
 * `log.wrong_origin`.
 */
export function compareHeads(
  left: TreeHead,
  right: TreeHead,
  proof: readonly Uint8Array[] = [],
): CompareHeadsResult {
  if (left.origin !== right.origin) return { ok: false, code: "log.wrong_origin" };
  if (left.size === right.size) {
    return equalBytes(left.root, right.root)
      ? { ok: true }
      : { ok: false, code: "log.equivocation" };
  }
  const [old, head] = left.size < right.size ? [left, right] : [right, left];
  const { ok } = verifyConsistency({
    oldSize: old.size,
    size: head.size,
    oldRoot: old.root,
    root: head.root,
    proof,
  });
  return ok ? { ok } : { ok, code: "log.consistency_invalid" };
}
