import { hexToBytes, verifyJson } from "@agent/crypto";
import { type ExecutionReceipt, flattenChain } from "@agent/receipts";
import { buildLogEntry, entryOf } from "@agent/transparency";
import { parseDidKey } from "../expected-key.ts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { createAnyKeyLookup } from "./key-lookup.ts";
import type { EvidenceBundle } from "./schema.ts";

/** A part of a bundle that a log can hold. */
export interface LoggablePart {
  /** Whether the log must hold it before the bundle counts as logged. */
  readonly isNeeded: boolean;
  /** The entries of which the log must hold one; their times do not count. */
  readonly entries: readonly Uint8Array[];
}

/** The members of a bundle whose parts a log can hold. */
export type LoggableEvidence = Pick<
  EvidenceBundle,
  | "task"
  | "receipt"
  | "erased"
  | "signers"
  | "settlements"
  | "no_shows"
  | "inspection"
  | "credential"
>;

/** A log alone knows the time of its entries. */
const untimed = { time: 0 };

/** Lists the parts of a bundle that the relay's log can hold, with the entries that they must have. */
export function listLoggableParts(bundle: LoggableEvidence): LoggablePart[] {
  const { receipt, settlements, no_shows = [], signers } = bundle;
  const nested = flattenChain(receipt).links.map((link) => link.receipt);
  const bindings = signers.flatMap(({ agent_id, keys, devices }) => [
    ...keys.map((key) => ({ ...key, agent_id, device_id: null })),
    ...devices.map((device) => ({ ...device, agent_id })),
  ]);
  return [
    { isNeeded: true, entries: buildReceiptEntries(bundle) },
    ...settlements.map((record) => need(entryOf.settlement(record, untimed))),
    ...listOutcomeParts(bundle),
    ...listCredentialParts(bundle),
    ...nested.map((each) => ({ isNeeded: false, entries: buildNestedEntries(bundle, each) })),
    ...no_shows.map((record) => allow(entryOf.noShow(record, untimed))),
    ...bindings.map((binding) => allow(entryOf.keyBound(binding, untimed))),
  ];
}

const need = (entry: Uint8Array): LoggablePart => ({ isNeeded: true, entries: [entry] });
const allow = (entry: Uint8Array): LoggablePart => ({ isNeeded: false, entries: [entry] });

/** An erased receipt no longer shows which of its agent's keys signed it. */
function buildReceiptEntries(bundle: LoggableEvidence): Uint8Array[] {
  const { receipt, task, erased, signers } = bundle;
  const keys = createAnyKeyLookup(signers)(receipt);
  const signing = erased === undefined ? filterSigningKeys(receipt, keys) : keys;
  return signing.map((publicKey) =>
    buildLogEntry({
      kind: "receipt",
      ...untimed,
      agentId: receipt.agent_id,
      publicKey,
      ref: task.task_id,
      artifactHash: getReceiptHash(bundle),
    }),
  );
}

function buildNestedEntries({ signers }: LoggableEvidence, nested: ExecutionReceipt): Uint8Array[] {
  const keys = filterSigningKeys(nested, createAnyKeyLookup(signers)(nested));
  const ref = nested.relay_task_id ?? nested.task_id;
  return keys.map((publicKey) => entryOf.receipt(nested, { ...untimed, publicKey, ref }));
}

function filterSigningKeys(receipt: ExecutionReceipt, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => verifyJson(receipt, hexToBytes(key)));
}

function listOutcomeParts({ inspection, receipt }: LoggableEvidence): LoggablePart[] {
  const outcome = inspection?.outcome ?? null;
  if (outcome === null) return [];
  return [need(entryOf.outcome(outcome, { ...untimed, agentId: receipt.agent_id }))];
}

function listCredentialParts({ credential, receipt }: LoggableEvidence): LoggablePart[] {
  if (credential === null) return [];
  const subject = credential.credentialSubject as { id?: unknown } | undefined;
  const publicKey = parseDidKey(subject?.id) ?? "";
  return [
    need(entryOf.credential(credential, { ...untimed, agentId: receipt.agent_id, publicKey })),
  ];
}
