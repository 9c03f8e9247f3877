import { checkTokenClaims, verifyToken, type TokenRefusal } from "@agent/client";
import { BoundedMap } from "@agent/crypto";
import type { Caller } from "../../caller.ts";
import type { Identity } from "../../identity/identity.ts";
import { unknownLookup, type Lookup } from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";
import type { AuthenticateResult, CheckSignedToken } from "./authenticate.ts";

/** The ids that a token names. */
export interface TokenIds {
  readonly agentId: string;
  readonly deviceId: string;
}

export interface Signer {
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Finds the caller behind the key; called once a token was verified with it. */
  readonly findCaller: () => Promise<Lookup<Caller>>;
}

/** Finds the key of an agent's device, for a token from the client at `address`. */
export type FindSigner = (
  ids: TokenIds,
  origin: { readonly isProven: boolean; readonly address: string },
) => Promise<Lookup<Signer>>;

const CACHE_SIZE = 1_000;

/**
 * Checks `agent:` tokens against the keys of the agents that they name. Everything that needs no key is
 * checked before a key is looked up, because lookups are limited. A token is verified once, because that
 * takes longer than a tool call. Its signer is looked up each time, so that a changed key or trust level
 * takes effect at once.
 */
export function createSignedTokenCheck(parts: {
  identity: Pick<Identity, "did">;
  findSigner: FindSigner;
  runtime: Pick<Runtime, "now">;
}): CheckSignedToken {
  const { identity, findSigner, runtime } = parts;
  const audience = identity.did;
  /** The keys that verified tokens, by token. */
  const verified = new BoundedMap<string, string>(CACHE_SIZE);
  /** The last keys that verified a token, by the ids of its signer; no forger can add or drop one. */
  const provenKeys = new BoundedMap<string, string>(CACHE_SIZE);

  async function verifyOnce(
    token: string,
    publicKey: string,
    now: number,
  ): Promise<{ readonly ok: true } | TokenRefusal> {
    if (verified.get(token) === publicKey) return { ok: true };
    const checked = await verifyToken(token, { publicKey, audience, now });
    if (checked.ok) verified.set(token, publicKey);
    return checked;
  }

  return async (token, address) => {
    const now = runtime.now();
    const stated = checkTokenClaims(token, { audience, now });
    if (!stated.ok) return stated;
    const { agentId, deviceId } = stated.claims;
    const name = `${agentId} ${deviceId}`;
    const lastKey = provenKeys.get(name);
    const isProven = lastKey !== undefined && (await verifyOnce(token, lastKey, now)).ok;

    const signer = await findSigner({ agentId, deviceId }, { isProven, address });
    if (signer.status !== "found") return refuseLookup(signer);
    const { publicKey, findCaller } = signer.value;
    const checked = await verifyOnce(token, publicKey, now);
    if (!checked.ok) return checked;
    provenKeys.set(name, publicKey);
    const caller = await findCaller();
    return caller.status === "found" ? { ok: true, caller: caller.value } : refuseLookup(caller);
  };
}

function refuseLookup(lookup: Exclude<Lookup<never>, { status: "found" }>): AuthenticateResult {
  if (lookup.status === "unknown") return { ok: false, code: "auth.unknown_caller" };
  const { retryAfterSeconds } = lookup;
  return { ok: false, code: "auth.lookup_unavailable", retryAfterSeconds };
}

/** Tries the lookups in order until one knows the signer or fails. */
export function combineSignerLookups(...lookups: readonly FindSigner[]): FindSigner {
  return async (ids, origin) => {
    for (const find of lookups) {
      const signer = await find(ids, origin);
      if (signer.status !== "unknown") return signer;
    }
    return unknownLookup;
  };
}
