import { uuidV7 } from "@agent/crypto";
import { limits, type Scope } from "@agent/wire";
import type { Environment } from "../environment.ts";
import { mintToken } from "./token.ts";

/** The caller: an agent's device, which signs its own tokens, or the operator. */
export type Credentials = DeviceIdentity | { readonly masterToken: string };

/** The ids of an agent and its device, and the key of the device. */
export interface DeviceIdentity {
  readonly agentId: string;
  readonly deviceId: string;
  /** The device's Ed25519 seed, 32 bytes. */
  readonly secretKey: Uint8Array;
}

// A token is replaced a minute before it expires, to allow for a slow clock and a slow network.
const RENEW_AFTER_MS = limits.tokenLifetimeMs - 60_000;

/**
 * Creates a source of tokens that have one scope each, so that a leaked token allows one scope only. A
 * token is reused for four minutes, because the relay caches verified tokens; with `once` it is new and
 * used only once.
 */
export function createTokenSource(
  identity: DeviceIdentity,
  { now, randomBytes }: Pick<Environment, "now" | "randomBytes">,
): (audience: string, scope: Scope | undefined, once?: boolean) => Promise<string> {
  const cache = new Map<Scope | undefined, { audience: string; mintedAt: number; token: string }>();
  return async (audience, scope, once = false) => {
    const mintedAt = now();
    const last = cache.get(scope);
    const age = mintedAt - (last?.mintedAt ?? 0);
    if (!once && last?.audience === audience && age >= 0 && age < RENEW_AFTER_MS) return last.token;
    const token = await mintToken({
      ...identity,
      audience,
      scope: scope === undefined ? [] : [scope],
      now: mintedAt,
      jti: uuidV7(mintedAt, randomBytes(10)),
    });
    if (!once) cache.set(scope, { audience, mintedAt, token });
    return token;
  };
}
