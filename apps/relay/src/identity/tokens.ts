import { verifyToken, peekToken } from "@agent/client";
import { BoundedMap } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import { findDevice, listScopes } from "../agents/devices/device-store.ts";
import { findAgent } from "../agents/store.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentCaller } from "./caller.ts";
import { isRevokedToken } from "./spent-token-store.ts";

/** The state of affairs by which a token is verified. */
export interface Verification {
  /** The time, in ms, at which it must not have expired; now, if absent. */
  readonly at?: number;
  /** Whether nothing is taken from the cache, because another process may have ended the token just now. */
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

const CACHE_SIZE = 10_000;
/** Agents whose tokens were dropped within the lifetime of a token. */
const MAX_EVICTED = 100_000;

/**
 * Verifies signed device tokens. A verified one is cached until it expires, because two
 * verifications would cost more than the rest of a delegation.
 */
export function createTokenVerifier(options: {
  read: Reader;
  audience: string;
  now: () => number;
  /** Whether this process knows in time what others revoke; otherwise nothing is taken from the cache. */
  mayCache?: () => boolean;
  /** Records that a token proves an agent's key; optional. */
  recordProof?: (
    key: TokenKey,
    caller: AgentCaller,
  ) => Promise<Refusal<"agent.key_displaced"> | undefined>;
}): TokenVerifier {
  const cache = new BoundedMap<string, AgentCaller>(CACHE_SIZE);
  const evicted = createEvictions(options.now);

  const verifier: TokenVerifier = {
    async verify(token, verification = {}) {
      const { at: now = options.now(), isFresh = false } = verification;
      const mayCache = !isFresh && options.mayCache?.() !== false;
      const caller = mayCache ? cache.get(token) : undefined;
      if (caller !== undefined) {
        if (now < caller.expiresAt) return { ok: true, caller };
        cache.delete(token);
        return refuse("auth.expired_token");
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
      cache.set(token, verifiedCaller);
      return { ok: true, caller: verifiedCaller };
    },

    evictAgent(agentId) {
      evicted.add(agentId);
      for (const [token, caller] of cache) if (caller.agentId === agentId) cache.delete(token);
    },

    evictAll() {
      evicted.addAll();
      for (const [token] of cache) cache.delete(token);
    },
  };
  return verifier;
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
