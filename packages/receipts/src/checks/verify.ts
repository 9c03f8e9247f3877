import {
  buildRefusal,
  type CheckOutcome,
  type CheckResult,
  completeChecks,
  completeChecksAsync,
  runChecks,
} from "@agent/crypto";
import { type BoundKeys, listCandidateKeys } from "../keys/candidate-keys.ts";
import { type VerifyContext, CHECKS } from "./checks.ts";
import { RECEIPT_LIMITS } from "../limits.ts";
import { parseReceipt, type ReceiptFault } from "../parse.ts";
import { ParsedReceipt } from "../parsed-receipt.ts";
import type { ReceiptRefusal } from "../refusals.ts";
import type { ExecutionReceipt } from "../schema.ts";
import { isSignatureValid, isSignatureValidAsync } from "./signature.ts";

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyReceiptOptions {
  /**
   * The key or all keys bound to the agent, as 64 lower-case hex digits; by default the embedded one. Texts
   * in any other form, such as a did:key, are ignored; if no key remains, the receipt is refused with
   * `receipt.key_missing`.
   */
  readonly publicKey?: BoundKeys | undefined;
  /** The task that the receipt must be signed for. */
  readonly taskId?: string | undefined;
  /** The submitted prompt, whose hash the receipt must contain. */
  readonly prompt?: string | undefined;
  /**
   * The verifier's clock in ms since the epoch. Receipts do not expire; one from the future gets a warning.
   */
  readonly now?: number | undefined;
  /**
   * The keys bound to a nested receipt's agent; undefined accepts its embedded key, [] accepts
   * none.
   */
  readonly findKeys?: ((receipt: ExecutionReceipt) => BoundKeys | undefined) | undefined;
}

/** The verdict on a receipt; it contains the receipt if that is valid. */
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
      /** The result of `hashReceipt`. */
      readonly hash: string;
    }
  | { readonly valid: false; readonly code: ReceiptRefusal }
);

/**
 * Verifies a receipt, given as a value, as its JSON text or as the result of `parseReceipt`, and
 * the receipts nested in it down to ten hops (specification, ExecutionReceipt). Never throws on a
 * value: a refused receipt has a `code` of ReceiptRefusal. A failed check of a valid receipt is a
 * warning (ReceiptWarning), and a refused nested receipt leaves the one around it valid.
 */
export function verifyReceipt(
  receipt: object | string,
  options: VerifyReceiptOptions = {},
): ReceiptVerdict {
  return verifyNested(receipt, options, topLevel);
}

/**
 * Verifies like `verifyReceipt`, but verifies the signatures off the event loop where the platform has
 * threads.
 */
export async function verifyReceiptAsync(
  receipt: object | string,
  options: VerifyReceiptOptions = {},
): Promise<ReceiptVerdict> {
  return verifyNestedAsync(receipt, options, topLevel);
}

/** The position of a receipt in the tree of nested receipts. */
type NestingPosition = Pick<VerifyContext, "depth" | "parent">;

const topLevel: NestingPosition = { depth: 0, parent: undefined };

function verifyNested(
  value: unknown,
  options: VerifyReceiptOptions,
  position: NestingPosition,
): ReceiptVerdict {
  const parsed = parseOnce(value);
  if (!parsed.ok) return toReceiptVerdict(parsed, buildRefusal("structure", parsed.code), []);
  const run = runChecks(CHECKS, parsed.receipt, buildContext(parsed, options, position));
  const outcome = completeChecks(run, isSignatureValid);
  const nested = listNested(parsed, outcome, position).map((receipt) =>
    verifyNested(receipt, toNestedOptions(options), toNestedPosition(parsed, position)),
  );
  return toReceiptVerdict(parsed, outcome, nested);
}

async function verifyNestedAsync(
  value: unknown,
  options: VerifyReceiptOptions,
  position: NestingPosition,
): Promise<ReceiptVerdict> {
  const parsed = parseOnce(value);
  if (!parsed.ok) return toReceiptVerdict(parsed, buildRefusal("structure", parsed.code), []);
  const run = runChecks(CHECKS, parsed.receipt, buildContext(parsed, options, position));
  const outcome = await completeChecksAsync(run, isSignatureValidAsync);
  const nested = listNested(parsed, outcome, position).map((receipt) =>
    verifyNestedAsync(receipt, toNestedOptions(options), toNestedPosition(parsed, position)),
  );
  return toReceiptVerdict(parsed, outcome, await Promise.all(nested));
}

function parseOnce(value: unknown): ParsedReceipt | ReceiptFault {
  return value instanceof ParsedReceipt ? value : parseReceipt(value);
}

function buildContext(
  { receipt, signedText }: ParsedReceipt,
  { publicKey, findKeys, taskId, prompt, now }: VerifyReceiptOptions,
  { depth, parent }: NestingPosition,
): VerifyContext {
  const keys = listCandidateKeys(receipt, publicKey ?? findKeys?.(receipt));
  return { signedText, keys, taskId, prompt, now, depth, parent };
}

/** Returns the nested receipts to verify: none of a refused receipt or below the deepest hop. */
function listNested(
  { receipt }: ParsedReceipt,
  { refusal }: CheckOutcome<ReceiptRefusal>,
  { depth }: NestingPosition,
): readonly unknown[] {
  const isVerified = refusal === undefined && depth < RECEIPT_LIMITS.maxHops;
  return isVerified ? (receipt.delegation_receipts ?? []) : [];
}

/** `publicKey`, `taskId` and `prompt` apply to the outermost receipt only. */
function toNestedOptions({ findKeys, now }: VerifyReceiptOptions): VerifyReceiptOptions {
  return { findKeys, now };
}

function toNestedPosition({ receipt }: ParsedReceipt, { depth }: NestingPosition): NestingPosition {
  return { depth: depth + 1, parent: receipt };
}

function toReceiptVerdict(
  parsed: ParsedReceipt | ReceiptFault,
  { checks, refusal }: CheckOutcome<ReceiptRefusal>,
  nested: readonly ReceiptVerdict[],
): ReceiptVerdict {
  if (!parsed.ok) return { valid: false, code: parsed.code, checks, nested };
  if (refusal !== undefined) return { valid: false, code: refusal, checks, nested };
  const { receipt, hash } = parsed;
  return { valid: true, receipt, hash, checks, nested };
}
