import { callForBody } from "../../shared/relay/call-relay.ts";
import { deleteDevice, saveDevice, type ClaimedDevice, type PairedDevice } from "./device-store.ts";
import type { CallRefusal } from "@agent/client";

/** The relay counts 30 claims a minute of one address. */
const POLL_MS = 3_000;

export type PairingResult =
  | { readonly ok: true; readonly device: PairedDevice }
  | CallRefusal
  | { readonly ok: false; readonly code: "pairing.denied" };

/**
 * Claims a code by the browser's key, and asks until the owner has decided at the terminal. `onClaimed`
 * is called when the relay has taken the key, from when on the owner can compare it, and `onDelayed` with
 * each refusal after which the relay is asked again.
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

/** Returns whether a refusal is likely to pass: the relay was not reached, or asks to wait. */
function isPassing({ status, code }: CallRefusal): boolean {
  return status === 0 || status >= 500 || code === "rate.exceeded";
}

/** Deletes a key that will never be a device. */
async function deleteKey<Refusal extends PairingResult>(refusal: Refusal): Promise<Refusal> {
  await deleteDevice();
  return refusal;
}
