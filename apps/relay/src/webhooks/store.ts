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
        "paused_until",
        "next_at",
        "created_at",
      ),
    ),
);

export async function insertWebhook(tx: Tx, webhook: WebhookRow): Promise<void> {
  await tx.run(insertWebhookQuery, webhook);
  tx.noteChange("webhooks", webhook.agent_id);
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
  tx.noteChange("webhooks", webhook.agent_id);
  return (await tx.run(deleteWebhookQuery, webhook)) === 1;
}

const deleteDeliveriesQuery = compile<{ webhook_id: string }>()(
  queryBuilder.deleteFrom("webhook_deliveries").where("webhook_id", "=", param("webhook_id")),
);

/** Deletes the pending deliveries of a webhook. */
export async function deleteDeliveriesByWebhook(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(deleteDeliveriesQuery, { webhook_id });
}

type WebhookState = Pick<
  WebhookRow,
  "webhook_id" | "agent_id" | "state" | "failures" | "last_error" | "paused_until"
>;

const updateStateQuery = compile<Omit<WebhookState, "agent_id">>()(
  queryBuilder
    .updateTable("webhooks")
    .set(params("state", "failures", "last_error", "paused_until"))
    .where("webhook_id", "=", param("webhook_id")),
);

export async function updateWebhookState(tx: Tx, state: WebhookState): Promise<void> {
  await tx.run(updateStateQuery, state);
  tx.noteChange("webhooks", state.agent_id);
}

const failureQuery = compile<Omit<WebhookState, "agent_id"> & { before: number }>()(
  queryBuilder
    .updateTable("webhooks")
    .set(params("state", "failures", "last_error", "paused_until"))
    .where("webhook_id", "=", param("webhook_id"))
    .where("failures", "=", param("before")),
);

/**
 * Stores a failure that began when there had been `before` of them; false if another attempt has ended since, as of
 * a test message or of another process.
 */
export async function recordWebhookFailure(
  tx: Tx,
  failed: WebhookState & { readonly before: number },
): Promise<boolean> {
  const isRecorded = (await tx.run(failureQuery, failed)) === 1;
  if (isRecorded) tx.noteChange("webhooks", failed.agent_id);
  return isRecorded;
}

const takeQuery = compile<{ webhook_id: string; now: number; until: number; taken: number }>()(
  queryBuilder
    .updateTable("webhooks")
    .set({ paused_until: param("until") })
    .where("webhook_id", "=", param("webhook_id"))
    .where(sql<boolean>`(paused_until <= ${param("now")} or paused_until = ${param("taken")})`),
);

/**
 * Pauses a webhook for the other processes until a time, and again before that pause `taken` ends; false
 * if another process has it.
 */
export async function claimWebhook(
  tx: Tx,
  webhook: { webhook_id: string; now: number; until: number; taken: number },
): Promise<boolean> {
  return (await tx.run(takeQuery, webhook)) === 1;
}

const endTurnQuery = compile<{ webhook_id: string; now: number; taken: number }>()(
  queryBuilder
    .updateTable("webhooks")
    .set({ paused_until: param("now") })
    .where("webhook_id", "=", param("webhook_id"))
    .where(sql<boolean>`(paused_until <= ${param("now")} or paused_until = ${param("taken")})`),
);

/**
 * Ends the pause `taken` of a webhook, unless a failure has begun another, and puts the webhook behind the
 * others of its owner.
 */
export async function endWebhookTurn(
  tx: Tx,
  webhook: { webhook_id: string; now: number; taken: number },
): Promise<void> {
  await tx.run(endTurnQuery, webhook);
  await refreshNextDelivery(tx, webhook.webhook_id);
}

const insertDeliveryQuery = compile<WebhookDeliveryRow>()(
  queryBuilder
    .insertInto("webhook_deliveries")
    .values(params("delivery_id", "webhook_id", "body", "attempt", "next_at", "trace")),
);

const advanceQuery = compile<Pick<WebhookDeliveryRow, "webhook_id" | "next_at">>()(
  queryBuilder
    .updateTable("webhooks")
    .set(params("next_at"))
    .where("webhook_id", "=", param("webhook_id")),
);

/** Inserts a delivery, unless its webhook was deleted in the meantime. */
export async function insertDelivery(tx: Tx, delivery: WebhookDeliveryRow): Promise<void> {
  const webhook = await findWebhook(tx, delivery.webhook_id);
  if (webhook === undefined) return;
  await tx.run(insertDeliveryQuery, delivery);
  if (webhook.next_at === null || webhook.next_at > delivery.next_at)
    await tx.run(advanceQuery, delivery);
}

const refreshQuery = compile<{ webhook_id: string }>()(
  queryBuilder
    .updateTable("webhooks")
    .set({
      next_at: sql<number | null>`(
        select min(waiting.next_at) from webhook_deliveries as waiting
        where waiting.webhook_id = webhooks.webhook_id)`,
    })
    .where("webhook_id", "=", param("webhook_id")),
);

/**
 * Stores when the next delivery of a webhook is due. Without it the webhook may be listed too early, but
 * never too late.
 */
export async function refreshNextDelivery(tx: Tx, webhook_id: string): Promise<void> {
  await tx.run(refreshQuery, { webhook_id });
}

/** A webhook with a delivery that is due. */
export interface DueWebhook {
  readonly webhook_id: string;
  /** Its agent. */
  readonly owner: string;
}

// Reads only entries of the index `webhooks_due`, whose first expression this is.
export const dueWebhooks = compile<{ now: number; after: string; limit: number }>()(
  sql<DueWebhook>`
    with placed as (
      select webhook_id, agent_id as owner, row_number() over (
        partition by agent_id order by failures > 0, paused_until, webhook_id) as place
      from webhooks
      where next_at is not null
        and case when paused_until > next_at then paused_until else next_at end <= ${param("now")})
    select webhook_id, owner from placed
    order by place, owner <= ${param("after")}, owner
    limit ${param("limit")}`,
);

/**
 * Lists webhooks that are enabled and have a due delivery: the first one of each owner, then the second
 * ones and so on, beginning with the owners after `after`. Of one owner, those that answer come before
 * those that failed, and the one that was served last comes last.
 */
export function listDueWebhooks(
  read: Reader,
  query: { now: number; after: string; limit: number },
): Promise<DueWebhook[]> {
  return read.all(dueWebhooks, query);
}

const nextDelivery = compile<{ webhook_id: string; now: number }>()(
  queryBuilder
    .selectFrom("webhook_deliveries")
    .selectAll()
    .where("webhook_id", "=", param("webhook_id"))
    .where("next_at", "<=", param("now"))
    .orderBy("next_at")
    .limit(1),
);

/** Finds the oldest delivery of a webhook that is due. */
export function findDueDelivery(
  read: Reader,
  query: { webhook_id: string; now: number },
): Promise<WebhookDeliveryRow | undefined> {
  return read.get(nextDelivery, query);
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
