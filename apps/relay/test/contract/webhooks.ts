import { limits } from "@agent/wire";
import type { Reply, TestRelay } from "../test-relay.ts";
import type { Contract } from "./outcome.ts";

const path = (agentId: string, rest = "") => `/api/v1/agents/${agentId}/webhooks${rest}`;

const create = (t: TestRelay, agentId: string, url = "http://127.0.0.1:1/x"): Promise<Reply> =>
  t.asMaster("POST", path(agentId), { url, events: ["task.completed"] });

/** A webhook that is there, and the path below it. */
async function made(t: TestRelay): Promise<string> {
  const { agentId } = t.stranger();
  const { body } = await create(t, agentId);
  return path(agentId, `/${String(body["webhook_id"])}`);
}

export const webhooksContract: Contract<
  "createWebhook" | "listWebhooks" | "deleteWebhook" | "testWebhook"
> = {
  createWebhook: {
    201: (t) => create(t, t.stranger().agentId),
    "webhook.url_refused": (t) => create(t, t.stranger().agentId, "ftp://127.0.0.1/x"),
    "webhook.too_many": async (t) => {
      const { agentId } = t.stranger();
      for (let i = 0; i < limits.webhooks; i += 1) await create(t, agentId);
      return create(t, agentId);
    },
  },
  listWebhooks: { 200: (t) => t.asMaster("GET", path(t.stranger().agentId)) },
  deleteWebhook: {
    200: async (t) => t.asMaster("DELETE", await made(t)),
    "webhook.not_found": (t) => t.asMaster("DELETE", path(t.stranger().agentId, "/none")),
  },
  testWebhook: {
    200: async (t) => t.asMaster("POST", `${await made(t)}/test`),
    "webhook.not_found": (t) => t.asMaster("POST", path(t.stranger().agentId, "/none/test")),
  },
};
