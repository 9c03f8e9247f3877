import { verifyToken, peekToken } from "@agent/client";
import { BoundedMap } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import { findDevice, listScopes } from "../agents/devices/device-store.ts";
import { findAgent } from "../agents/store.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentCaller } from "./caller.ts";
import { isRevokedToken } from "./spent-token-store.ts";
import { isTokenInForce } from "./token-store.ts";

/** The data with which a token is verified. */
export interface Verification {
  /** The time, in ms, at which it must not have expired; now, if absent. */
  readonly at?: number;
  /** Whether the database is asked, because another process may have ended the token just now. */
  readonly isFresh?: boolean;
}

export interface TokenVerifier {
  verify(
    token: string,
    verification?: Verification,
  ): Promise<{ readonly ok: true; readonly caller: AgentCaller } | Refusal>;
  /** Drops an agent's tokens from the cache: its key changed, or some of them were revoked. */
  evictAgent(agentId: string): void;
  /** Drops all tokens from the cache. */
  evictAll(): void;
}

/** A key that has just verified a token of an agent. */
export interface TokenKey {
  readonly agent_id: string;
  readonly public_key: string;
}

/** A caller with the key that signed its token. */
interface CachedCaller {
  readonly caller: AgentCaller;
  readonly publicKey: string;
}

const CACHE_SIZE = 10_000;
/** Agents whose tokens were dropped within the lifetime of a token. */
const MAX_EVICTED = 100_000;

interface VerifierOptions {
  readonly read: Reader;
  readonly audience: string;
  readonly now: () => number;
  /** Whether this process learns in time what others revoke; otherwise the cache is not used. */
  readonly mayCache?: () => boolean;
  /** Records that a token proves an agent's key; optional. */
  readonly recordProof?: (
    key: TokenKey,
    caller: AgentCaller,
  ) => Promise<Refusal<"agent.key_displaced"> | undefined>;
}

/**
 * Verifies signed device tokens. A verified one is cached until it expires, because two
 * verifications would cost more than the rest of a delegation.
 */
export function createTokenVerifier(options: VerifierOptions): TokenVerifier {
  const cache = new BoundedMap<string, CachedCaller>(CACHE_SIZE);
  const evicted = createEvictions(options.now);

  function findCached(token: string, now: number) {
    const cached = options.mayCache?.() === false ? undefined : cache.get(token);
    if (cached === undefined) return undefined;
    if (now < cached.caller.expiresAt) return { ok: true as const, ...cached };
    cache.delete(token);
    return refuse("auth.expired_token");
  }

  const verifier: TokenVerifier = {
    async verify(token, verification = {}) {
      const { at: now = options.now(), isFresh = false } = verification;
      const cached = findCached(token, now);
      if (cached?.ok === false) return cached;
      if (cached !== undefined) {
        const { caller } = cached;
        if (!isFresh || (await isStillInForce(options.read, cached))) return { ok: true, caller };
        // The verification states the reason.
        cache.delete(token);
      }
      const before = evicted.count();
      const peeked = peekToken(token);
      if (!peeked.ok) return refuse(peeked.code);
      const device = await findDevice(options.read, peeked.deviceId);
      if (device === undefined || device.agent_id !== peeked.agentId) {
        return refuse("auth.device_not_authorized");
      }
      if (device.revoked_at !== null) {
        const owner = await findAgent(options.read, device.agent_id);
        // Every agent with a device has a key.
        const isDisplaced = owner?.public_key === null;
        return refuse(isDisplaced ? "agent.key_displaced" : "auth.device_not_authorized");
      }
      const { public_key: publicKey, agent_id: agentId } = device;
      const checked = await verifyToken(token, { publicKey, audience: options.audience, now });
      if (!checked.ok) return refuse(checked.code);
      const agent = await findAgent(options.read, agentId);
      if (agent === undefined || agent.revoked_at !== null) return refuse("agent.revoked");
      const { jti } = checked.claims;
      if (await isRevokedToken(options.read, { agent_id: agentId, jti })) {
        return refuse("auth.token_revoked");
      }
      const granted = new Set(listScopes(device));
      const verifiedCaller: AgentCaller = {
        kind: "agent",
        agentId,
        deviceId: device.device_id,
        tokenId: jti,
        scopes: new Set(checked.claims.scopes.filter((scope) => granted.has(scope))),
        expiresAt: checked.claims.expiresAt,
        hasEnded: () => evicted.isAfter(before, agentId),
      };
      const refused = await options.recordProof?.(
        { agent_id: agentId, public_key: publicKey },
        verifiedCaller,
      );
      if (refused !== undefined) return refused;
      // The key or the device may have ended while this token was verified.
      if (verifiedCaller.hasEnded()) return verifier.verify(token, verification);
      cache.set(token, { caller: verifiedCaller, publicKey });
      return { ok: true, caller: verifiedCaller };
    },

    evictAgent(agentId) {
      evicted.add(agentId);
      for (const [token, { caller }] of cache) {
        if (caller.agentId === agentId) cache.delete(token);
      }
    },

    evictAll() {
      evicted.addAll();
      for (const [token] of cache) cache.delete(token);
    },
  };
  return verifier;
}

/** Asks the database in one statement, because a verification costs several and a signature. */
async function isStillInForce(read: Reader, { caller, publicKey }: CachedCaller): Promise<boolean> {
  const { agentId: agent_id, deviceId: device_id, tokenId: jti } = caller;
  const token = { agent_id, device_id, public_key: publicKey, jti };
  return (await isTokenInForce(read, token)) && !caller.hasEnded();
}

/** Counts the evictions of all agents, and remembers each agent's newest one as long as a token can live. */
function createEvictions(now: () => number) {
  const ttlMs = limits.tokenLifetimeMs + limits.clockSkewMs;
  const newest = new BoundedMap<string, number>(MAX_EVICTED, { ttlMs, now });
  let count = 0;
  let newestOfAll = 0;

  return {
    count: () => count,
    add(agentId: string) {
      count += 1;
      newest.set(agentId, count);
    },
    addAll() {
      count += 1;
      newestOfAll = count;
    },
    /** Whether the tokens of an agent were dropped after so many evictions. */
    isAfter: (before: number, agentId: string) =>
      Math.max(newestOfAll, newest.get(agentId) ?? 0) > before,
  };
}
