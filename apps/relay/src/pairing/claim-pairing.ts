import { hexToBytes, isAcceptablePublicKey } from "@agent/crypto";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { checkDeviceKey, checkUnprovenKey } from "../agents/keys/check-key.ts";
import type { Services } from "../services.ts";
import type { PairingRow } from "../storage/tables/pairing.ts";
import { findPairingByCode, markPairingClaimed } from "./store.ts";
import type { FailedCodeTracker } from "./failed-code-tracker.ts";

type Claim = Operations["claimPairing"];

/** Claims a code with a key, once; the same request repeated returns the state of the claim. */
export async function claimPairing(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  wrongCodes: FailedCodeTracker,
  { pairing_code, device_name, public_key }: BodyOf<Claim>,
  address: string,
): Promise<Answer<Claim>> {
  const waitMs = await wrongCodes.getWaitMs(address);
  if (waitMs > 0) {
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    return { ...refuse("pairing.too_many_tries"), retryAfterSeconds };
  }
  if (!isAcceptablePublicKey(hexToBytes(public_key))) return refuse("agent.key_unacceptable");
  const answer = await storage.transaction(async (tx) => {
    const session = await findPairingByCode(tx, pairing_code);
    if (session === undefined) return refuse("pairing.not_found");
    if (runtime.now() >= session.expires_at) return refuse("pairing.expired");
    if (session.status !== "pending") {
      return session.public_key === public_key
        ? toClaimAnswer(session)
        : refuse("pairing.code_used");
    }
    const { pairing_id, agent_id } = session;
    const binding = { agent_id, public_key };
    const refused = (await checkDeviceKey(tx, binding)) ?? (await checkUnprovenKey(tx, binding));
    if (refused !== undefined) return refused;
    await markPairingClaimed(tx, { pairing_id, device_name, public_key });
    return toClaimAnswer({ ...session, status: "claimed" });
  });
  if (!answer.ok && answer.code === "pairing.not_found") await wrongCodes.recordFailure(address);
  return answer;
}

function toClaimAnswer({ pairing_id, agent_id, status, device_id }: PairingRow) {
  return {
    ok: true as const,
    status: 200 as const,
    body: { pairing_id, agent_id, status, ...(device_id !== null && { device_id }) },
  };
}
