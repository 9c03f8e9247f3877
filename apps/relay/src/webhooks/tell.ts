import type { WebhookEvent } from "@agent/wire";
import { storedTrace } from "../http/trace.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import { insertDelivery } from "./store.ts";

/** Something that happened, and what there is to say of it. */
export interface Occurrence {
  readonly type: WebhookEvent;
  readonly data: object;
}

/**
 * Notes in the transaction of what happened that these agents are to be told of it; so they are told of
 * what is durable, and of all of it.
 */
export async function tell(
  tx: Tx,
  { runtime, subscriptions }: Pick<Services, "runtime" | "subscriptions">,
  agents: readonly (string | null)[],
  { type, data }: Occurrence,
): Promise<void> {
  for (const agentId of new Set(agents)) {
    const wanting = agentId === null ? [] : subscriptions.wanting(agentId, type);
    for (const webhook_id of wanting) {
      await insertDelivery(tx, {
        delivery_id: `msg_${newId(runtime)}`,
        webhook_id,
        body: bodyOf(type, data, runtime.now()),
        attempt: 0,
        next_at: runtime.now(),
        trace: storedTrace(),
      });
    }
  }
}

/** The text that is signed and sent (Standard Webhooks). */
export function bodyOf(type: WebhookEvent | "webhook.test", data: object, now: number): string {
  return JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
}
