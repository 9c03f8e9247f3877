import * as v from "valibot";
import { extensibleEnum, longText, wholeNumber } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** The events that a webhook can receive. */
export const WebhookEvent = v.picklist([
  "task.assigned",
  "task.completed",
  "task.failed",
  "task.inspecting",
  "task.rejected",
  "task.disputed",
  "task.settled",
  "settlement.created",
  "credential.issued",
]);
export type WebhookEvent = v.InferOutput<typeof WebhookEvent>;

export const Webhook = v.object({
  webhook_id: v.string(),
  url: v.string(),
  events: v.array(extensibleEnum(WebhookEvent.options)),
  /** A disabled webhook receives no events; a delivered test makes it active again. */
  state: extensibleEnum(["active", "disabled"]),
  last_error: v.nullable(v.string()),
  /** The number of consecutive failed deliveries. */
  failures: wholeNumber,
});
export type Webhook = v.InferInput<typeof Webhook>;

const ownerOperation = {
  section: "Live updates",
  auth: "bearer",
  ownerOnly: true,
} as const;

export const webhooks = {
  createWebhook: defineOperation({
    ...ownerOperation,
    method: "POST",
    path: "/api/v1/agents/:agentId/webhooks",
    summary:
      "Create a webhook; events are signed (Standard Webhooks) with a secret that is shown once.",
    scope: "agent:write",
    tier: "write",
    body: v.object({
      url: longText,
      events: v.pipe(
        v.array(WebhookEvent),
        v.minLength(1, "must contain at least one event"),
        v.maxLength(WebhookEvent.options.length, "must not contain an event twice"),
      ),
    }),
    ok: { 201: v.object({ webhook_id: v.string(), secret: v.string() }) },
    refusals: ["webhook.url_refused", "webhook.too_many"],
  }),
  listWebhooks: defineOperation({
    ...ownerOperation,
    method: "GET",
    path: "/api/v1/agents/:agentId/webhooks",
    summary: `List an agent's webhooks, at most ${limits.webhooks}, with their delivery state.`,
    scope: "account:read",
    tier: "read",
    ok: { 200: v.object({ webhooks: v.array(Webhook) }) },
    refusals: [],
  }),
  deleteWebhook: defineOperation({
    ...ownerOperation,
    method: "DELETE",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId",
    summary: "Delete a webhook and its undelivered events.",
    scope: "agent:write",
    tier: "write",
    ok: { 200: v.object({ deleted: v.literal(true) }) },
    refusals: ["webhook.not_found"],
  }),
  testWebhook: defineOperation({
    ...ownerOperation,
    method: "POST",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId/test",
    summary: "Send the event `webhook.test` now and return whether it was delivered.",
    scope: "agent:write",
    tier: "write",
    ok: { 200: v.object({ delivered: v.boolean() }) },
    refusals: ["webhook.not_found"],
  }),
} as const;
