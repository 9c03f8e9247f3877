import { BoundedMap } from "@agent/crypto";
import { TrustLevel } from "@agent/wire";
import * as v from "valibot";
import type { FindSigner, Signer } from "../../http/authentication/check-signed-token.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";

const CACHE_TTL_MS = 60_000;
const CACHE_SIZE = 1_000;

/**
 * Finds the signers of tokens: the relay by the key pinned when this agent joined, and other agents
 * by the relay's records, with the trust that this agent's delegations earned them. Lookups are
 * cached for a minute.
 */
export function createFindSigner(parts: {
  agentId: string;
  membership: () => Membership | undefined;
  runtime: Pick<Runtime, "now">;
}): FindSigner {
  const { membership, runtime } = parts;
  const lifetime = { ttlMs: CACHE_TTL_MS, now: () => runtime.now() };
  const lookups = new BoundedMap<string, Lookup>(CACHE_SIZE, lifetime);

  return async (agentId, deviceId) => {
    const current = membership();
    if (current === undefined) return null;
    const { relayId, publicKey } = current.relay;
    if (agentId === relayId) return { publicKey, caller: { kind: "relay", relayId } };

    const name = `${agentId} ${deviceId}`;
    const known = lookups.get(name);
    if (known !== undefined) return (await known) ?? null;

    const signer = lookUpSigner(current, { agentId, deviceId, self: parts.agentId });
    void lookups.set(name, signer);
    const found = await signer;
    // A lookup that the relay did not answer is repeated next time.
    if (found === undefined) lookups.delete(name);
    return found ?? null;
  };
}

/** Null: the relay does not know these ids; undefined: it could not be asked. */
type Lookup = Promise<Signer | null | undefined>;

async function lookUpSigner(
  { client }: Membership,
  { agentId, deviceId, self }: { agentId: string; deviceId: string; self: string },
): Lookup {
  const [device, record] = await Promise.all([
    client.getDevice({ params: { deviceId } }),
    client.getTrust({ params: { agentId: self, remoteId: agentId } }),
  ]);
  if (!device.ok) return device.code === "device.not_found" ? null : undefined;
  if (device.body.revoked || device.body.agent_id !== agentId) return null;
  // An agent that may be blocked must not pass as an unknown one.
  if (!record.ok && record.code !== "trust.not_found") return undefined;
  const trust = record.ok ? record.body.trust_level : "unknown";
  // An unknown level of a later version may mean a block as well.
  if (!v.is(TrustLevel, trust)) return undefined;
  return { publicKey: device.body.public_key, caller: { kind: "agent", agentId, trust } };
}
