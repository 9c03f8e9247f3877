import { limits } from "@agent/wire";
import type { Reply, TestRelay } from "../../test-relay.ts";
import type { Contract } from "../outcome.ts";

const path = (agentId: string, rest = "") => `/api/v1/agents/${agentId}/webhooks${rest}`;

const create = (t: TestRelay, agentId: string, url = "http://127.0.0.1:1/x"): Promise<Reply> =>
  t.asOperator("POST", path(agentId), { url, events: ["task.completed"] });

/** Creates a webhook and returns its path. */
async function createWebhookPath(t: TestRelay): Promise<string> {
  const { agentId } = t.createUnknownAgent();
  const { body } = await create(t, agentId);
  return path(agentId, `/${String(body["webhook_id"])}`);
}

export const webhooksContract: Contract<
  "createWebhook" | "listWebhooks" | "deleteWebhook" | "testWebhook"
> = {
  createWebhook: {
    201: (t) => create(t, t.createUnknownAgent().agentId),
    "request.invalid": (t) => create(t, "no-uuid"),
    "webhook.url_refused": (t) => create(t, t.createUnknownAgent().agentId, "ftp://127.0.0.1/x"),
    "webhook.too_many": async (t) => {
      const { agentId } = t.createUnknownAgent();
      for (let i = 0; i < limits.webhooks; i += 1) await create(t, agentId);
      return create(t, agentId);
    },
    "agent.revoked": async (t) => {
      const { agentId } = await t.createAgent();
      await t.asOperator("POST", `/api/v1/agents/${agentId}/revoke`, {});
      return create(t, agentId);
    },
  },
  listWebhooks: { 200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId)) },
  deleteWebhook: {
    200: async (t) => t.asOperator("DELETE", await createWebhookPath(t)),
    "webhook.not_found": (t) =>
      t.asOperator("DELETE", path(t.createUnknownAgent().agentId, "/none")),
  },
  testWebhook: {
    200: async (t) => t.asOperator("POST", `${await createWebhookPath(t)}/test`),
    "webhook.not_found": (t) =>
      t.asOperator("POST", path(t.createUnknownAgent().agentId, "/none/test")),
  },
};
