import type { WebhookEvent } from "@agent/wire";
import type { Reader } from "../storage/storage.ts";
import type { WebhookRow } from "../storage/tables/webhooks.ts";
import { listAllWebhooks, listWebhooksByAgent } from "./store.ts";

/** The active subscriptions in memory, so that an agent without webhooks costs a task nothing. */
export interface Subscriptions {
  /** Lists the active webhooks of an agent for an event. */
  listSubscribed(agentId: string, event: WebhookEvent): readonly string[];
  put(webhook: Pick<WebhookRow, "webhook_id" | "agent_id" | "events" | "state">): void;
  remove(webhook: Pick<WebhookRow, "webhook_id" | "agent_id">): void;
  /** Reads the webhooks of an agent again, because another process has changed them. */
  reload(agentId: string): Promise<void>;
}

const noWebhooks: readonly string[] = [];

export async function loadSubscriptions(read: Reader): Promise<Subscriptions> {
  const byAgent = new Map<string, Map<string, readonly string[]>>();

  const subscriptions: Subscriptions = {
    listSubscribed(agentId, event) {
      const own = byAgent.get(agentId);
      if (own === undefined) return noWebhooks;
      return [...own].filter(([, events]) => events.includes(event)).map(([id]) => id);
    },
    put({ webhook_id, agent_id, events, state }) {
      if (state === "disabled") return subscriptions.remove({ webhook_id, agent_id });
      const own = byAgent.get(agent_id) ?? new Map<string, readonly string[]>();
      byAgent.set(agent_id, own.set(webhook_id, JSON.parse(events) as string[]));
    },
    remove({ webhook_id, agent_id }) {
      const own = byAgent.get(agent_id);
      own?.delete(webhook_id);
      if (own?.size === 0) byAgent.delete(agent_id);
    },
    async reload(agentId) {
      const webhooks = await listWebhooksByAgent(read, agentId);
      byAgent.delete(agentId);
      for (const webhook of webhooks) subscriptions.put(webhook);
    },
  };
  for (const webhook of await listAllWebhooks(read)) subscriptions.put(webhook);
  return subscriptions;
}
