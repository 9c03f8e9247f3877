import { canonicalize, sha256Hex } from "@agent/crypto";
import { buildLogEntry } from "./entry.ts";

/** The time of an entry in ms by the relay's clock. */
interface Timed {
  readonly time: number;
}

interface KeyBinding {
  readonly agent_id: string;
  readonly public_key: string;
  /** Null for the agent's own key. */
  readonly device_id: string | null;
}

/**
 * Builds the entry of an artifact, with one function per kind. The second argument contains the time and
 * the facts that the artifact does not contain. All functions throw CanonicalJsonError on an artifact
 * without canonical JSON.
 */
export const entryOf = {
  /** `ref` is the task at the relay that logs, `publicKey` the key that signed. */
  receipt: (
    receipt: { readonly agent_id: string },
    { time, publicKey, ref }: Timed & { readonly publicKey: string; readonly ref: string },
  ) =>
    buildLogEntry({
      kind: "receipt",
      time,
      agentId: receipt.agent_id,
      publicKey,
      ref,
      artifactHash: hashArtifact(receipt),
    }),

  /** The signature may be missing: a record is signed when it is read. */
  settlement: (record: { readonly payee_id: string; readonly task_id: string }, { time }: Timed) =>
    buildLogEntry({
      kind: "settlement",
      time,
      agentId: record.payee_id,
      ref: record.task_id,
      artifactHash: hashUnsigned(record),
    }),

  credential: (
    credential: { readonly id?: string | undefined },
    { time, agentId, publicKey }: Timed & { readonly agentId: string; readonly publicKey: string },
  ) =>
    buildLogEntry({
      kind: "credential",
      time,
      agentId,
      publicKey,
      ref: credential.id,
      artifactHash: hashArtifact(credential),
    }),

  credentialRevoked: (
    { credential_id, revoked_at }: { readonly credential_id: string; readonly revoked_at: number },
    { time, agentId, publicKey }: Timed & { readonly agentId: string; readonly publicKey: string },
  ) =>
    buildLogEntry({
      kind: "credential_revoked",
      time,
      agentId,
      publicKey,
      ref: credential_id,
      artifactHash: hashArtifact({ credential_id, revoked_at }),
    }),

  keyBound: (binding: KeyBinding & { readonly valid_from: number }, { time }: Timed) => {
    const { agent_id, public_key, device_id, valid_from } = binding;
    return buildLogEntry({
      kind: "key_bound",
      time,
      agentId: agent_id,
      publicKey: public_key,
      ref: device_id,
      artifactHash: hashArtifact({ agent_id, public_key, device_id, valid_from }),
    });
  },

  keyEnded: (binding: KeyBinding & { readonly valid_until: number }, { time }: Timed) => {
    const { agent_id, public_key, device_id, valid_until } = binding;
    return buildLogEntry({
      kind: "key_ended",
      time,
      agentId: agent_id,
      publicKey: public_key,
      ref: device_id,
      artifactHash: hashArtifact({ agent_id, public_key, device_id, valid_until }),
    });
  },

  /** The outcome of an inspection; it does not name its executor. */
  outcome: (
    outcome: { readonly task_id: string },
    { time, agentId }: Timed & { readonly agentId: string },
  ) =>
    buildLogEntry({
      kind: "outcome",
      time,
      agentId,
      ref: outcome.task_id,
      artifactHash: hashUnsigned(outcome),
    }),

  liabilities: (commitment: object, { time, epochId }: Timed & { readonly epochId: string }) =>
    buildLogEntry({
      kind: "liabilities",
      time,
      ref: epochId,
      artifactHash: hashArtifact(commitment),
    }),

  /**
   * The first entry of a new generation of the log: `text` is the three lines of the last known checkpoint
   * of the previous generation, null if there is none.
   */
  continued: (
    text: string | null,
    { time, olderOrigin }: Timed & { readonly olderOrigin: string },
  ) =>
    buildLogEntry({
      kind: "continued",
      time,
      ref: olderOrigin,
      artifactHash: text === null ? "0".repeat(64) : sha256Hex(text),
    }),

  noShow: (record: { readonly agent_id: string; readonly task_id: string }, { time }: Timed) =>
    buildLogEntry({
      kind: "no_show",
      time,
      agentId: record.agent_id,
      ref: record.task_id,
      artifactHash: hashUnsigned(record),
    }),

  relayKey: (
    record: { readonly relay_id: string; readonly new_public_key: string },
    { time }: Timed,
  ) =>
    buildLogEntry({
      kind: "relay_key",
      time,
      agentId: record.relay_id,
      publicKey: record.new_public_key,
      artifactHash: hashArtifact(record),
    }),
};

const hashArtifact = (artifact: object) => sha256Hex(canonicalize(artifact));

function hashUnsigned(artifact: object): string {
  if (!("signature" in artifact)) return hashArtifact(artifact);
  const { signature: _, ...body } = artifact as { readonly signature?: unknown };
  return hashArtifact(body);
}
