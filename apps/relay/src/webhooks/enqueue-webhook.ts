import type { WebhookEvent } from "@agent/wire";
import { formatCurrentTrace } from "../observability/trace.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { insertDelivery } from "./store.ts";

/** An event with its payload. */
export interface WebhookEventMessage {
  readonly type: WebhookEvent;
  readonly data: object;
}

/**
 * Enqueues deliveries in the transaction of the event itself, so that agents are notified of
 * exactly what is durable.
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

/** Builds the text that is signed and sent (Standard Webhooks). */
export function formatWebhookBody(
  type: WebhookEvent | "webhook.test",
  data: object,
  now: number,
): string {
  return JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
}
