import { fromMillionths } from "@agent/budget";
import type { OutcomeRecord } from "@agent/receipts";
import type { ServerMessage, WebhookEvent } from "@agent/wire";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { InspectionRow } from "../storage/tables/inspections.ts";
import { enqueueWebhook } from "../webhooks/enqueue-webhook.ts";

type EventName = "inspecting" | "rejected" | "disputed" | "settled";

function getEventName({ state }: InspectionRow): EventName {
  return state === "closed" ? "settled" : state;
}

/** Builds the members of a message about an inspection, without the reasons, which are untrusted texts. */
function buildNotice({ task_id, state, deadline, outcome, share }: InspectionRow) {
  return {
    task_id,
    state,
    deadline,
    outcome: outcome === null ? null : (JSON.parse(outcome) as OutcomeRecord).outcome,
    share: share === null ? null : fromMillionths(share),
  };
}

/** Lists the agents that learn of the state of an inspection. */
function listRecipients(row: InspectionRow, relayId: string): string[] {
  const { state, submitter_id, executor_id, arbiter_id, contested_at } = row;
  if (state === "inspecting") return [submitter_id];
  if (state === "rejected") return [executor_id];
  const isAgents = contested_at !== null && arbiter_id !== relayId;
  return [submitter_id, executor_id, ...(isAgents ? [arbiter_id] : [])];
}

/** Enqueues the webhooks of a new state and notes it for other processes, in the transaction of the change. */
export function enqueueInspectionChanged(
  tx: Tx,
  services: Pick<Services, "runtime" | "subscriptions" | "identity">,
  row: InspectionRow,
): Promise<void> {
  tx.noteChange("inspection", row.task_id, "state");
  const type: WebhookEvent = `task.${getEventName(row)}`;
  const recipients = listRecipients(row, services.identity.relayId);
  return enqueueWebhook(tx, services, recipients, { type, data: buildNotice(row) });
}

/** Tells waiting requests and connected devices of a new state, once it is durable. */
export function publishInspectionChanged(
  { waiters, connections, identity }: Pick<Services, "waiters" | "connections" | "identity">,
  row: InspectionRow,
): void {
  waiters.notify(row.task_id);
  const message: ServerMessage = { type: `task_${getEventName(row)}`, ...buildNotice(row) };
  for (const agentId of listRecipients(row, identity.relayId)) {
    for (const connection of connections.forAgent(agentId)) connection.send(message);
  }
}
