import { fromMicro, toDollars } from "@agent/budget";
import { comparePositions, type Position } from "@agent/federation-protocol/settlement";
import type { FederationServices } from "../federation-services.ts";
import { getPeerPosition } from "./position-store.ts";

/**
 * Compares the position that a peer has signed with the local books. A difference while nothing is in
 * flight means that one side lost or invented a movement, so it is an alarm: logged when it appears or
 * changes, and counted while it lasts.
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
