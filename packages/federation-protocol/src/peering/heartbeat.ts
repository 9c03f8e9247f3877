import { type Heartbeat, HeartbeatSchema } from "../messages/peer.ts";
import { isFresh } from "../freshness.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import { type Position, parsePosition } from "../settlement/position.ts";
import { parseMessage } from "../parse-message.ts";
import { type FederationRefusal, type PeerCode, refuse } from "../refusals.ts";
import { signText, isTextSigned } from "../signing/signed-text.ts";

/**
 * Creates a signed heartbeat at `timestamp`, in ms since the epoch by the sender's clock, which must grow
 * with each heartbeat of the sender.
 */
export function createHeartbeat(
  body: Omit<Heartbeat, "signature">,
  secretKey: Uint8Array,
): Heartbeat {
  return { ...body, signature: signText(`${body.relay_id}${body.timestamp}`, secretKey) };
}

/** The expected sender of a signed notice, and the times against which its own is checked. */
export interface NoticeContext {
  readonly from: string;
  /** The sender's key as 64 hex digits. */
  readonly publicKey: string;
  /**
   * The latest time that the sender has signed, in ms since the epoch by its own clock; stored in
   * `PeerRecord`.
   */
  readonly lastTimestamp: number;
  /** In ms since the epoch, by this relay's clock. */
  readonly now: number;
  /** The maximum age of the notice, in ms; 5 minutes by default. */
  readonly lifetimeMs?: number;
}

/**
 * Verifies a peer's heartbeat or its answer to one. Refused: `federation.malformed`,
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

/** A heartbeat's claims about its sender. */
export interface HeartbeatClaims {
  readonly features: readonly string[];
  readonly incarnation: number;
  readonly position: Position | null;
}

/**
 * Returns the claims of a heartbeat that is signed as a whole by `X-Relay-Signature`; null if it does not
 * name this relay as its receiver, because it may be a copy of one sent to another relay. A missing member
 * has the meaning of the previous protocol version.
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

/** Applies the rules that heartbeats and removals share. */
export function checkNotice(
  { relay_id, timestamp }: { readonly relay_id: string; readonly timestamp: number },
  { from, lastTimestamp, now, lifetimeMs = FEDERATION_LIMITS.maxTimestampAgeMs }: NoticeContext,
): FederationRefusal<PeerCode> | null {
  if (relay_id !== from) return refuse("federation.wrong_sender");
  if (!isFresh(timestamp, now, lifetimeMs)) return refuse("federation.timestamp_expired");
  if (timestamp <= lastTimestamp) return refuse("peer.timestamp_stale");
  return null;
}
