import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
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
  url: describeAs(v.string(), "The address that receives the events."),
  events: describeAs(v.array(extensibleEnum(WebhookEvent.options)), "The events that it receives."),
  state: describeAs(
    extensibleEnum(["active", "disabled"]),
    "A disabled webhook receives no events; a delivered test makes it active again.",
  ),
  last_error: describeAs(
    v.nullable(v.string()),
    "The reason why the last delivery failed; null if there is none.",
  ),
  failures: describeAs(wholeNumber, "The number of consecutive failed deliveries."),
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
      url: describeAs(longText, "The address that receives the events."),
      events: describeAs(
        v.pipe(
          v.array(WebhookEvent),
          v.minLength(1, "must contain at least one event"),
          v.maxLength(WebhookEvent.options.length, "must not contain an event twice"),
        ),
        "The events that it receives.",
      ),
    }),
    ok: {
      201: v.object({
        webhook_id: v.string(),
        secret: describeAs(
          v.string(),
          "The secret that signs the events (Standard Webhooks); it is shown only once.",
        ),
      }),
    },
    refusals: ["request.invalid", "webhook.url_refused", "webhook.too_many", "agent.revoked"],
  }),
  listWebhooks: defineOperation({
    ...ownerOperation,
    method: "GET",
    path: "/api/v1/agents/:agentId/webhooks",
    summary: `List an agent's webhooks, at most ${limits.webhooks}, with their delivery state.`,
    scope: "account:read",
    tier: "read",
    ok: {
      200: v.object({
        webhooks: describeAs(v.array(Webhook), "The webhooks with their delivery state."),
      }),
    },
    refusals: [],
  }),
  deleteWebhook: defineOperation({
    ...ownerOperation,
    method: "DELETE",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId",
    summary: "Delete a webhook and its undelivered events.",
    scope: "agent:write",
    tier: "write",
    ok: {
      200: v.object({
        deleted: describeAs(v.literal(true), "Always true: the webhook is deleted."),
      }),
    },
    refusals: ["webhook.not_found"],
  }),
  testWebhook: defineOperation({
    ...ownerOperation,
    method: "POST",
    path: "/api/v1/agents/:agentId/webhooks/:webhookId/test",
    summary: "Send the event `webhook.test` now and return whether it was delivered.",
    scope: "agent:write",
    tier: "write",
    ok: {
      200: v.object({ delivered: describeAs(v.boolean(), "Whether the event was delivered.") }),
    },
    refusals: ["webhook.not_found"],
  }),
} as const;
