import { isRevokedAgent } from "../agents/store.ts";
import { hasPeeringEnded } from "../federation/peers/has-peering-ended.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Returns whether the agent that submitted a task was revoked, or the peering with the peer that did has ended: the
 * one can get no result any more, and the other may refuse it.
 */
export async function isSubmitterGone(
  { storage: { read } }: Pick<RouteServices, "storage">,
  { submitted_by, origin_peer }: TaskRow,
): Promise<boolean> {
  if (origin_peer !== null) return hasPeeringEnded(read, origin_peer);
  return submitted_by !== null && (await isRevokedAgent(read, submitted_by));
}
