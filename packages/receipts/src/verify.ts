import type { Check, Verdict } from "@agent/crypto";
import { type BoundKeys, candidateKeys } from "./keys.ts";
import { type Known, LADDER, SIGNATURE } from "./ladder.ts";
import { RECEIPT_LIMITS } from "./limits.ts";
import { readReceipt } from "./parse.ts";
import type { ReceiptRefusal } from "./refusals.ts";
import type { ExecutionReceipt } from "./schema.ts";
import { type SignatureClaim, signatureHolds, signatureHoldsAsync } from "./signature.ts";
import type { Span } from "./time-span.ts";

/** What the verifier knows besides the receipt; what is left out is not asked. */
export interface VerifyOptions {
  /** The key or all keys bound to the agent, as 64 lowercase hex digits; else the embedded one. */
  readonly publicKey?: BoundKeys | undefined;
  /** The task the receipt has to be signed for. */
  readonly taskId?: string | undefined;
  /** The prompt as it was submitted; its hash is compared. */
  readonly prompt?: string | undefined;
  /** The verifier's clock in ms since the epoch: no receipt expires, one of the future is noted. */
  readonly now?: number | undefined;
  /** The keys bound to a nested receipt's agent; undefined: its embedded key counts, []: none. */
  readonly keyOf?: ((receipt: ExecutionReceipt) => BoundKeys | undefined) | undefined;
}

export type ReceiptVerdict = Verdict<ReceiptRefusal>;

/**
 * Judges a receipt, given as a value or as its JSON text, and the receipts nested in it down to ten
 * hops (specification, ExecutionReceipt). Never throws on what it is handed: a refused receipt has
 * its `code`, of which ReceiptRefusal is the list. A rung that fails on a valid receipt is a remark
 * (ReceiptRemark), and a refused nested receipt leaves the one around it valid.
 */
export function verifyReceipt(
  receipt: object | string,
  options: VerifyOptions = {},
): ReceiptVerdict {
  return judge(receipt, options, OUTERMOST);
}

/** As `verifyReceipt`, with the signatures checked off the event loop where there are threads. */
export async function verifyReceiptAsync(
  receipt: object | string,
  options: VerifyOptions = {},
): Promise<ReceiptVerdict> {
  return judgeAsync(receipt, options, OUTERMOST);
}

/** Where a receipt stands in the tree that is judged. */
type Place = Pick<Known, "depth" | "parent">;

const OUTERMOST: Place = { depth: 0, parent: undefined };

function judge(value: unknown, options: VerifyOptions, place: Place): ReceiptVerdict {
  const climb = climbLadder(value, options, place);
  let step = climb.next();
  while (!step.done) step = climb.next(signatureHolds(step.value));
  const inside = forNested(options);
  const below = { depth: place.depth + 1, parent: step.value.span };
  const nested = step.value.nested.map((receipt) => judge(receipt, inside, below));
  return verdictOf(step.value, nested);
}

async function judgeAsync(
  value: unknown,
  options: VerifyOptions,
  place: Place,
): Promise<ReceiptVerdict> {
  const climb = climbLadder(value, options, place);
  let step = climb.next();
  while (!step.done) step = climb.next(await signatureHoldsAsync(step.value));
  const inside = forNested(options);
  const below = { depth: place.depth + 1, parent: step.value.span };
  const nested = step.value.nested.map((receipt) => judgeAsync(receipt, inside, below));
  return verdictOf(step.value, await Promise.all(nested));
}

/** `publicKey`, task and prompt are about the outermost receipt alone. */
function forNested({ keyOf, now }: VerifyOptions): VerifyOptions {
  return { keyOf, now };
}

interface Climbed {
  readonly checks: readonly Check[];
  readonly refusal: ReceiptRefusal | undefined;
  /** The nested receipts to judge next; none of a refused receipt, as nobody vouches for them. */
  readonly nested: readonly unknown[];
  /** The span that they have to lie in. */
  readonly span: Span | undefined;
}

/** Climbs up to the first refusal; asks its driver on the way whether the signature holds. */
function* climbLadder(
  value: unknown,
  { publicKey, keyOf, taskId, prompt, now }: VerifyOptions,
  { depth, parent }: Place,
): Generator<SignatureClaim, Climbed, boolean> {
  const read = readReceipt(value);
  if (!read.ok) return refusedAt([], "structure", read.code);
  const { receipt, signedText } = read;
  const keys = candidateKeys(receipt, publicKey ?? keyOf?.(receipt));
  const known: Known = { keys, taskId, prompt, now, depth, parent };

  const checks: Check[] = [{ name: "structure", ok: true }];
  for (const { name, holds, refusal, remark } of LADDER) {
    const ok =
      holds === SIGNATURE
        ? yield { signature: receipt.signature, signedText, keys }
        : holds(receipt, known);
    if (ok === undefined) continue;
    if (ok) checks.push({ name, ok });
    else if (refusal !== undefined) return refusedAt(checks, name, refusal);
    else checks.push({ name, ok, code: remark });
  }
  const nested = depth < RECEIPT_LIMITS.maxHops ? (receipt.delegation_receipts ?? []) : [];
  return { checks, refusal: undefined, nested, span: receipt };
}

function refusedAt(above: readonly Check[], name: string, code: ReceiptRefusal): Climbed {
  return {
    checks: [...above, { name, ok: false, code }],
    refusal: code,
    nested: [],
    span: undefined,
  };
}

function verdictOf({ checks, refusal }: Climbed, nested: ReceiptVerdict[]): ReceiptVerdict {
  return refusal === undefined
    ? { valid: true, checks, nested }
    : { valid: false, code: refusal, checks, nested };
}
