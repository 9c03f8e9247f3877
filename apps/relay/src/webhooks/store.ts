import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { WebhookDeliveryRow, WebhookRow } from "../storage/tables/webhooks.ts";

const everyWebhook = compile()(queryBuilder.selectFrom("webhooks").selectAll());

export function listAllWebhooks(read: Reader): Promise<WebhookRow[]> {
  return read.all(everyWebhook, {});
}

const webhooksByAgent = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("webhooks")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .orderBy("webhook_id"),
);

export function listWebhooksByAgent(read: Reader, agent_id: string): Promise<WebhookRow[]> {
  return read.all(webhooksByAgent, { agent_id });
}

const webhookById = compile<{ webhook_id: string }>()(
  queryBuilder.selectFrom("webhooks").selectAll().where("webhook_id", "=", param("webhook_id")),
);

export function findWebhook(read: Reader, webhook_id: string): Promise<WebhookRow | undefined> {
  return read.get(webhookById, { webhook_id });
}

const insertWebhookQuery = compile<WebhookRow>()(
  queryBuilder
    .insertInto("webhooks")
    .values(
      params(
        "webhook_id",
        "agent_id",
        "url",
        "secret",
        "events",
        "state",
        "failures",
        "last_error",
        "created_at",
      ),
    ),
);

export async function insertWebhook(tx: Tx, webhook: WebhookRow): Promise<void> {
  await tx.run(insertWebhookQuery, webhook);
}

const deleteWebhookQuery = compile<{ webhook_id: string; agent_id: string }>()(
  queryBuilder
    .deleteFrom("webhooks")
    .where("webhook_id", "=", param("webhook_id"))
    .where("agent_id", "=", param("agent_id")),
);

export async function deleteWebhook(
  tx: Tx,
  webhook: { webhook_id: string; agent_id: string },
): Promise<boolean> {
  return (await tx.run(deleteWebhookQuery, webhook)) === 1;
}

const deleteDeliveriesQuery = compile<{ webhook_id: string }>()(
  queryBuilder.deleteFrom("webhook_deliveries").where("webhook_id", "=", param("webhook_id")),
);

/** Deletes the pending deliveries of a webhook. */
export async function deleteDeliveriesByWebhook(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(deleteDeliveriesQuery, { webhook_id });
}

const updateStateQuery = compile<
  Pick<WebhookRow, "webhook_id" | "state" | "failures" | "last_error">
>()(
  queryBuilder
    .updateTable("webhooks")
    .set(params("state", "failures", "last_error"))
    .where("webhook_id", "=", param("webhook_id")),
);

export async function updateWebhookState(
  tx: Tx,
  state: Pick<WebhookRow, "webhook_id" | "state" | "failures" | "last_error">,
): Promise<void> {
  await tx.run(updateStateQuery, state);
}

const insertDeliveryQuery = compile<WebhookDeliveryRow>()(
  queryBuilder
    .insertInto("webhook_deliveries")
    .values(params("delivery_id", "webhook_id", "body", "attempt", "next_at", "trace")),
);

export async function insertDelivery(tx: Tx, delivery: WebhookDeliveryRow): Promise<void> {
  await tx.run(insertDeliveryQuery, delivery);
}

const dueInOrder = compile<{ now: number; limit: number }>()(
  queryBuilder
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("next_at", "<=", param("now"))
    .orderBy("next_at")
    .limit(param("limit")),
);

export function listDueDeliveries(
  read: Reader,
  query: { now: number; limit: number },
): Promise<WebhookDeliveryRow[]> {
  return read.all(dueInOrder, query);
}

const deleteDeliveryQuery = compile<{ delivery_id: string }>()(
  queryBuilder.deleteFrom("webhook_deliveries").where("delivery_id", "=", param("delivery_id")),
);

export async function deleteDelivery(tx: Tx, delivery_id: string): Promise<void> {
  await tx.run(deleteDeliveryQuery, { delivery_id });
}

const postponeDeliveryQuery = compile<{ delivery_id: string; next_at: number }>()(
  queryBuilder
    .updateTable("webhook_deliveries")
    .set({ next_at: param("next_at"), attempt: sql`attempt + 1` })
    .where("delivery_id", "=", param("delivery_id")),
);

export async function postponeDelivery(
  tx: Tx,
  delivery: { delivery_id: string; next_at: number },
): Promise<void> {
  await tx.run(postponeDeliveryQuery, delivery);
}
