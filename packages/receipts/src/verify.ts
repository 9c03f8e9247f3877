import type { Check } from "@agent/crypto";
import { type BoundKeys, candidateKeys } from "./keys.ts";
import { type Known, LADDER, SIGNATURE } from "./ladder.ts";
import { RECEIPT_LIMITS } from "./limits.ts";
import { parseReceipt } from "./parse.ts";
import { ParsedReceipt } from "./parsed-receipt.ts";
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

/** What was found of a receipt; a Verdict that carries the receipt it is about, once that is valid. */
export type ReceiptVerdict = {
  readonly checks: readonly Check[];
  /** One verdict per nested receipt, in its order; empty when the outer one is refused. */
  readonly nested: readonly ReceiptVerdict[];
} & (
  | {
      readonly valid: true;
      readonly code?: undefined;
      /** The value that was verified, unknown members included. */
      readonly receipt: ExecutionReceipt;
      /** What `receiptHash` answers for it. */
      readonly hash: string;
    }
  | { readonly valid: false; readonly code: ReceiptRefusal }
);

/**
 * Judges a receipt, given as a value, as its JSON text or as `parseReceipt` answered it, and the
 * receipts nested in it down to ten hops (specification, ExecutionReceipt). Never throws on what it is
 * handed: a refused receipt has its `code`, of which ReceiptRefusal is the list. A rung that fails on a
 * valid receipt is a remark (ReceiptRemark), and a refused nested receipt leaves the one around it valid.
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
  readonly found: ParsedReceipt | ReceiptRefusal;
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
  const parsed = value instanceof ParsedReceipt ? value : parseReceipt(value);
  if (!parsed.ok) return refusedAt([], "structure", parsed.code);
  const { receipt, signedText } = parsed;
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
  return { checks, found: parsed, nested, span: receipt };
}

function refusedAt(above: readonly Check[], name: string, code: ReceiptRefusal): Climbed {
  return {
    checks: [...above, { name, ok: false, code }],
    found: code,
    nested: [],
    span: undefined,
  };
}

function verdictOf({ checks, found }: Climbed, nested: ReceiptVerdict[]): ReceiptVerdict {
  if (typeof found === "string") return { valid: false, code: found, checks, nested };
  const { receipt, hash } = found;
  return { valid: true, receipt, hash, checks, nested };
}
