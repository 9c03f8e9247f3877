import { fromMicro, toDollars } from "@agent/budget";
import { comparePositions, type Position } from "@agent/federation-protocol";
import type { FederationServices } from "../federation.ts";
import { getPeerPosition } from "./position-store.ts";

/**
 * Compares the position that a peer has signed with the books here. A difference while nothing is
 * under way means that one side lost or invented a movement, so it is an alarm; it is logged when it
 * appears or changes, and counted for as long as it stands.
 */
export async function comparePosition(
  { storage, federation }: Pick<FederationServices, "storage" | "federation">,
  relayId: string,
  position: Position | null,
  statedAfter: number,
): Promise<void> {
  const { positionDifferences: differences, log } = federation;
  if (position === null) return void differences.delete(relayId);
  const own = await getPeerPosition(storage.read, relayId);
  const difference = comparePositions(own, position, statedAfter);
  if (difference === null || difference === (differences.get(relayId) ?? 0)) return;
  if (difference === 0) {
    differences.delete(relayId);
    log.info("federation.position_agrees", { relay_id: relayId });
    return;
  }
  differences.set(relayId, difference);
  log.error("federation.position_differs", {
    relay_id: relayId,
    own: fromMicro(own.amount),
    peer: toDollars(0 - position.amount),
    difference: fromMicro(difference),
  });
}
