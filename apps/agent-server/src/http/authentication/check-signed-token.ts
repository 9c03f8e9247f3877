import { verifyToken, peekToken } from "@agent/client";
import { BoundedMap } from "@agent/crypto";
import type { Caller } from "../../caller.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { CheckSignedToken } from "./authenticate.ts";

export interface Signer {
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly caller: Caller;
}

/** Finds the key of an agent's device; null when these ids are unknown. */
export type FindSigner = (agentId: string, deviceId: string) => Promise<Signer | null>;

const CACHE_SIZE = 1_000;

interface VerifiedToken {
  readonly publicKey: string;
  readonly expiresAt: number;
}

/**
 * Checks `agent:` tokens against the keys of the agents that they name. A token is verified once,
 * because that takes longer than a tool call. Its signer is looked up each time, so that a changed
 * key or trust level takes effect at once.
 */
export function createSignedTokenCheck(parts: {
  identity: Pick<Identity, "did">;
  findSigner: FindSigner;
  runtime: Pick<Runtime, "now">;
}): CheckSignedToken {
  const { identity, findSigner, runtime } = parts;
  const verified = new BoundedMap<string, VerifiedToken>(CACHE_SIZE);

  return async (token) => {
    const peeked = peekToken(token);
    if (!peeked.ok) return peeked;
    const signer = await findSigner(peeked.agentId, peeked.deviceId);
    if (signer === null) return { ok: false, code: "auth.unknown_caller" };

    const { publicKey, caller } = signer;
    const now = runtime.now();
    const known = verified.get(token);
    if (known?.publicKey === publicKey && known.expiresAt > now) return { ok: true, caller };

    const checked = await verifyToken(token, { publicKey, audience: identity.did, now });
    if (!checked.ok) return checked;
    verified.set(token, { publicKey, expiresAt: checked.claims.expiresAt });
    return { ok: true, caller };
  };
}

/** Tries the lookups in order until one knows the signer. */
export function combineSignerLookups(...lookups: readonly FindSigner[]): FindSigner {
  return async (agentId, deviceId) => {
    for (const find of lookups) {
      const signer = await find(agentId, deviceId);
      if (signer !== null) return signer;
    }
    return null;
  };
}
