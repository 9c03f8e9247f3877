import { signJson } from "@agent/crypto";
import { checkNotice, type NoticeContext } from "./heartbeat.ts";
import { type Removal, RemovalSchema } from "../messages/peer.ts";
import type { FederationRefusal, PeerCode } from "../refusals.ts";
import { verifySignedMessage } from "../signing/signed-message.ts";

/** Creates a signed notice that ends the peering; its signed text cannot be that of a heartbeat. */
export function createRemoval(body: Omit<Removal, "signature">, secretKey: Uint8Array): Removal {
  return signJson(body, secretKey);
}

/**
 * Verifies a peer's removal notice. A notice from before the peer's last signed time is a replay.
 * Refused as `verifyHeartbeat` refuses.
 */
export function verifyRemoval(
  value: unknown,
  context: NoticeContext,
): { readonly ok: true; readonly removal: Removal } | FederationRefusal<PeerCode> {
  const read = verifySignedMessage(RemovalSchema, value, context.publicKey);
  if (!read.ok) return read;
  return checkNotice(read.message, context) ?? { ok: true, removal: read.message };
}
