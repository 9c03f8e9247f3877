import { signJson } from "@agent/crypto";
import { judgeNotice, type NoticeContext } from "./heartbeat.ts";
import { type Removal, RemovalSchema } from "./messages/peer.ts";
import type { FederationRefusal, PeerCode } from "./refusals.ts";
import { readSignedMessage } from "./signed-message.ts";

/** A notice that the sender ends the peering; its text can never be that of a heartbeat. */
export function createRemoval(body: Omit<Removal, "signature">, secretKey: Uint8Array): Removal {
  return signJson(body, secretKey);
}

/**
 * Judges a peer's removal notice. A notice from before the peer's last signed time is an old one,
 * sent again. Refused as `judgeHeartbeat` refuses.
 */
export function judgeRemoval(
  value: unknown,
  context: NoticeContext,
): { readonly ok: true; readonly removal: Removal } | FederationRefusal<PeerCode> {
  const read = readSignedMessage(RemovalSchema, value, context.publicKey);
  if (!read.ok) return read;
  return judgeNotice(read.message, context) ?? { ok: true, removal: read.message };
}
