import {
  type ExecutionReceipt,
  type ReceiptVerdict,
  verifyReceipt,
  type VerifyReceiptOptions,
} from "@agent/receipts";
import {
  type NamedCheckResult,
  assignProofLevels,
  type CheckLevels,
} from "../assign-proof-levels.ts";
import { listKeysFor } from "../keys/named-keys.ts";
import type { ProofLevelName } from "../proof-levels.ts";
import type { Verdict } from "../verdict.ts";
import type { VerifyOptions } from "./options.ts";

const checkLevels: CheckLevels = {
  structure: "well_formed",
  time_span: "well_formed",
  suite: "well_formed",
  clock: "well_formed",
  key: "intact",
  signature: "intact",
  bound: "key_bound",
  task_binding: "task_bound",
  delegated_scope: "task_bound",
  prompt_hash: "hashes_match",
  result_hash: "hashes_match",
  nested_span: "hop_bound",
  nested_receipts: "nested",
  hops: "nested",
};

/** Verifies a receipt on its own, with the keys that the caller named for its agent. */
export function checkNamedReceipt(value: object, options: VerifyOptions): Verdict {
  const { publicKey: named, taskId, now } = options;
  const listKeys = (id: string | undefined) => listKeysFor(named ?? [], { role: "agent", id });
  const findKeys = ({ agent_id, public_key }: ExecutionReceipt) => {
    const keys = listKeys(agent_id).filter((key) => key === (public_key ?? key));
    // A nested receipt under any other key still shows what the holder of that key signed.
    return keys.length === 0 ? undefined : keys;
  };
  const { agent_id: id } = value as Partial<ExecutionReceipt>;
  const publicKey = named === undefined ? undefined : listKeys(id);
  const isInnerBound = (inner: ReceiptVerdict) =>
    inner.valid && findKeys(inner.receipt) !== undefined;
  return checkReceipt(value, { publicKey, findKeys, taskId, now }, isInnerBound);
}

/**
 * Verifies a receipt by proof levels, and nested receipts by `findKeys` if it is given. `isInnerBound` returns
 * whether the keys by which a nested receipt was verified are known to be its agent's.
 */
export function checkReceipt(
  receipt: object | string,
  options: VerifyReceiptOptions,
  isInnerBound: KeyBindings["isInnerBound"] = () => options.findKeys !== undefined,
): Verdict {
  const verdict = verifyReceipt(receipt, options);
  const { code } = verdict;
  const bound = { outer: options.publicKey !== undefined, isInnerBound };
  if (!bound.outer || (code !== "receipt.signature_invalid" && code !== "receipt.key_missing")) {
    return toVerdict(verdict, bound);
  }
  // Distinguishes a changed receipt from an intact one whose key is not known to be the agent's.
  const own = verifyReceipt(receipt, { ...options, publicKey: undefined, findKeys: undefined });
  if (own.code === "receipt.signature_invalid") return toVerdict(own, undefined);
  if (own.code === "receipt.key_missing" || code === "receipt.key_missing") {
    return toVerdict(verdict, bound);
  }
  const checks = verdict.checks.map((check) =>
    check.name === "signature" ? { name: "bound", ok: false, code } : check,
  );
  return toVerdict({ ...verdict, checks: [...checks, { name: "signature", ok: true }] }, undefined);
}

/** Whether the signatures were verified with keys that are known to be the agents'. */
interface KeyBindings {
  readonly outer: boolean;
  readonly isInnerBound: (inner: ReceiptVerdict) => boolean;
}

function toVerdict(verdict: ReceiptVerdict, bound: KeyBindings | undefined): Verdict {
  const nested = verdict.nested.map((inner) =>
    toVerdict(inner, bound && { ...bound, outer: bound.isInnerBound(inner) }),
  );
  const isSigned = verdict.checks.some(({ name, ok }) => name === "signature" && ok);
  // Without a key of the agent there is nothing to bind to; without any key, nothing is signed.
  const named: NamedCheckResult[] = verdict.checks
    // Work at the right time is not proof of work for this task, which only a relay can state, and a low
    // number of hops does not prove the receipts in them.
    .filter(({ name, ok }) => !ok || (name !== "nested_span" && name !== "hops"))
    .map((check) =>
      check.name === "key" && !check.ok && bound?.outer === true
        ? { ...check, name: "bound" }
        : check,
    );
  if (bound?.outer === true && isSigned) named.push({ name: "bound", ok: true });
  if (!nested.every(isFullyValid)) {
    named.push({ name: "nested_receipts", ok: false, code: getNestedCode(nested) });
  } else if (nested.length > 0 && nested.every(isFullyBound)) {
    named.push({ name: "nested_receipts", ok: true });
  }
  const checks = assignProofLevels(named, checkLevels);
  return verdict.valid
    ? { kind: "receipt", valid: true, checks, nested }
    : { kind: "receipt", valid: false, code: verdict.code, checks, nested };
}

/**
 * Returns whether a receipt and all receipts nested in it are valid, each within the time span of its
 * parent.
 */
function isFullyValid({ valid, checks }: Verdict): boolean {
  return (
    valid &&
    checks.every(({ name, ok, code }) => ok || (name !== "nested" && code !== NESTED_OUTSIDE_CODE))
  );
}

/** Returns whether a receipt and all receipts nested in it were signed by keys of their agents. */
function isFullyBound({ checks, nested }: Verdict): boolean {
  const holds = (level: ProofLevelName) => checks.some(({ name, ok }) => name === level && ok);
  return holds("key_bound") && (nested.length === 0 || holds("nested"));
}

const NESTED_OUTSIDE_CODE = "receipt.nested_outside";

/** Returns the code of the worst nested receipt: a refusal is worse than a time span outside the parent's. */
function getNestedCode(nested: readonly Verdict[]): string {
  const isOnlyOutside = ({ valid, checks }: Verdict) =>
    valid &&
    checks.every(({ name, ok, code }) => ok || name !== "nested" || code === NESTED_OUTSIDE_CODE);
  return nested.every(isOnlyOutside) ? NESTED_OUTSIDE_CODE : "receipt.nested_refused";
}
