import { signJson } from "@agent/crypto";
import { checkNotice, type NoticeContext } from "./heartbeat.ts";
import { type Removal, RemovalSchema } from "../messages/peer.ts";
import type { FederationRefusal, PeerCode } from "../refusals.ts";
import { verifySignedMessage } from "../signing/signed-message.ts";

/** Creates a signed notice that ends the peering; its signed text can never equal that of a heartbeat. */
export function createRemoval(body: Omit<Removal, "signature">, secretKey: Uint8Array): Removal {
  return signJson(body, secretKey);
}

/**
 * Verifies a peer's removal notice. A notice older than the peer's last signed time is a replay. Refused
 * with the codes of `verifyHeartbeat`.
 */
export function verifyRemoval(
  value: unknown,
  context: NoticeContext,
): { readonly ok: true; readonly removal: Removal } | FederationRefusal<PeerCode> {
  const read = verifySignedMessage(RemovalSchema, value, context.publicKey);
  if (!read.ok) return read;
  return checkNotice(read.message, context) ?? { ok: true, removal: read.message };
}
