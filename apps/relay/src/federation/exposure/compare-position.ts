import { fromMicro, toDollars } from "@agent/budget";
import {
  comparePositions,
  updateDifference,
  type Position,
} from "@agent/federation-protocol/settlement";
import type { FederationServices } from "../federation-services.ts";
import { keepOnly } from "../peers/keep-only.ts";
import { listPeers } from "../peers/peer-store.ts";
import { getPeerPosition } from "./position-store.ts";

/**
 * Compares the position that a peer has signed with the local books. A confirmed difference while nothing is
 * in flight means that one side lost or invented a movement, so it is an alarm: logged when it appears or
 * changes, and counted while it lasts.
 */
export async function comparePosition(
  { storage, runtime, federation }: Pick<FederationServices, "storage" | "runtime" | "federation">,
  relayId: string,
  position: Position | null,
  statedAfter: number,
): Promise<void> {
  const { positionDifferences: differences, log } = federation;
  if (position === null) return void differences.delete(relayId);
  const own = await getPeerPosition(storage.read, relayId);
  const compared = comparePositions(own, position, statedAfter);
  const before = differences.get(relayId);
  const after = updateDifference(before, compared, { statedAfter, now: runtime.now() });
  const wasAlarm = before?.isConfirmed === true;
  if (after === undefined) {
    differences.delete(relayId);
    if (wasAlarm) log.info("federation.position_agrees", { relay_id: relayId });
    return;
  }
  differences.set(relayId, after);
  if (before === undefined) keepOnly(differences, await listPeers(storage.read));
  if (!after.isConfirmed || (wasAlarm && before.amount === after.amount)) return;
  log.error("federation.position_differs", {
    relay_id: relayId,
    own: fromMicro(own.amount),
    peer: toDollars(0 - position.amount),
    difference: fromMicro(after.amount),
  });
}
