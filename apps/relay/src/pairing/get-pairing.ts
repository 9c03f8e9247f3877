import { hexToBytes, sha256Hex } from "@agent/crypto";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { mayActFor, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import { findPairing } from "./store.ts";

/** Returns a session as its owner sees it; an unresolved session is shown as expired after its lifetime. */
export async function getPairing(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  pairingId: string,
  caller: Caller,
): Promise<Answer<Operations["getPairing"]>> {
  const session = await findPairing(storage.read, pairingId);
  if (session === undefined) return refuse("pairing.not_found");
  if (!mayActFor(caller, [session.agent_id])) return refuse("pairing.not_owner");
  const isOpen = session.status === "pending" || session.status === "claimed";
  if (isOpen && runtime.now() >= session.expires_at) return refuse("pairing.expired");
  const { public_key } = session;
  const fingerprint = public_key === null ? null : getFingerprint(public_key);
  return { status: 200, body: { ...session, fingerprint } };
}

/** The fingerprint length that a person can compare on two screens. */
function getFingerprint(publicKey: string): string {
  return sha256Hex(hexToBytes(publicKey)).slice(0, 16);
}
