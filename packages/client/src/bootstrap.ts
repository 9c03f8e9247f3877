import {
  bytesToHex,
  deriveAgentId,
  getPublicKey,
  sign,
  toBase64Url,
  type SuccessionRecord,
} from "@agent/crypto";
import { operations } from "@agent/wire";
import { call } from "./calls/call.ts";
import { createEnvironment, type Environment } from "./environment.ts";
import type { CallRefusal } from "./calls/refusal.ts";
import type { DeviceIdentity } from "./tokens/token-source.ts";

/** The relay to join and the key of the agent. */
export interface BootstrapOptions extends Partial<Environment> {
  readonly baseUrl: string;
  /** A UUID; by default the version 8 UUID that is derived from the key. */
  readonly agentId?: string;
  /** Ed25519 seed, 32 bytes. */
  readonly secretKey: Uint8Array;
  /** The records from former keys to this one, oldest first, for a relay that knows only a former key. */
  readonly succession?: readonly SuccessionRecord[] | undefined;
}

/**
 * Binds a key to an agent id at a relay and proves possession of the key (specification, "Registry");
 * returns the identity for a client. Refused like operation `bootstrap`: with `agent.key_changed` if the
 * relay knows the agent under another key, with `agent.id_not_of_key` if the version 8 id was derived from
 * another key, and with `agent.key_in_use` if the key is proven under another id.
 */
export async function bootstrapAgent(
  options: BootstrapOptions,
): Promise<
  | { readonly ok: true; readonly registered: boolean; readonly identity: DeviceIdentity }
  | CallRefusal
> {
  const { fetch, now } = createEnvironment(options);
  const { baseUrl, secretKey, succession = [] } = options;
  const timestamp = now();
  const publicKey = bytesToHex(getPublicKey(secretKey));
  const agentId = options.agentId ?? deriveAgentId(publicKey);
  const signature = toBase64Url(sign(`${agentId}:${publicKey}:${timestamp}`, secretKey));
  const answer = await call(
    operations.bootstrap,
    {
      body: {
        agent_id: agentId,
        public_key: publicKey,
        proof: { timestamp, signature },
        ...(succession.length > 0 && { succession: succession.map((record) => ({ ...record })) }),
      },
    },
    { baseUrl, fetch, now },
  );
  if (!answer.ok) return answer;
  const { device_id: deviceId, registered } = answer.body;
  return { ok: true, registered, identity: { agentId, deviceId, secretKey } };
}
