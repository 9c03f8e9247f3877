import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { WebhookDeliveryRow, WebhookRow } from "../storage/tables/webhooks.ts";

const all = prepare()(db.selectFrom("webhooks").selectAll());

export function allWebhooks(read: Reader): Promise<WebhookRow[]> {
  return read.all(all, {});
}

const ofAgent = prepare<{ agent_id: string }>()(
  db.selectFrom("webhooks").selectAll().where("agent_id", "=", p("agent_id")).orderBy("webhook_id"),
);

export function webhooksOf(read: Reader, agent_id: string): Promise<WebhookRow[]> {
  return read.all(ofAgent, { agent_id });
}

const byId = prepare<{ webhook_id: string }>()(
  db.selectFrom("webhooks").selectAll().where("webhook_id", "=", p("webhook_id")),
);

export function findWebhook(read: Reader, webhook_id: string): Promise<WebhookRow | undefined> {
  return read.get(byId, { webhook_id });
}

const add = prepare<WebhookRow>()(
  db.insertInto("webhooks").values({
    webhook_id: p("webhook_id"),
    agent_id: p("agent_id"),
    url: p("url"),
    secret: p("secret"),
    events: p("events"),
    state: p("state"),
    failures: p("failures"),
    last_error: p("last_error"),
    created_at: p("created_at"),
  }),
);

export async function insertWebhook(tx: Tx, webhook: WebhookRow): Promise<void> {
  await tx.run(add, webhook);
}

const drop = prepare<{ webhook_id: string; agent_id: string }>()(
  db
    .deleteFrom("webhooks")
    .where("webhook_id", "=", p("webhook_id"))
    .where("agent_id", "=", p("agent_id")),
);

export async function deleteWebhook(
  tx: Tx,
  webhook: { webhook_id: string; agent_id: string },
): Promise<boolean> {
  return (await tx.run(drop, webhook)) === 1;
}

const dropDeliveries = prepare<{ webhook_id: string }>()(
  db.deleteFrom("webhook_deliveries").where("webhook_id", "=", p("webhook_id")),
);

/** Takes away what a webhook was still to be told. */
export async function dropDeliveriesOf(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(dropDeliveries, { webhook_id });
}

const change = prepare<Pick<WebhookRow, "webhook_id" | "state" | "failures" | "last_error">>()(
  db
    .updateTable("webhooks")
    .set({ state: p("state"), failures: p("failures"), last_error: p("last_error") })
    .where("webhook_id", "=", p("webhook_id")),
);

export async function noteState(
  tx: Tx,
  state: Pick<WebhookRow, "webhook_id" | "state" | "failures" | "last_error">,
): Promise<void> {
  await tx.run(change, state);
}

const queue = prepare<WebhookDeliveryRow>()(
  db.insertInto("webhook_deliveries").values({
    delivery_id: p("delivery_id"),
    webhook_id: p("webhook_id"),
    body: p("body"),
    attempt: p("attempt"),
    next_at: p("next_at"),
    trace: p("trace"),
  }),
);

export async function insertDelivery(tx: Tx, delivery: WebhookDeliveryRow): Promise<void> {
  await tx.run(queue, delivery);
}

const due = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("next_at", "<=", p("now"))
    .orderBy("next_at")
    .limit(p("limit")),
);

export function dueDeliveries(
  read: Reader,
  query: { now: number; limit: number },
): Promise<WebhookDeliveryRow[]> {
  return read.all(due, query);
}

const done = prepare<{ delivery_id: string }>()(
  db.deleteFrom("webhook_deliveries").where("delivery_id", "=", p("delivery_id")),
);

export async function removeDelivery(tx: Tx, delivery_id: string): Promise<void> {
  await tx.run(done, { delivery_id });
}

const later = prepare<{ delivery_id: string; next_at: number }>()(
  db
    .updateTable("webhook_deliveries")
    .set({ next_at: p("next_at"), attempt: sql`attempt + 1` })
    .where("delivery_id", "=", p("delivery_id")),
);

export async function postponeDelivery(
  tx: Tx,
  delivery: { delivery_id: string; next_at: number },
): Promise<void> {
  await tx.run(later, delivery);
}
