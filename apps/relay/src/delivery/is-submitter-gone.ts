import { isRevokedAgent } from "../agents/store.ts";
import { hasPeeringEnded } from "../federation/peers/has-peering-ended.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Returns whether the agent that submitted a task was revoked, or the peering with the peer that did has ended:
 * neither can get a result any more, and such a peer cannot pay for one.
 */
export async function isSubmitterGone(
  { storage: { read } }: Pick<RouteServices, "storage">,
  { submitted_by, origin_peer }: TaskRow,
): Promise<boolean> {
  if (origin_peer !== null) return hasPeeringEnded(read, origin_peer);
  return submitted_by !== null && (await isRevokedAgent(read, submitted_by));
}
