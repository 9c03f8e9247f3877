import { RECEIPT_LIMITS } from "../limits.ts";
import { checkReceiptMembers } from "../parse.ts";
import type { ExecutionReceipt } from "../schema.ts";
import { countNested } from "./count-nested.ts";
import type { ReceiptVerdict } from "./verify.ts";

/** A nested receipt of valid structure and its position; its signature is not checked. */
export interface ChainLink {
  readonly receipt: ExecutionReceipt;
  /** The receipt that contains it. */
  readonly parent: ExecutionReceipt;
  /** Hops from the outermost receipt, at least 1. */
  readonly depth: number;
  /** Its position: the index in each `delegation_receipts` on the way down. */
  readonly path: readonly number[];
}

/** The receipts nested in one receipt, as `flattenChain` lists them. */
export interface ReceiptChain {
  /** The nested receipts down to ten hops, each after the receipt that contains it. */
  readonly links: readonly ChainLink[];
  /** Whether receipts are nested deeper than ten hops. */
  readonly depthLimited: boolean;
  /** The number of all nested receipts, including those that `links` leaves out. */
  readonly count: number;
}

/**
 * Lists the receipts nested in one that `parseReceipt` accepted. Leaves out a malformed one with
 * all receipts inside it.
 */
export function flattenChain(receipt: ExecutionReceipt): ReceiptChain {
  const links: ChainLink[] = [];
  const depthLimited = collectLinks(receipt, [], links);
  return { links, depthLimited, count: countNested(receipt) };
}

/** Recursion is limited to the ten hops that are listed. */
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

/** Returns the verdict on the nested receipt at a link's path; undefined if it was not verified. */
export function getVerdictAt(
  verdict: ReceiptVerdict,
  path: readonly number[],
): ReceiptVerdict | undefined {
  let found: ReceiptVerdict | undefined = verdict;
  for (const index of path) found = found?.nested[index];
  return found;
}
