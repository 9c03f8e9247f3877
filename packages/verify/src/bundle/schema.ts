import { isJsonObject, isUuid } from "@agent/crypto";
import type { VerifiableCredential } from "@agent/credentials";
import {
  type ExecutionReceipt,
  type NoShowRecord,
  NoShowRecordSchema,
  type RelayAttestation,
  RelayAttestationSchema,
  type SettlementRecord,
  SettlementRecordSchema,
} from "@agent/receipts";
import type { RoutingRecord } from "@agent/routing-semiring";
import * as v from "valibot";
import { parseDidKey } from "../expected-key.ts";
import { RoutingRecordSchema } from "./is-routing-consistent.ts";
import { amount, hex32, text, time } from "./fields.ts";
import { type BundleInspection, InspectionSchema } from "./inspection/schema.ts";
import { type BundlePosting, PostingSchema } from "./posting-schema.ts";

/** The only version of the format. */
export const BUNDLE_SPEC = "agent/evidence@1.0";

/**
 * The maximum nesting depth of a bundle. A receipt or a succession record may have the 64 levels of a
 * request, and a bundle adds up to four around it.
 */
export const BUNDLE_LEVELS = 72;

const string = v.string("must be a string");
const uuid = v.pipe(string, v.check(isUuid, "must be a UUID"));
const object = v.custom<object>(isJsonObject, "must be a JSON object");
const looseObjectOf = <Rules extends v.ObjectEntries>(rules: Rules) =>
  v.looseObject(rules, "must be a JSON object with every member of its kind");
const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, "must be an array");

/**
 * The time during which a key was an agent's, by the relay's clock; `valid_until` is null while it is in
 * use.
 */
const keyMembers = { public_key: hex32, valid_from: time, valid_until: v.nullable(time) };

const bundleRules = {
  spec: string,
  relay_id: uuid,
  // The did:key of the relay that signed.
  issuer: v.pipe(
    string,
    v.check((did) => parseDidKey(did) !== null, "must be the did:key of an Ed25519 key"),
  ),
  // Only if the relay had another key before: the succession records that lead to the key of `issuer`,
  // oldest first.
  relay_succession: v.optional(listOf(object)),
  created_at: time,
  task: looseObjectOf({
    task_id: text,
    agent_id: text,
    submitted_by: v.nullable(text),
    assigned_to: v.nullable(text),
    status: v.picklist(["completed", "failed", "denied"], "must be a status of a finished task"),
    prompt: string,
    submitted_at: time,
  }),
  // The relay's record of its choice.
  routing: looseObjectOf({
    choice: v.nullable(object),
    record_hash: v.optional(hex32),
    record: v.optional(RoutingRecordSchema),
    executors: listOf(looseObjectOf({ agent_id: text, price: amount })),
  }),
  receipt: object,
  // Only if the texts were erased: `receipt_hash` is that of the receipt as it was signed.
  erased: v.optional(looseObjectOf({ erased_at: time, receipt_hash: hex32 })),
  signers: listOf(
    looseObjectOf({
      agent_id: uuid,
      keys: listOf(looseObjectOf(keyMembers)),
      chain: listOf(object),
      devices: listOf(looseObjectOf({ ...keyMembers, device_id: text })),
    }),
  ),
  // The nested tasks that the relay knows.
  nested_tasks: v.optional(
    listOf(
      looseObjectOf({ task_id: text, submitted_by: v.nullable(text), executor: v.nullable(text) }),
    ),
  ),
  attestation: RelayAttestationSchema,
  // Only if an agent of another relay executed the task.
  peer: v.optional(
    looseObjectOf({ relay_id: uuid, public_key: hex32, attestation: RelayAttestationSchema }),
  ),
  settlements: listOf(SettlementRecordSchema),
  // Only if an earlier executor let its claim expire.
  no_shows: v.optional(listOf(NoShowRecordSchema)),
  postings: listOf(PostingSchema),
  // Only if the submitter requested an inspection before payment.
  inspection: v.optional(InspectionSchema),
  credential: v.nullable(object),
  // Only if the relay keeps a transparency log.
  log: v.optional(
    looseObjectOf({
      origin: string,
      vkey: string,
      checkpoint: string,
      entries: listOf(looseObjectOf({ index: time, entry: string, proof: listOf(string) })),
    }),
  ),
  suite: string,
  signature: text,
};

/** The structure of an evidence bundle (docs/verifying.md). */
export const BundleSchema = looseObjectOf(bundleRules);

/**
 * The time during which a key was an agent's, in ms by the relay's clock; `valid_until` is null while it is
 * in use.
 */
export interface KeyRecord {
  readonly public_key: string;
  readonly valid_from: number;
  readonly valid_until: number | null;
}

/**
 * Every key with which an agent may have signed: its own, oldest first, and those of its devices.
 */
export interface Signer {
  readonly agent_id: string;
  readonly keys: readonly KeyRecord[];
  /** The succession records that lead from each key to the next. */
  readonly chain: readonly object[];
  readonly devices: readonly (KeyRecord & { readonly device_id: string })[];
}

type ParsedBundle = v.InferOutput<typeof BundleSchema>;

/**
 * The evidence of a relay for one finished task (docs/verifying.md): times in ms, amounts in US
 * dollars, keys in hex. The file is its canonical JSON.
 */
export interface EvidenceBundle extends Pick<
  ParsedBundle,
  "spec" | "relay_id" | "issuer" | "created_at" | "attestation" | "suite" | "signature"
> {
  readonly relay_succession?: readonly object[];
  readonly task: {
    readonly task_id: string;
    readonly agent_id: string;
    readonly submitted_by: string | null;
    /** The executor that routing chose; null if it is the target. */
    readonly assigned_to: string | null;
    readonly status: "completed" | "failed" | "denied";
    readonly prompt: string;
    readonly submitted_at: number;
  };
  readonly routing: {
    readonly choice: object | null;
    /**
     * SHA-256 of the canonical JSON of the inputs of the choice; absent if they were not stored.
     */
    readonly record_hash?: string;
    /** The inputs of the choice, only in copies for readers who are allowed to see them. */
    readonly record?: RoutingRecord;
    /** The possible executors in order, with their prices. */
    readonly executors: readonly { readonly agent_id: string; readonly price: number }[];
  };
  /** The receipt; erased texts are replaced by their hashes. */
  readonly receipt: ExecutionReceipt;
  readonly erased?: Erasure;
  readonly signers: readonly Signer[];
  /** The tasks of nested receipts that the relay knows. */
  readonly nested_tasks?: readonly NestedTask[];
  /** The relay of the executor, if it is another one. */
  readonly peer?: Peer;
  readonly settlements: readonly SettlementRecord[];
  /** Earlier executors that let their claims expire; absent if there is none. */
  readonly no_shows?: readonly NoShowRecord[];
  /** One transaction, whose amounts sum to zero; empty for a free task. */
  readonly postings: readonly BundlePosting[];
  /** The inspection before payment; absent if the submitter did not request one. */
  readonly inspection?: BundleInspection;
  readonly credential: VerifiableCredential | null;
  /** The proofs that the relay's transparency log holds the parts of the bundle. */
  readonly log?: BundleLog;
}

/** Entries of a log with their inclusion proofs under one checkpoint; bytes are base64. */
export interface BundleLog {
  readonly origin: string;
  /** The verifier key of the log, as the relay states it. */
  readonly vkey: string;
  readonly checkpoint: string;
  readonly entries: readonly {
    readonly index: number;
    readonly entry: string;
    readonly proof: readonly string[];
  }[];
}

/** The time of the erasure, in ms, and the hash of the receipt as it was signed. */
export interface Erasure {
  readonly erased_at: number;
  readonly receipt_hash: string;
}

/**
 * The submitter and the executor of a task in the relay's records. Both are null if neither matches the
 * nested receipt and they differ from those of the bundle's own task, because its participants must not
 * learn them.
 */
export interface NestedTask {
  readonly task_id: string;
  readonly submitted_by: string | null;
  readonly executor: string | null;
}

/** Another relay: its key in hex and its attestation of the receipt that it sent. */
export interface Peer {
  readonly relay_id: string;
  readonly public_key: string;
  readonly attestation: RelayAttestation;
}
