import { endAgentSessions } from "../agents/end-agent-sessions.ts";
import { publishInspectionChanged } from "../inspections/notify.ts";
import { findInspection } from "../inspections/store.ts";
import { findTrust } from "../trust/store.ts";
import type { Services } from "../services.ts";
import { notifyOfCancelRequest } from "../tasks/assignment/cancel-task.ts";
import { notifyOfEnd } from "../tasks/receipts/end-without-receipt.ts";
import type { Presences } from "./presences.ts";
import type { ChangeHandlers, ChangeWords } from "./tail-changes.ts";

type HandlerServices = Pick<
  Services,
  | "storage"
  | "tokens"
  | "connections"
  | "subscriptions"
  | "trustGraph"
  | "candidates"
  | "waiters"
  | "router"
  | "identity"
  | "consoleSessions"
  | "federation"
>;

/** Returns what this process does about the changes of the others. */
export function createChangeHandlers(
  services: HandlerServices,
  presences: Pick<Presences, "reload">,
): ChangeHandlers {
  const { candidates, router } = services;
  return {
    agents(changes) {
      const isAll = changes.some((words) => words.length === 0);
      candidates.invalidate(isAll ? "all" : changes.flat());
    },
    tokens: forEach(([agentId = "", deviceId]) =>
      endAgentSessions(services, agentId, { reason: "token revoked", deviceId }),
    ),
    webhooks: forEach(([agentId = ""]) => services.subscriptions.reload(agentId)),
    trust: forEach(([agentId = "", remoteId = ""]) => reloadTrust(services, agentId, remoteId)),
    presence: (changes) => presences.reload(changes.flat()),
    peer: forEach(([relayId = ""]) => services.federation?.remoteAgents.purgePeer(relayId)),
    offer: forEach(([taskId = ""]) => router.sendHere(taskId)),
    ended: forEach(([taskId = "", executor = ""]) => notifyOfEnd(services, taskId, executor)),
    inspection: forEach(([taskId = "", what]) =>
      publishInspection(services, taskId, what === "state"),
    ),
    session: forEach(([sessionId = ""]) => services.consoleSessions.endStreams(sessionId)),
    cancel: forEach(([task_id = "", executor = "", ...claimant]) =>
      notifyOfCancelRequest(services, { task_id, executor, claimed_by: claimant.join(" ") }),
    ),
  };
}

/** Handles changes one after another, in the order in which they were made. */
function forEach(handle: (words: ChangeWords) => Promise<void> | void) {
  return async (changes: readonly ChangeWords[]): Promise<void> => {
    for (const words of changes) await handle(words);
  };
}

/** Notifies the requests and devices of this process of a changed inspection. */
async function publishInspection(
  services: Pick<Services, "storage" | "waiters" | "connections" | "identity">,
  taskId: string,
  isNewState: boolean,
): Promise<void> {
  const row = isNewState ? await findInspection(services.storage.read, taskId) : undefined;
  if (row === undefined) services.waiters.wake(taskId);
  else publishInspectionChanged(services, row);
}

async function reloadTrust(
  { storage, trustGraph }: Pick<Services, "storage" | "trustGraph">,
  agent_id: string,
  remote_agent_id: string,
): Promise<void> {
  const record = await findTrust(storage.read, agent_id, remote_agent_id);
  if (record === undefined) trustGraph.remove({ agent_id, remote_agent_id });
  else trustGraph.update(record);
}
