/** A collection in memory with an entry for each of some peers, by relay id. */
interface ByRelayId {
  keys(): Iterable<string>;
  delete(relayId: string): boolean;
}

/**
 * Deletes the entries of all other relays. A collection that is reduced to the live peers whenever it grows stays
 * as small as the number of peers that the operator allows, however many strangers join and leave.
 */
export function keepOnly(
  entries: ByRelayId,
  peers: readonly { readonly relay_id: string }[],
): void {
  const kept = new Set(peers.map(({ relay_id }) => relay_id));
  for (const relayId of entries.keys()) if (!kept.has(relayId)) entries.delete(relayId);
}
