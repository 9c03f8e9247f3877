import { isUuid } from "@agent/crypto";
import { limits, refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import { refuseField } from "../http/server/validate.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { WebhookRow } from "../storage/tables/webhooks.ts";
import { sendWebhook, healthyState } from "./deliver-webhooks.ts";
import {
  deleteWebhook,
  deleteDeliveriesByWebhook,
  findWebhook,
  insertWebhook,
  updateWebhookState,
  listWebhooksByAgent,
} from "./store.ts";
import { formatWebhookBody } from "./enqueue-webhook.ts";

type WebhookDependencies = Pick<Services, "storage" | "runtime" | "egress" | "subscriptions">;

interface WebhookRef {
  readonly agentId: string;
  readonly webhookId: string;
}

/** The number of bytes that Standard Webhooks asks for. */
const SECRET_BYTES = 32;

export async function createWebhook(
  { storage, runtime, egress, subscriptions }: WebhookDependencies,
  agent_id: string,
  { url, events }: BodyOf<Operations["createWebhook"]>,
  caller: Caller,
): Promise<Answer<Operations["createWebhook"]>> {
  // Only the operator can name such an id, and no event would ever come to it.
  if (!isUuid(agent_id)) return refuseField("agentId", "must be a UUID");
  const verdict = egress.checkUrl(url);
  if (!verdict.ok) return refuse("webhook.url_refused", verdict.detail);
  const secret = `whsec_${Buffer.from(runtime.randomBytes(SECRET_BYTES)).toString("base64")}`;
  const webhook: WebhookRow = {
    webhook_id: newId(runtime),
    agent_id,
    url,
    secret,
    events: JSON.stringify([...new Set(events)]),
    state: "active",
    failures: 0,
    last_error: null,
    paused_until: 0,
    next_at: null,
    created_at: runtime.now(),
  };
  const stored = await storage.transaction(async (tx) => {
    // The request may have been let in before the agent was revoked, here or by another process.
    const agent = await findAgent(tx, agent_id);
    if (agent !== undefined && agent.revoked_at !== null) return refuse("agent.revoked");
    const own = await listWebhooksByAgent(tx, agent_id);
    if (own.length >= limits.webhooks)
      return refuse("webhook.too_many", `at most ${limits.webhooks} webhooks`);
    await insertWebhook(tx, webhook);
    const { webhook_id: detail, created_at } = webhook;
    await recordAudit(tx, created_at, caller, {
      agentId: agent_id,
      action: "webhook.added",
      detail,
    });
    return { ok: true as const };
  });
  if (!stored.ok) return stored;
  subscriptions.put(webhook);
  return { status: 201, body: { webhook_id: webhook.webhook_id, secret } };
}

export async function listWebhooks(
  { storage }: Pick<WebhookDependencies, "storage">,
  agentId: string,
): Promise<Answer<Operations["listWebhooks"]>> {
  const rows = await listWebhooksByAgent(storage.read, agentId);
  const webhooks = rows.map(({ webhook_id, url, events, state, last_error, failures }) => ({
    webhook_id,
    url,
    events: JSON.parse(events) as [],
    state,
    last_error,
    failures,
  }));
  return { status: 200, body: { webhooks } };
}

export async function removeWebhook(
  { storage, runtime, subscriptions }: WebhookDependencies,
  { agentId: agent_id, webhookId: webhook_id }: WebhookRef,
  caller: Caller,
): Promise<Answer<Operations["deleteWebhook"]>> {
  const deleted = await storage.transaction(async (tx) => {
    if (!(await deleteWebhook(tx, { webhook_id, agent_id }))) return refuse("webhook.not_found");
    await deleteDeliveriesByWebhook(tx, webhook_id);
    const removed = { action: "webhook.removed", detail: webhook_id } as const;
    await recordAudit(tx, runtime.now(), caller, { agentId: agent_id, ...removed });
    return { ok: true as const, status: 200 as const, body: { deleted: true as const } };
  });
  if (deleted.ok) subscriptions.remove({ webhook_id, agent_id });
  return deleted;
}

/** Deletes all webhooks of an agent with their deliveries, and returns them. */
export async function deleteWebhooksByAgent(tx: Tx, agentId: string): Promise<WebhookRow[]> {
  const own = await listWebhooksByAgent(tx, agentId);
  for (const webhook of own) {
    await deleteWebhook(tx, webhook);
    await deleteDeliveriesByWebhook(tx, webhook.webhook_id);
  }
  return own;
}

/** Reports only success or failure, because the answer of another server is not shown to callers. */
export async function testWebhook(
  { storage, runtime, egress, subscriptions }: WebhookDependencies,
  { agentId, webhookId }: WebhookRef,
): Promise<Answer<Operations["testWebhook"]>> {
  const webhook = await findWebhook(storage.read, webhookId);
  if (webhook === undefined || webhook.agent_id !== agentId) return refuse("webhook.not_found");
  const id = `msg_${newId(runtime)}`;
  const body = formatWebhookBody("webhook.test", { webhook_id: webhookId }, runtime.now());
  const delivered = (await sendWebhook({ egress, runtime }, webhook, { id, body })) === undefined;
  if (delivered) {
    await storage.transaction((tx) => updateWebhookState(tx, healthyState(webhook)));
    subscriptions.put({ ...webhook, state: "active" });
  }
  return { status: 200, body: { delivered } };
}
