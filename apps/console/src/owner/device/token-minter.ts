import { mintToken } from "@agent/client";
import { uuidV7 } from "@agent/crypto";
import type { Scope } from "@agent/wire";

/** The device that signs, and the relay for which its tokens are valid. */
export interface TokenSigner {
  readonly agentId: string;
  readonly deviceId: string;
  readonly privateKey: CryptoKey;
  /** The did:key of the relay. */
  readonly audience: string;
}

const LIFETIME_MS = 120_000;
/** A token is replaced this long before it expires, to allow for a slow clock or network. */
const MARGIN_MS = 30_000;

/** Mints a token for a scope; a token with `isOnce` is not used again. */
export type TokenMinter = (scope: Scope | undefined, isOnce: boolean) => Promise<string>;

/** Creates a minter of tokens that are valid for two minutes, have one scope each and are never stored. */
export function createTokenMinter(
  { agentId, deviceId, privateKey, audience }: TokenSigner,
  {
    now,
    randomBytes,
  }: { readonly now: () => number; readonly randomBytes: (length: number) => Uint8Array },
): TokenMinter {
  const minted = new Map<Scope | undefined, { readonly at: number; readonly token: string }>();
  return async (scope, isOnce) => {
    const at = now();
    const last = minted.get(scope);
    const age = at - (last?.at ?? 0);
    if (!isOnce && last !== undefined && age >= 0 && age < LIFETIME_MS - MARGIN_MS) {
      return last.token;
    }
    const token = await mintToken({
      agentId,
      deviceId,
      secretKey: privateKey,
      audience,
      scope: scope === undefined ? [] : [scope],
      now: at,
      lifetimeMs: LIFETIME_MS,
      jti: uuidV7(at, randomBytes(10)),
    });
    if (!isOnce) minted.set(scope, { at, token });
    return token;
  };
}
