import { checkToken, peekToken } from "@agent/client";
import type { TrustLevel } from "@agent/wire";
import type { Caller } from "../caller.ts";
import type { CheckSignedToken } from "../http/authenticate.ts";
import type { Identity } from "../identity.ts";
import type { Runtime } from "../runtime.ts";
import type { Membership } from "./join.ts";

interface Signer {
  readonly publicKey: string;
  readonly caller: Caller;
}

const rememberedMs = 60_000;
const remembered = 1_000;

/**
 * Checks `agent:` tokens: the relay's own against the key pinned when this agent joined, another
 * agent's against its device's key at the relay. Whoever cannot be looked up is not let in.
 */
export function createTokenCheck(parts: {
  identity: Identity;
  membership: () => Membership | undefined;
  runtime: Runtime;
}): CheckSignedToken {
  const { identity, membership, runtime } = parts;
  const lookups = new Map<string, { until: number; signer: Promise<Signer | null> }>();

  function find(agentId: string, deviceId: string): Promise<Signer | null> {
    const home = membership();
    if (home === undefined) return Promise.resolve(null);
    const { relayId, publicKey } = home.relay;
    if (agentId === relayId) {
      return Promise.resolve({ publicKey, caller: { kind: "relay", relayId } });
    }
    const name = `${agentId} ${deviceId}`;
    const known = lookups.get(name);
    if (known !== undefined && known.until > runtime.now()) return known.signer;
    const signer = lookUp(home, agentId, deviceId, identity.agentId);
    lookups.delete(name);
    lookups.set(name, { until: runtime.now() + rememberedMs, signer });
    const oldest = lookups.keys().next();
    if (lookups.size > remembered && oldest.done !== true) lookups.delete(oldest.value);
    return signer;
  }

  return async (token) => {
    const peeked = peekToken(token);
    if (!peeked.ok) return peeked;
    const signer = await find(peeked.agentId, peeked.deviceId);
    if (signer === null) return { ok: false, code: "auth.unknown_caller" };
    const checked = await checkToken(token, {
      publicKey: signer.publicKey,
      audience: identity.did,
      now: runtime.now(),
    });
    return checked.ok ? { ok: true, caller: signer.caller } : checked;
  };
}

async function lookUp(
  { client }: Membership,
  agentId: string,
  deviceId: string,
  self: string,
): Promise<Signer | null> {
  const [device, trust] = await Promise.all([
    client.getDevice({ params: { deviceId } }),
    client.listTrust({ params: { agentId: self }, query: { limit: 200 } }),
  ]);
  if (!device.ok || device.body.revoked || device.body.agent_id !== agentId) return null;
  const records = trust.ok ? trust.body.records : [];
  const level: TrustLevel =
    records.find((record) => record.remote_agent_id === agentId)?.trust_level ?? "unknown";
  return {
    publicKey: device.body.public_key,
    caller: { kind: "agent", agentId, trust: level },
  };
}
