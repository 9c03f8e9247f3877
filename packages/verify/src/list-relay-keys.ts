import { type RelaySuccessionRecord, verifyRelaySuccession } from "@agent/crypto";
import type { VerifyOptions } from "./artifacts/options.ts";
import { findKeyFault, listNamedKeys, type NamedKey } from "./keys/named-keys.ts";

/**
 * Returns the keys of the verifier's chain for the relay, oldest first, each with its owner and its end;
 * empty if the chain breaks a rule.
 */
export function listRelayKeys({ relaySuccession }: VerifyOptions): readonly NamedKey[] {
  const [first] = relaySuccession ?? [];
  const id = (first as { relay_id?: unknown } | null | undefined)?.relay_id;
  if (relaySuccession === undefined || typeof id !== "string") return [];
  const chain = verifyRelaySuccession(relaySuccession, { relayId: id });
  if (!chain.ok) return [];
  const steps = relaySuccession as readonly RelaySuccessionRecord[];
  return chain.publicKeys.map((publicKey, index) => ({
    publicKey,
    role: "relay",
    id,
    endedAt: steps[index]?.timestamp,
  }));
}

/**
 * Adds all keys of a relay's chain if the caller named one of them. They replace the named keys, because
 * the chain shows when each key ended.
 */
export function withRelayKeys(options: VerifyOptions): VerifyOptions {
  const { publicKey: named } = options;
  const chain = listRelayKeys(options);
  if (named === undefined) return options;
  const isNamed = chain.some(
    ({ publicKey, role, id }) => findKeyFault(publicKey, named, { role, id }) === undefined,
  );
  if (!isNamed) return options;
  const ofChain = new Set(chain.map(({ publicKey }) => publicKey));
  const others = listNamedKeys(named).filter(({ publicKey }) => !ofChain.has(publicKey));
  return { ...options, publicKey: [...others, ...chain] };
}
