import { bytesToHex, publicKeyOf, sign, toBase64Url, uuidV7 } from "@agent/crypto";
import { operations } from "@agent/wire";
import { call } from "./call.ts";
import { environmentOf, type Environment } from "./environment.ts";
import type { CallRefusal } from "./refusal.ts";
import type { DeviceIdentity } from "./token-source.ts";

export interface BootstrapOptions extends Partial<Environment> {
  readonly baseUrl: string;
  /** A UUID; a new one of version 7 is made when it is left out. */
  readonly agentId?: string;
  /** Ed25519 seed, 32 bytes. */
  readonly secretKey: Uint8Array;
}

/**
 * Binds a key to an agent id at a relay and proves its possession (specification, "Registry"); the
 * identity that comes back is what a client signs in with. Refused as operation `bootstrap` is, with
 * `agent.key_changed` when the relay knows the agent under another key.
 */
export async function bootstrapAgent(
  options: BootstrapOptions,
): Promise<
  | { readonly ok: true; readonly registered: boolean; readonly identity: DeviceIdentity }
  | CallRefusal
> {
  const { fetch, now, randomBytes } = environmentOf(options);
  const { baseUrl, secretKey } = options;
  const timestamp = now();
  const agentId = options.agentId ?? uuidV7(timestamp, randomBytes(10));
  const publicKey = bytesToHex(publicKeyOf(secretKey));
  const signature = toBase64Url(sign(`${agentId}:${publicKey}:${timestamp}`, secretKey));
  const answer = await call(
    operations.bootstrap,
    { body: { agent_id: agentId, public_key: publicKey, proof: { timestamp, signature } } },
    { baseUrl, fetch },
  );
  if (!answer.ok) return answer;
  const { device_id: deviceId, registered } = answer.body;
  return { ok: true, registered, identity: { agentId, deviceId, secretKey } };
}
