import { callForBody } from "../../shared/relay/call-relay.ts";
import { deleteDevice, saveDevice, type ClaimedDevice, type PairedDevice } from "./device-store.ts";
import type { CallRefusal } from "@agent/client";

/** The relay allows 30 claims a minute per address. */
const POLL_MS = 3_000;

export type PairingResult =
  | { readonly ok: true; readonly device: PairedDevice }
  | CallRefusal
  | { readonly ok: false; readonly code: "pairing.denied" };

/**
 * Claims a code with the browser's key, and polls until the owner has decided at the terminal. Calls
 * `onClaimed` when the relay has accepted the key, so that the owner can compare it, and `onDelayed` for each
 * refusal after which the request is repeated.
 */
export async function claimPairing(
  claimed: ClaimedDevice,
  {
    schedule,
    onClaimed,
    onDelayed,
  }: {
    readonly schedule: (ms: number, task: () => void) => () => void;
    readonly onClaimed: () => void;
    readonly onDelayed: (refusal: CallRefusal) => void;
  },
): Promise<PairingResult> {
  const { key, code, name } = claimed;
  const body = { pairing_code: code, device_name: name, public_key: key.publicKey };
  await saveDevice(claimed);
  for (;;) {
    const answer = await callForBody("claimPairing", { body }, {});
    if (!answer.ok && !isPassing(answer)) return deleteKey(answer);
    if (!answer.ok) onDelayed(answer);
    else {
      const { status, agent_id: agentId, device_id: deviceId } = answer.body;
      if (status === "denied") return deleteKey({ ok: false, code: "pairing.denied" });
      if (status === "approved" && deviceId !== undefined) {
        const device: PairedDevice = { state: "paired", key, agentId, deviceId };
        await saveDevice(device);
        return { ok: true, device };
      }
      onClaimed();
    }
    await new Promise<void>((resolve) => schedule(POLL_MS, resolve));
  }
}

/** Returns whether a refusal is probably temporary: the relay was not reached, or asks the caller to wait. */
function isPassing({ status, code }: CallRefusal): boolean {
  return status === 0 || status >= 500 || code === "rate.exceeded";
}

/** Deletes a key that will never become a device. */
async function deleteKey<Refusal extends PairingResult>(refusal: Refusal): Promise<Refusal> {
  await deleteDevice();
  return refusal;
}
