import { RECEIPT_LIMITS } from "../limits.ts";
import { checkReceiptMembers } from "../parse.ts";
import type { ExecutionReceipt } from "../schema.ts";
import { countNested } from "./count-nested.ts";
import type { ReceiptVerdict } from "./verify.ts";

/** One nested receipt of right structure and where it hangs; nothing is said of its signature. */
export interface ChainLink {
  readonly receipt: ExecutionReceipt;
  /** The receipt that carries it. */
  readonly parent: ExecutionReceipt;
  /** Hops from the outermost receipt, from 1 on. */
  readonly depth: number;
  /** Its place: the index in each `delegation_receipts` on the way down. */
  readonly path: readonly number[];
}

export interface ReceiptChain {
  /** Every nested receipt after the one that carries it, down to ten hops. */
  readonly links: readonly ChainLink[];
  /** Whether receipts are nested deeper than that. */
  readonly depthLimited: boolean;
  /** Nested receipts in all, those left out of `links` included. */
  readonly count: number;
}

/**
 * The receipts nested in one that `parseReceipt` took. A malformed one is left out with all that it
 * carries.
 */
export function flattenChain(receipt: ExecutionReceipt): ReceiptChain {
  const links: ChainLink[] = [];
  const depthLimited = collectLinks(receipt, [], links);
  return { links, depthLimited, count: countNested(receipt) };
}

/** Recursion goes no deeper than the ten hops that are walked. */
function collectLinks(
  parent: ExecutionReceipt,
  parentPath: readonly number[],
  links: ChainLink[],
): boolean {
  const nested = parent.delegation_receipts ?? [];
  if (parentPath.length === RECEIPT_LIMITS.maxHops) return nested.length > 0;
  let depthLimited = false;
  for (const [index, value] of nested.entries()) {
    const checked = checkReceiptMembers(value);
    if (!checked.ok) continue;
    const { receipt } = checked;
    const path = [...parentPath, index];
    links.push({ receipt, parent, depth: path.length, path });
    if (collectLinks(receipt, path, links)) depthLimited = true;
  }
  return depthLimited;
}

/** The verdict on the nested receipt at a link's path; undefined where nothing was judged. */
export function getVerdictAt(
  verdict: ReceiptVerdict,
  path: readonly number[],
): ReceiptVerdict | undefined {
  let found: ReceiptVerdict | undefined = verdict;
  for (const index of path) found = found?.nested[index];
  return found;
}
