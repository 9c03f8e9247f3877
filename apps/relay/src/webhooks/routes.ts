import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { create, list, remove, test } from "./manage.ts";

type WebhookHandlers = Pick<
  Handlers,
  "createWebhook" | "listWebhooks" | "deleteWebhook" | "testWebhook"
>;

export function webhookHandlers(services: Services): WebhookHandlers {
  return {
    createWebhook: ({ params, body }, { caller }) => create(services, params.agentId, body, caller),
    listWebhooks: ({ params }) => list(services, params.agentId),
    deleteWebhook: ({ params }, { caller }) => remove(services, params, caller),
    testWebhook: ({ params }) => test(services, params),
  };
}
