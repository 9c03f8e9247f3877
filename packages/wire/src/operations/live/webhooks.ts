import * as v from "valibot";
import { extensibleEnum, longText } from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { defineOperation } from "../../engine/operation.ts";

/** What an agent can be told of as it happens. */
export const WebhookEvent = v.picklist([
  "task.assigned",
  "task.completed",
  "task.failed",
  "settlement.created",
  "credential.issued",
]);
export type WebhookEvent = v.InferOutput<typeof WebhookEvent>;

export const Webhook = v.object({
  webhook_id: v.string(),
  url: v.string(),
  events: v.array(extensibleEnum(WebhookEvent.options)),
  /** A disabled one is told nothing more; a test that is delivered makes it active again. */
  state: extensibleEnum(["active", "disabled"]),
  last_error: v.nullable(v.string()),
  /** In a row, up to now. */
  failures: v.number(),
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
      "Have events sent to an address, signed (Standard Webhooks); the secret is shown once.",
    scope: "agent:write",
    tier: "write",
    body: v.object({
      url: longText,
      events: v.pipe(
        v.array(WebhookEvent),
        v.minLength(1, "has to name an event"),
        v.maxLength(WebhookEvent.options.length, "names an event twice"),
      ),
    }),
    ok: { 201: v.object({ webhook_id: v.string(), secret: v.string() }) },
    refusals: ["webhook.url_refused", "webhook.too_many"],
  }),
  listWebhooks: defineOperation({
    ...ownerOperation,
    method: "GET",
    path: "/api/v1/agents/:agentId/webhooks",
    summary: `An agent's webhooks, at most ${limits.webhooks}, and how they are doing.`,
    scope: "account:read",
    tier: "read",
    ok: { 200: v.object({ webhooks: v.array(Webhook) }) },
    refusals: [],
  }),
  deleteWebhook: defineOperation({
    ...ownerOperation,
    method: "DELETE",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId",
    summary: "Take a webhook away, and what it was still to be told.",
    scope: "agent:write",
    tier: "write",
    ok: { 200: v.object({ deleted: v.literal(true) }) },
    refusals: ["webhook.not_found"],
  }),
  testWebhook: defineOperation({
    ...ownerOperation,
    method: "POST",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId/test",
    summary: "Send an event `webhook.test` now, and say whether it was taken.",
    scope: "agent:write",
    tier: "write",
    ok: { 200: v.object({ delivered: v.boolean() }) },
    refusals: ["webhook.not_found"],
  }),
} as const;
