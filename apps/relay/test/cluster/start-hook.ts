import { createToken, startLoopbackServer } from "@agent/testkit";
import { requestJson, type LoadAgents } from "../load.ts";

/** A server that receives an agent's webhooks and accepts them. */
export interface Hook {
  /** Subscribes the worker of a load to the events for the ends of its tasks. */
  subscribe(url: string, load: LoadAgents): Promise<void>;
  /** Returns, for each task, the ids with which its event arrived. */
  ids(type: string): ReadonlyMap<string, ReadonlySet<string>>;
  close(): Promise<void>;
}

interface Message {
  readonly type: string;
  readonly data: { readonly task_id: string };
}

export async function startHook(): Promise<Hook> {
  const received: { readonly id: string; readonly message: Message }[] = [];
  const server = await startLoopbackServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      const id = String(request.headers["webhook-id"]);
      received.push({ id, message: JSON.parse(text) as Message });
      response.writeHead(204).end();
    });
  });
  return {
    async subscribe(url, { worker, did }) {
      const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
      const token = await createToken(worker, did, { now: Date.now, randomBytes });
      const path = `${url}/api/v1/agents/${worker.agentId}/webhooks`;
      const hook = { url: `${server.url}/hook`, events: ["task.completed"] };
      const { status, body } = await requestJson(path, token, "POST", hook);
      if (status !== 201) throw new Error(JSON.stringify(body));
    },
    ids(type) {
      const ids = new Map<string, Set<string>>();
      for (const { id, message } of received) {
        if (message.type !== type) continue;
        const { task_id } = message.data;
        ids.set(task_id, (ids.get(task_id) ?? new Set()).add(id));
      }
      return ids;
    },
    close: server.close,
  };
}
