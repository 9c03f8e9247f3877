import * as v from "valibot";
import { canonicalize, isPlainObject, readJsonText, unlessMalformed } from "@agent/crypto";
import { hashTimeline } from "./checks/hash-timeline.ts";
import { type Ledger, LedgerMembersSchema } from "./schema.ts";

/** The fault of a malformed ledger: the member and the rule that it breaks, never its content. */
export interface LedgerFault {
  readonly ok: false;
  readonly code: "ledger.malformed";
  /** The path of the member, joined with dots; empty if the fault is in no single member. */
  readonly path: string;
  readonly message: string;
}

interface ParsedLedger {
  readonly ok: true;
  readonly ledger: Ledger;
  /** The computed hash of the timeline, which may differ from the stated one. */
  readonly hash: string;
}

/**
 * Parses a ledger, given as a value or as its JSON text. Checks neither its `spec` nor its hash nor
 * its signature. The returned ledger is the value itself, unknown members included.
 *
 * Refuses with `ledger.malformed`.
 */
export function parseLedger(
  value: unknown,
): { readonly ok: true; readonly ledger: Ledger } | LedgerFault {
  const read = parseHashedLedger(value);
  return read.ok ? { ok: true, ledger: read.ledger } : read;
}

/** Parses like `parseLedger` and returns the hash as well. */
export function parseHashedLedger(input: unknown): ParsedLedger | LedgerFault {
  const parsed = typeof input === "string" ? readJsonText(input) : { value: input };
  if ("fault" in parsed) return malformedLedger(parsed.fault.path, parsed.fault.message);
  if (!isPlainObject(parsed.value)) return malformedLedger("", "must be a JSON object");
  const checked = v.safeParse(LedgerMembersSchema, parsed.value, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    return malformedLedger(v.getDotPath(issue) ?? "", issue.message);
  }
  // The original value, because valibot's output lacks members called `__proto__`.
  const ledger = parsed.value as Ledger;
  for (const [path, value] of listObjects(ledger)) {
    if (Array.isArray(value)) return malformedLedger(path, "must be a JSON object");
  }
  const hash = hashLedger(ledger);
  return hash === undefined
    ? malformedLedger("", "must be plain JSON data of at most 64 levels, without lone surrogates")
    : { ok: true, ledger, hash };
}

/**
 * Yields the values that must be objects, with their paths, because valibot accepts an array as an object.
 */
function* listObjects(ledger: Ledger): Iterable<[path: string, value: unknown]> {
  for (const [index, event] of ledger.timeline.entries()) {
    yield [`timeline.${index}`, event];
    yield [`timeline.${index}.payload`, event.payload];
  }
  for (const [index, step] of ledger.steps.entries()) {
    yield [`steps.${index}`, step];
    yield [`steps.${index}.delegation`, step.delegation];
  }
  for (const [index, summary] of (ledger.delegation_receipts ?? []).entries()) {
    yield [`delegation_receipts.${index}`, summary];
  }
}

function hashLedger(ledger: Ledger): string | undefined {
  return unlessMalformed(() => {
    // Relays and verifiers hash whole ledgers, so the unsigned members need a canonical form as well.
    canonicalize({ ...ledger, timeline: undefined });
    return hashTimeline(ledger.timeline);
  });
}

function malformedLedger(path: string, message: string): LedgerFault {
  return { ok: false, code: "ledger.malformed", path, message };
}
