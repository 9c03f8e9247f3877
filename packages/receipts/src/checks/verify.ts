import type { CheckResult } from "@agent/crypto";
import { type BoundKeys, listCandidateKeys } from "../keys/candidate-keys.ts";
import { type VerifyContext, CHECKS, SIGNATURE } from "./checks.ts";
import { RECEIPT_LIMITS } from "../limits.ts";
import { parseReceipt } from "../parse.ts";
import { ParsedReceipt } from "../parsed-receipt.ts";
import type { ReceiptRefusal } from "../refusals.ts";
import type { ExecutionReceipt } from "../schema.ts";
import { type SignatureClaim, isSignatureValid, isSignatureValidAsync } from "./signature.ts";
import type { TimeSpan } from "./time-span.ts";

/** What the verifier knows besides the receipt; what is left out is not asked. */
export interface VerifyReceiptOptions {
  /** The key or all keys bound to the agent, as 64 lowercase hex digits; else the embedded one. */
  readonly publicKey?: BoundKeys | undefined;
  /** The task the receipt has to be signed for. */
  readonly taskId?: string | undefined;
  /** The prompt as it was submitted; its hash is compared. */
  readonly prompt?: string | undefined;
  /** The verifier's clock in ms since the epoch: no receipt expires, one of the future is noted. */
  readonly now?: number | undefined;
  /** The keys bound to a nested receipt's agent; undefined: its embedded key counts, []: none. */
  readonly findKeys?: ((receipt: ExecutionReceipt) => BoundKeys | undefined) | undefined;
}

/** What was found of a receipt; a Verdict that carries the receipt it is about, once that is valid. */
export type ReceiptVerdict = {
  readonly checks: readonly CheckResult[];
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
 * valid receipt is a remark (ReceiptWarning), and a refused nested receipt leaves the one around it valid.
 */
export function verifyReceipt(
  receipt: object | string,
  options: VerifyReceiptOptions = {},
): ReceiptVerdict {
  return verifyNested(receipt, options, topLevel);
}

/** As `verifyReceipt`, with the signatures checked off the event loop where there are threads. */
export async function verifyReceiptAsync(
  receipt: object | string,
  options: VerifyReceiptOptions = {},
): Promise<ReceiptVerdict> {
  return verifyNestedAsync(receipt, options, topLevel);
}

/** Where a receipt stands in the tree that is judged. */
type NestingPosition = Pick<VerifyContext, "depth" | "parent">;

const topLevel: NestingPosition = { depth: 0, parent: undefined };

function verifyNested(
  value: unknown,
  options: VerifyReceiptOptions,
  position: NestingPosition,
): ReceiptVerdict {
  const run = runReceiptChecks(value, options, position);
  let step = run.next();
  while (!step.done) step = run.next(isSignatureValid(step.value));
  const nestedOptions = toNestedOptions(options);
  const nestedPosition = { depth: position.depth + 1, parent: step.value.span };
  const nested = step.value.nested.map((receipt) =>
    verifyNested(receipt, nestedOptions, nestedPosition),
  );
  return toVerdict(step.value, nested);
}

async function verifyNestedAsync(
  value: unknown,
  options: VerifyReceiptOptions,
  position: NestingPosition,
): Promise<ReceiptVerdict> {
  const run = runReceiptChecks(value, options, position);
  let step = run.next();
  while (!step.done) step = run.next(await isSignatureValidAsync(step.value));
  const nestedOptions = toNestedOptions(options);
  const nestedPosition = { depth: position.depth + 1, parent: step.value.span };
  const nested = step.value.nested.map((receipt) =>
    verifyNestedAsync(receipt, nestedOptions, nestedPosition),
  );
  return toVerdict(step.value, await Promise.all(nested));
}

/** `publicKey`, task and prompt are about the outermost receipt alone. */
function toNestedOptions({ findKeys: keyOf, now }: VerifyReceiptOptions): VerifyReceiptOptions {
  return { findKeys: keyOf, now };
}

interface CheckOutcome {
  readonly checks: readonly CheckResult[];
  readonly found: ParsedReceipt | ReceiptRefusal;
  /** The nested receipts to judge next; none of a refused receipt, as nobody vouches for them. */
  readonly nested: readonly unknown[];
  /** The span that they have to lie in. */
  readonly span: TimeSpan | undefined;
}

/** Climbs up to the first refusal; asks its driver on the way whether the signature holds. */
function* runReceiptChecks(
  value: unknown,
  { publicKey, findKeys: keyOf, taskId, prompt, now }: VerifyReceiptOptions,
  { depth, parent }: NestingPosition,
): Generator<SignatureClaim, CheckOutcome, boolean> {
  const parsed = value instanceof ParsedReceipt ? value : parseReceipt(value);
  if (!parsed.ok) return buildRefusal([], "structure", parsed.code);
  const { receipt, signedText } = parsed;
  const keys = listCandidateKeys(receipt, publicKey ?? keyOf?.(receipt));
  const context: VerifyContext = { keys, taskId, prompt, now, depth, parent };

  const checks: CheckResult[] = [{ name: "structure", ok: true }];
  for (const { name, test: holds, refusal, warning: remark } of CHECKS) {
    const ok =
      holds === SIGNATURE
        ? yield { signature: receipt.signature, signedText, keys }
        : holds(receipt, context);
    if (ok === undefined) continue;
    if (ok) checks.push({ name, ok });
    else if (refusal !== undefined) return buildRefusal(checks, name, refusal);
    else checks.push({ name, ok, code: remark });
  }
  const nested = depth < RECEIPT_LIMITS.maxHops ? (receipt.delegation_receipts ?? []) : [];
  return { checks, found: parsed, nested, span: receipt };
}

function buildRefusal(
  passed: readonly CheckResult[],
  name: string,
  code: ReceiptRefusal,
): CheckOutcome {
  return {
    checks: [...passed, { name, ok: false, code }],
    found: code,
    nested: [],
    span: undefined,
  };
}

function toVerdict({ checks, found }: CheckOutcome, nested: ReceiptVerdict[]): ReceiptVerdict {
  if (typeof found === "string") return { valid: false, code: found, checks, nested };
  const { receipt, hash } = found;
  return { valid: true, receipt, hash, checks, nested };
}
