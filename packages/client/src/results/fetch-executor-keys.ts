import type { CallRefusal } from "../calls/refusal.ts";
import type { RelayClient } from "../relay-client.ts";
import { retryRepeatable, type RetryOptions } from "../calls/retry.ts";

/** The signer that a receipt names. */
export interface Signer {
  readonly agent_id: string;
  readonly device_id: string;
}

type KeysResult = { readonly ok: true; readonly keys: readonly string[] } | CallRefusal;

/**
 * Fetches the valid keys of a signer: that of its device if the relay knows the device and has not revoked
 * it, otherwise that of its agent. Returns none if the relay knows neither, because a key that only the
 * receipt names proves nothing.
 */
export async function fetchExecutorKeys(
  client: RelayClient,
  signer: Signer,
  retryOptions: RetryOptions,
): Promise<KeysResult> {
  const device = await retryRepeatable(
    (perCall) => client.getDevice({ params: { deviceId: signer.device_id } }, perCall),
    retryOptions,
  );
  if (device.ok && device.body.agent_id === signer.agent_id) {
    return { ok: true, keys: device.body.revoked ? [] : [device.body.public_key] };
  }
  if (!device.ok && device.code !== "device.not_found") return device;
  const agent = await retryRepeatable(
    (perCall) => client.getAgent({ params: { agentId: signer.agent_id } }, perCall),
    retryOptions,
  );
  if (agent.ok)
    return { ok: true, keys: agent.body.public_key === null ? [] : [agent.body.public_key] };
  return agent.code === "agent.not_found" ? { ok: true, keys: [] } : agent;
}
