import type { WebhookEvent } from "@agent/wire";
import { formatCurrentTrace } from "../observability/trace.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { insertDelivery } from "./store.ts";

/** Something that happened, and what there is to say of it. */
export interface WebhookEventMessage {
  readonly type: WebhookEvent;
  readonly data: object;
}

/**
 * Notes in the transaction of what happened that these agents are to be told of it; so they are told of
 * what is durable, and of all of it.
 */
export async function enqueueWebhook(
  tx: Tx,
  { runtime, subscriptions }: Pick<Services, "runtime" | "subscriptions">,
  agents: readonly (string | null)[],
  { type, data }: WebhookEventMessage,
): Promise<void> {
  for (const agentId of new Set(agents)) {
    const webhookIds = agentId === null ? [] : subscriptions.listSubscribed(agentId, type);
    for (const webhook_id of webhookIds) {
      await insertDelivery(tx, {
        delivery_id: `msg_${newId(runtime)}`,
        webhook_id,
        body: formatWebhookBody(type, data, runtime.now()),
        attempt: 0,
        next_at: runtime.now(),
        trace: formatCurrentTrace(),
      });
    }
  }
}

/** The text that is signed and sent (Standard Webhooks). */
export function formatWebhookBody(
  type: WebhookEvent | "webhook.test",
  data: object,
  now: number,
): string {
  return JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
}
