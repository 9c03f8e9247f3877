import { verifyRelaySuccession } from "@agent/crypto";
import type { EvidenceBundle } from "./schema.ts";

/**
 * Every key that the relay of a bundle has had, the one that signed the bundle last; null when the steps
 * that it shows are not its own or do not lead to that key.
 */
export function getRelayKeys(
  { relay_id: relayId, relay_succession: steps }: EvidenceBundle,
  relayKey: string,
): readonly string[] | null {
  if (steps === undefined) return [relayKey];
  const chain = verifyRelaySuccession(steps, { relayId });
  return chain.ok && chain.publicKeys.at(-1) === relayKey ? chain.publicKeys : null;
}
