import { refuse } from "@agent/wire";
import type { Handlers } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { acceptReceipt } from "./accept-receipt.ts";
import { cancel } from "./cancel.ts";
import { showEvidence } from "./evidence.ts";
import { list, poll } from "./poll.ts";
import { getReceipt, listReceipts } from "./receipt-archive.ts";
import { submit } from "./submit.ts";

type TaskHandlers = Pick<
  Handlers,
  | "submitTask"
  | "getTask"
  | "getEvidence"
  | "listTasks"
  | "cancelTask"
  | "postResult"
  | "listReceipts"
  | "getReceipt"
>;

export function taskHandlers(services: Services): TaskHandlers {
  return {
    submitTask: ({ params, body }, { caller, keep }) =>
      submit(services, services.router.route, { targetId: params.agentId, body, caller, keep }),
    getTask: ({ params, query }, { caller, signal }) =>
      poll(services, { ...params, waitSeconds: query.wait ?? 0, caller, signal }),
    getEvidence: ({ params }, { caller }) => showEvidence(services, { ...params, caller }),
    listTasks: ({ params, query }) =>
      list(services, {
        agentId: params.agentId,
        submitted: query.submitted_by === "me",
        status: query.status,
        limit: query.limit,
        cursor: query.cursor,
      }),
    listReceipts: ({ params, query }) => listReceipts(services, params.agentId, query),
    getReceipt: ({ params }) => getReceipt(services, params),
    cancelTask: ({ params }, { caller, keep }) => cancel(services, { ...params, caller, keep }),
    postResult: ({ params, body }, { caller, text, keep }) =>
      text === ""
        ? refuse("receipt.malformed", "body is empty")
        : acceptReceipt(services, { ...params, value: body, text, caller, keep }),
  };
}
