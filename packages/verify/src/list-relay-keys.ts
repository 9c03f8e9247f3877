import { verifyRelaySuccession } from "@agent/crypto";
import type { VerifyOptions } from "./artifacts/options.ts";
import { isExpectedKey } from "./expected-key.ts";

/**
 * Returns the keys of the relay's chain that the verifier has, oldest first; none if it breaks a
 * rule.
 */
export function listRelayKeys({ relaySuccession }: VerifyOptions): readonly string[] {
  const [first] = relaySuccession ?? [];
  const relayId = (first as { relay_id?: unknown } | null | undefined)?.relay_id;
  if (relaySuccession === undefined || typeof relayId !== "string") return [];
  const chain = verifyRelaySuccession(relaySuccession, { relayId });
  return chain.ok ? chain.publicKeys : [];
}

/** Adds all keys of a relay's chain if the caller named one of them. */
export function withRelayKeys(options: VerifyOptions): VerifyOptions {
  const { publicKey: named } = options;
  const keys = listRelayKeys(options);
  if (named === undefined || !keys.some((key) => isExpectedKey(key, named))) return options;
  return { ...options, publicKey: [...(typeof named === "string" ? [named] : named), ...keys] };
}
