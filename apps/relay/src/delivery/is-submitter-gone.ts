import { isRevokedAgent } from "../agents/store.ts";
import { isPeerRemoved } from "../federation/peers/is-peer-removed.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import type { RouteServices } from "./route-services.ts";

/**
 * Returns whether the agent that submitted a task was revoked, or the operator removed the peer that did: neither
 * can get a result any more, and a removed peer cannot pay for one.
 */
export async function isSubmitterGone(
  { storage: { read } }: Pick<RouteServices, "storage">,
  { submitted_by, origin_peer }: TaskRow,
): Promise<boolean> {
  if (origin_peer !== null) return isPeerRemoved(read, origin_peer);
  return submitted_by !== null && (await isRevokedAgent(read, submitted_by));
}
