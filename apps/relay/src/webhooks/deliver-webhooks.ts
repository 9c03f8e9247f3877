import { createHmac } from "node:crypto";
import { EgressError } from "../http/egress/egress.ts";
import { withStoredTrace } from "../observability/trace.ts";
import type { Services } from "../services.ts";
import type { WebhookDeliveryRow, WebhookRow } from "../storage/tables/webhooks.ts";
import {
  deleteDeliveriesByWebhook,
  endWebhookTurn,
  claimWebhook,
  findDueDelivery,
  listDueWebhooks,
  findWebhook,
  recordWebhookFailure,
  refreshNextDelivery,
  updateWebhookState,
  postponeDelivery,
  deleteDelivery,
} from "./store.ts";

type DeliveryDependencies = Pick<
  Services,
  "storage" | "runtime" | "egress" | "subscriptions" | "log" | "webhookLanes"
>;

/** The minimum wait of a delivery after each failed attempt: 5 s, 1 min, 10 min, 1 h, 6 h. */
const RETRY_DELAYS_MS = [5_000, 60_000, 600_000, 3_600_000, 21_600_000];
const MAX_FAILURES = 20;
const TIMEOUT_MS = 15_000;
/**
 * The wait of all deliveries of a webhook after its first consecutive failure, and after each further one.
 */
const PAUSES_MS = [5_000, 60_000] as const;
/** More webhooks than one round can begin with. */
const MAX_LISTED = 1_000;

/**
 * Begins to send due deliveries, and does not wait for their receivers. One that was sent but not
 * recorded as sent is repeated under its id.
 */
export async function deliverWebhooks(services: DeliveryDependencies): Promise<void> {
  const { storage, runtime, webhookLanes } = services;
  if (!webhookLanes.hasRoom()) return;
  const due = await listDueWebhooks(storage.read, {
    now: runtime.now(),
    after: webhookLanes.lastOwner(),
    limit: MAX_LISTED,
  });
  const round = { due, isWhole: due.length < MAX_LISTED };
  webhookLanes.begin(round, ({ webhook_id }, mayContinue) =>
    deliverInOrder(services, webhook_id, mayContinue),
  );
}

/** Sends the due deliveries of one webhook in turn, until one fails or it may not continue. */
async function deliverInOrder(
  services: DeliveryDependencies,
  webhook_id: string,
  mayContinue: () => boolean,
): Promise<void> {
  const { storage, runtime } = services;
  const turn = createTurn(services, webhook_id);
  do {
    if (!(await turn.take())) return;
    const query = { webhook_id, now: runtime.now() };
    const delivery = await findDueDelivery(storage.read, query);
    if (delivery === undefined) break;
    if (!(await attemptDelivery(services, delivery))) return;
  } while (mayContinue());
  await turn.end();
}

/** Long enough that a turn does not end while a receiver may still answer. */
const TURN_MS = 2 * TIMEOUT_MS;

/** Keeps other processes from one webhook, so that its deliveries stay in order. */
function createTurn(
  { storage, runtime }: Pick<DeliveryDependencies, "storage" | "runtime">,
  webhook_id: string,
) {
  let taken = 0;
  return {
    /** Takes or extends the turn; false if another process has it. */
    async take(): Promise<boolean> {
      if (!storage.isShared) return true;
      const now = runtime.now();
      const until = now + TURN_MS;
      const isTaken = await storage.transaction((tx) =>
        claimWebhook(tx, { webhook_id, now, until, taken }),
      );
      if (isTaken) taken = until;
      return isTaken;
    },
    end: () =>
      storage.transaction((tx) => endWebhookTurn(tx, { webhook_id, now: runtime.now(), taken })),
  };
}

/** Returns whether the next delivery may follow: not if the endpoint did not accept this one. */
async function attemptDelivery(
  services: DeliveryDependencies,
  delivery: WebhookDeliveryRow,
): Promise<boolean> {
  const { storage } = services;
  const { delivery_id, webhook_id } = delivery;
  const webhook = await findWebhook(storage.read, webhook_id);
  if (webhook === undefined || webhook.state === "disabled") {
    await storage.transaction((tx) => deleteDelivery(tx, delivery_id));
    return true;
  }
  const message = { id: delivery_id, body: delivery.body };
  const fault = await withStoredTrace(delivery.trace, () =>
    sendWebhook(services, webhook, message),
  );
  if (fault === undefined) {
    await storage.transaction(async (tx) => {
      await deleteDelivery(tx, delivery_id);
      if (webhook.failures > 0) await updateWebhookState(tx, healthyState(webhook));
    });
    return true;
  }
  await recordFailure(services, webhook, delivery, fault);
  return false;
}

/**
 * A failure that began before a later attempt succeeded counts for nothing, because the 20th disables the webhook
 * and deletes its events.
 */
async function recordFailure(
  { storage, runtime, subscriptions, log }: DeliveryDependencies,
  webhook: WebhookRow,
  { delivery_id, attempt }: WebhookDeliveryRow,
  last_error: string,
): Promise<void> {
  const { webhook_id, agent_id } = webhook;
  const failures = webhook.failures + 1;
  const isOver = failures >= MAX_FAILURES || last_error === GONE;
  const state = isOver ? ("disabled" as const) : ("active" as const);
  const now = runtime.now();
  const paused_until = now + (failures === 1 ? PAUSES_MS[0] : PAUSES_MS[1]);
  const isDisabled = await storage.transaction(async (tx) => {
    const changed = { webhook_id, agent_id, state, failures, last_error, paused_until };
    const isCounted = await recordWebhookFailure(tx, { ...changed, before: webhook.failures });
    const wait = RETRY_DELAYS_MS[attempt];
    if (isOver && isCounted) await deleteDeliveriesByWebhook(tx, webhook_id);
    else if (wait === undefined) await deleteDelivery(tx, delivery_id);
    else await postponeDelivery(tx, { delivery_id, next_at: now + wait });
    await refreshNextDelivery(tx, webhook_id);
    return isOver && isCounted;
  });
  if (!isDisabled) return;
  subscriptions.remove(webhook);
  log.warn("webhook.disabled", { webhook_id, agent_id, failures, reason: last_error });
}

const GONE = "answers 410: gone";

export const healthyState = ({
  webhook_id,
  agent_id,
}: Pick<WebhookRow, "webhook_id" | "agent_id">) =>
  ({
    webhook_id,
    agent_id,
    state: "active",
    failures: 0,
    last_error: null,
    paused_until: 0,
  }) as const;

/**
 * Sends a message in the format of Standard Webhooks; returns undefined if it is accepted, otherwise the
 * reason.
 */
export async function sendWebhook(
  { egress, runtime }: Pick<Services, "egress" | "runtime">,
  { url, secret }: Pick<WebhookRow, "url" | "secret">,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<string | undefined> {
  const timestamp = String(Math.floor(runtime.now() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  try {
    const answer = await egress.withTimeout(TIMEOUT_MS)(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": timestamp,
        "webhook-signature": `v1,${signature}`,
      },
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : answer.status === 410 ? GONE : `answers ${answer.status}`;
  } catch (error) {
    if (error instanceof EgressError) return error.message;
    throw error;
  }
}
