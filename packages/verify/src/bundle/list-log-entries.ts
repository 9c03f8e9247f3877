import { hexToBytes, bytesToHex, verifyJson } from "@agent/crypto";
import { type ExecutionReceipt, flattenChain, hashReceipt } from "@agent/receipts";
import {
  buildLogEntry,
  entryOf,
  hashTag,
  isSameArtifact,
  type LogEntryFacts,
  parseLogEntry,
} from "@agent/transparency";
import { parseDidKey } from "../expected-key.ts";
import { getReceiptHash } from "./get-receipt-hash.ts";
import { listAgentKeys } from "./key-lookup.ts";
import type { EvidenceBundle, Signer } from "./schema.ts";

/** A part of a bundle that a log can contain. */
export interface LoggablePart {
  /** Whether the log must contain it before the bundle counts as logged. */
  readonly isNeeded: boolean;
  /** The hash of its artifact, 64 lower-case hex digits, by which entries are found. */
  readonly artifactHash: string;
  /** Returns whether an entry is of this part, whatever its time. */
  readonly isHeldBy: (entry: Uint8Array) => boolean;
}

/** The members of a bundle whose parts a log can contain. */
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

/** Returns whether a key, as 64 lower-case hex digits, signed a receipt. */
export type IsSignedBy = (receipt: ExecutionReceipt, publicKey: string) => boolean;

/** Only the log knows the times of its entries. */
const untimed = { time: 0 };

const isSigned: IsSignedBy = (receipt, publicKey) => verifyJson(receipt, hexToBytes(publicKey));

/**
 * Lists the parts of a bundle that the relay's log can contain, except the keys of its signers. A signature
 * is checked only for an entry that names its key, because an agent can have many keys and a receipt many
 * nested ones. A relay that verified the signatures before it logged them passes its own `isSignedBy`.
 */
export function listLoggableParts(
  bundle: LoggableEvidence,
  isSignedBy: IsSignedBy = isSigned,
): LoggablePart[] {
  const { receipt, settlements, no_shows = [], signers, task, erased } = bundle;
  const findKey = createTagLookup(signers);
  // An erased receipt no longer shows which of its agent's keys signed it.
  const isOuterSignedBy: IsSignedBy = erased === undefined ? isSignedBy : () => true;
  const nested = flattenChain(receipt).links.map((link) => link.receipt);
  const outer = { ref: task.task_id, artifactHash: getReceiptHash(bundle) };
  return [
    {
      isNeeded: true,
      ...buildReceiptPart(outer, receipt, { findKey, isSignedBy: isOuterSignedBy }),
    },
    ...settlements.map((record) => need(entryOf.settlement(record, untimed))),
    ...listOutcomeParts(bundle),
    ...listCredentialParts(bundle),
    // The same receipt may be nested several times.
    ...[...new Map(nested.map((each) => [hashReceipt(each), each]))].map(([artifactHash, each]) => {
      const facts = { ref: each.relay_task_id ?? each.task_id, artifactHash };
      return { isNeeded: false, ...buildReceiptPart(facts, each, { findKey, isSignedBy }) };
    }),
    ...no_shows.map((record) => allow(entryOf.noShow(record, untimed))),
  ];
}

/** Lists the keys of signers; a log can record when each of them came into force. */
export function listKeyParts(signers: readonly Signer[]): LoggablePart[] {
  return signers
    .flatMap(({ agent_id, keys, devices }) => [
      ...keys.map((key) => ({ ...key, agent_id, device_id: null })),
      ...devices.map((device) => ({ ...device, agent_id })),
    ])
    .map((binding) => allow(entryOf.keyBound(binding, untimed)));
}

/** Finds the key of an agent that an entry names by its tag. */
type FindKeyByTag = (agentId: string, tag: string) => string | undefined;

function createTagLookup(signers: readonly Signer[]): FindKeyByTag {
  const byAgent = new Map<string, ReadonlyMap<string, string>>();
  return (agentId, tag) => {
    let keys = byAgent.get(agentId);
    if (keys === undefined) {
      const all = listAgentKeys(signers, agentId).map(({ public_key }) => public_key);
      keys = new Map(all.map((key) => [bytesToHex(hashTag("key", key)), key]));
      byAgent.set(agentId, keys);
    }
    return keys.get(tag);
  };
}

const need = (entry: Uint8Array) => buildPart(entry, true);
const allow = (entry: Uint8Array) => buildPart(entry, false);

function buildPart(entry: Uint8Array, isNeeded: boolean): LoggablePart {
  const parsed = parseLogEntry(entry);
  if (!parsed.ok) throw new Error("an entry that was built is malformed");
  const { artifactHash } = parsed.entry;
  return { isNeeded, artifactHash, isHeldBy: (held) => isSameArtifact(held, entry) };
}

function buildReceiptPart(
  facts: Pick<LogEntryFacts, "artifactHash"> & { readonly ref: string },
  receipt: ExecutionReceipt,
  { findKey, isSignedBy }: { readonly findKey: FindKeyByTag; readonly isSignedBy: IsSignedBy },
): Omit<LoggablePart, "isNeeded"> {
  const { artifactHash } = facts;
  const { agent_id: agentId } = receipt;
  return {
    artifactHash,
    isHeldBy(held) {
      const parsed = parseLogEntry(held);
      const publicKey = parsed.ok ? findKey(agentId, parsed.entry.keyTag) : undefined;
      if (publicKey === undefined) return false;
      const entry = buildLogEntry({ kind: "receipt", ...untimed, ...facts, agentId, publicKey });
      return isSameArtifact(held, entry) && isSignedBy(receipt, publicKey);
    },
  };
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
