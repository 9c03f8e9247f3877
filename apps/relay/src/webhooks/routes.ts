import type { Handlers } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { createWebhook, listWebhooks, removeWebhook, testWebhook } from "./manage-webhooks.ts";

type WebhookHandlers = Pick<
  Handlers,
  "createWebhook" | "listWebhooks" | "deleteWebhook" | "testWebhook"
>;

export function webhookHandlers(services: Services): WebhookHandlers {
  return {
    createWebhook: ({ params, body }, { caller }) =>
      createWebhook(services, params.agentId, body, caller),
    listWebhooks: ({ params }) => listWebhooks(services, params.agentId),
    deleteWebhook: ({ params }, { caller }) => removeWebhook(services, params, caller),
    testWebhook: ({ params }) => testWebhook(services, params),
  };
}
