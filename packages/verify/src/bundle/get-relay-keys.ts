import { verifyRelaySuccession } from "@agent/crypto";
import { findKeyFault, type KeyFault, type NamedKeys } from "../keys/named-keys.ts";
import type { EvidenceBundle } from "./schema.ts";

/**
 * Returns all keys of a bundle's relay, the one that signed the bundle last; null if the succession records
 * belong to another relay or do not lead to that key.
 */
export function getRelayKeys(
  { relay_id: relayId, relay_succession: steps }: EvidenceBundle,
  relayKey: string,
): readonly string[] | null {
  if (steps === undefined) return [relayKey];
  const chain = verifyRelaySuccession(steps, { relayId });
  return chain.ok && chain.publicKeys.at(-1) === relayKey ? chain.publicKeys : null;
}

/**
 * Returns why no key of a bundle's relay counts; undefined if one does. A former key whose end the verifier
 * knows cannot vouch for the signing key, because it may have been stolen.
 */
export function findRelayKeyFault(
  bundle: EvidenceBundle,
  relayKeys: readonly string[],
  named: NamedKeys | undefined,
): KeyFault | undefined {
  if (named === undefined) return undefined;
  const signer = { role: "relay", id: bundle.relay_id } as const;
  const signedAt = getLatestTime(bundle);
  const fault = findKeyFault(relayKeys.at(-1) ?? null, named, { ...signer, signedAt });
  if (fault !== "artifact.key_unbound") return fault;
  const isLedTo = relayKeys.some(
    (key) => findKeyFault(key, named, { ...signer, signedAt: Infinity }) === undefined,
  );
  return isLedTo ? undefined : fault;
}

/** Returns the latest time in a bundle; the bundle cannot have been signed earlier. */
function getLatestTime({ created_at, attestation, settlements }: EvidenceBundle): number {
  const settled = settlements.map(({ settled_at }) => settled_at);
  return Math.max(created_at, attestation.received_at, attestation.attested_at, ...settled);
}
