import { type Heartbeat, HeartbeatSchema } from "../messages/peer.ts";
import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type Position, parsePosition } from "../settlement/position.ts";
import { parseMessage } from "../parse-message.ts";
import { type FederationRefusal, type PeerCode, refuse } from "../refusals.ts";
import { signText, isTextSigned } from "../signing/signed-text.ts";

/** A sign of life at `timestamp` (ms), which the sender only ever lets grow. */
export function createHeartbeat(
  body: Omit<Heartbeat, "signature">,
  secretKey: Uint8Array,
): Heartbeat {
  return { ...body, signature: signText(`${body.relay_id}${body.timestamp}`, secretKey) };
}

/** Who a signed notice has to come from, and how old it may be. */
export interface NoticeContext {
  readonly from: string;
  /** The sender's key as 64 hex digits. */
  readonly publicKey: string;
  /** The latest time that the sender has signed before; PeerRecord has it. */
  readonly lastTimestamp: number;
  readonly now: number;
  readonly lifetimeMs?: number;
}

/**
 * Judges a peer's heartbeat or its answer to one. Refused: `federation.malformed`,
 * `federation.wrong_sender`, `federation.timestamp_expired`, `peer.timestamp_stale` (not above the
 * last one), `federation.signature_invalid`.
 */
export function verifyHeartbeat(
  value: unknown,
  context: NoticeContext,
): { readonly ok: true; readonly heartbeat: Heartbeat } | FederationRefusal<PeerCode> {
  const read = parseMessage(HeartbeatSchema, value);
  if (!read.ok) return read;
  const heartbeat = read.message;
  const refused = checkNotice(heartbeat, context);
  if (refused !== null) return refused;
  const text = `${heartbeat.relay_id}${heartbeat.timestamp}`;
  return isTextSigned(text, heartbeat.signature, context.publicKey)
    ? { ok: true, heartbeat }
    : refuse("federation.signature_invalid");
}

/** What a heartbeat says of its sender beyond that it lives. */
export interface HeartbeatClaims {
  readonly features: readonly string[];
  readonly incarnation: number;
  readonly position: Position | null;
}

/**
 * What may be believed of a heartbeat whose `X-Relay-Signature` over the whole body holds; null for
 * one that does not name this relay as its receiver, because it may be a copy for another one. A
 * member that is missing counts as that of the version before.
 */
export function getHeartbeatClaims(
  { to, features = [], incarnation = 0, position }: Heartbeat,
  self: string,
): HeartbeatClaims | null {
  if (to !== self) return null;
  return {
    features,
    incarnation,
    position: position === undefined ? null : parsePosition(position),
  };
}

/** The rules that heartbeats and removals share. */
export function checkNotice(
  { relay_id, timestamp }: { readonly relay_id: string; readonly timestamp: number },
  { from, lastTimestamp, now, lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs }: NoticeContext,
): FederationRefusal<PeerCode> | null {
  if (relay_id !== from) return refuse("federation.wrong_sender");
  if (!isFresh(timestamp, now, lifetimeMs)) return refuse("federation.timestamp_expired");
  if (timestamp <= lastTimestamp) return refuse("peer.timestamp_stale");
  return null;
}
