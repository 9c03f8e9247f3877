import { verify } from "#ed25519";
import { equalBytes } from "../bytes.ts";
import { canonicalize } from "../json/canonical-json.ts";
import { isAcceptablePublicKey } from "../ed25519/ed25519-rules.ts";
import { EncodingError, fromBase64Url, hexToBytes } from "../formats.ts";
import { SUITE } from "../suite.ts";
import { unlessMalformed } from "../unless-malformed.ts";
import { isUuid } from "../keys/uuid-v7.ts";

/** The codes with which a succession record is refused. */
export type SuccessionCode =
  | "succession.malformed"
  | "succession.suite_unknown"
  | "succession.agent_mismatch"
  | "succession.relay_mismatch"
  | "succession.old_key_mismatch"
  | "succession.new_key_refused"
  | "succession.key_reused"
  | "succession.timestamp_not_later"
  | "succession.old_key_signature_invalid"
  | "succession.new_key_signature_invalid";

/** The agent's state before the step. */
export interface SuccessionContext {
  readonly agentId: string;
  readonly currentPublicKey: Uint8Array;
  /** The agent's former keys, which it must not use again. */
  readonly formerPublicKeys?: readonly Uint8Array[];
  /** The timestamp of the previous step, in ms since the epoch. */
  readonly after?: number;
}

/** Whether the step is valid, or the code of its refusal. */
export type SuccessionResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: SuccessionCode };

/** The member that names the owner, which distinguishes the two kinds of records. */
export type SuccessionOwner = "agent_id" | "relay_id";

const ownerRules = {
  agent_id: { other: "relay_id", mismatch: "succession.agent_mismatch" },
  relay_id: { other: "agent_id", mismatch: "succession.relay_mismatch" },
} as const;

/** The state before the step, for a key of an agent or a relay. */
export interface SuccessionStepContext extends Omit<SuccessionContext, "agentId"> {
  readonly owner: SuccessionOwner;
  readonly ownerId: string;
}

interface SuccessionStep {
  readonly ownerId: string;
  readonly suite: unknown;
  readonly oldPublicKey: Uint8Array;
  readonly newPublicKey: Uint8Array;
  readonly timestamp: number;
  readonly oldKeySignature: Uint8Array;
  readonly newKeySignature: Uint8Array;
  readonly message: string;
}

/** Verifies that a value is the agent's next step; the code is that of the first broken rule. */
export function verifySuccession(record: unknown, context: SuccessionContext): SuccessionResult {
  return verifySuccessionStep(record, { ...context, owner: "agent_id", ownerId: context.agentId });
}

/** Verifies like `verifySuccession`, for a key of an agent or a relay. */
export function verifySuccessionStep(
  record: unknown,
  context: SuccessionStepContext,
): SuccessionResult {
  const step = parseStep(record, context.owner);
  const code = step === undefined ? "succession.malformed" : findViolation(step, context);
  return code === undefined ? { ok: true } : { ok: false, code };
}

function findViolation(
  step: SuccessionStep,
  context: SuccessionStepContext,
): SuccessionCode | undefined {
  const { oldPublicKey, newPublicKey, message } = step;
  const { currentPublicKey, formerPublicKeys = [], after = -1 } = context;
  const usedKeys = [currentPublicKey, ...formerPublicKeys];

  if (step.suite !== SUITE) return "succession.suite_unknown";
  if (step.ownerId !== context.ownerId) return ownerRules[context.owner].mismatch;
  if (!equalBytes(oldPublicKey, currentPublicKey)) return "succession.old_key_mismatch";
  if (!isAcceptablePublicKey(newPublicKey)) return "succession.new_key_refused";
  if (usedKeys.some((key) => equalBytes(key, newPublicKey))) return "succession.key_reused";
  if (step.timestamp <= after) return "succession.timestamp_not_later";
  if (!verify(step.oldKeySignature, message, oldPublicKey)) {
    return "succession.old_key_signature_invalid";
  }
  if (!verify(step.newKeySignature, message, newPublicKey)) {
    return "succession.new_key_signature_invalid";
  }
  return undefined;
}

function parseStep(record: unknown, owner: SuccessionOwner): SuccessionStep | undefined {
  if (typeof record !== "object" || record === null) return undefined;
  const { old_key_signature, new_key_signature, ...body } = record as Record<string, unknown>;
  const { old_public_key, new_public_key, timestamp, reason, suite } = body;
  const ownerId = body[owner];
  if (typeof ownerId !== "string" || !isUuid(ownerId)) return undefined;
  // A record that names both kinds of owner could pass for either.
  if (Object.hasOwn(body, ownerRules[owner].other)) return undefined;
  if (!Number.isSafeInteger(timestamp) || (timestamp as number) < 0) return undefined;
  if (reason !== undefined && typeof reason !== "string") return undefined;
  return unlessMalformed(() => ({
    ownerId,
    suite,
    oldPublicKey: parsePublicKey(old_public_key),
    newPublicKey: parsePublicKey(new_public_key),
    timestamp: timestamp as number,
    oldKeySignature: parseSignature(old_key_signature),
    newKeySignature: parseSignature(new_key_signature),
    message: canonicalize(body),
  }));
}

/** Parses a key of 64 hex digits; throws EncodingError on any other value. */
export function parsePublicKey(text: unknown): Uint8Array {
  if (typeof text !== "string" || text.length !== 64) throw new EncodingError("not a public key");
  return hexToBytes(text);
}

function parseSignature(text: unknown): Uint8Array {
  if (typeof text !== "string" || text.length !== 86) throw new EncodingError("not a signature");
  return fromBase64Url(text);
}
