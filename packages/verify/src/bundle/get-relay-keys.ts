import { verifyRelaySuccession } from "@agent/crypto";
import type { EvidenceBundle } from "./schema.ts";

/**
 * Returns every key of a bundle's relay, the one that signed the bundle last; null if the
 * succession records are not the relay's own or do not lead to that key.
 */
export function getRelayKeys(
  { relay_id: relayId, relay_succession: steps }: EvidenceBundle,
  relayKey: string,
): readonly string[] | null {
  if (steps === undefined) return [relayKey];
  const chain = verifyRelaySuccession(steps, { relayId });
  return chain.ok && chain.publicKeys.at(-1) === relayKey ? chain.publicKeys : null;
}
