import { refuse } from "@agent/wire";
import type { Handlers } from "../http/handler.ts";
import { parseLastEventId } from "../http/event-stream.ts";
import { submitWithPayment } from "../payments/x402/submit-with-payment.ts";
import type { Services } from "../services.ts";
import { acceptReceipt } from "./receipts/accept-receipt.ts";
import { cancelTask } from "./assignment/cancel-task.ts";
import { eraseTaskTexts } from "./erase-task-texts.ts";
import {
  claimAsExecutor,
  reportProgressAsExecutor,
  releaseAsExecutor,
} from "./assignment/executor-claims.ts";
import { getEvidence } from "./receipts/evidence.ts";
import { listTasks, getTask } from "./reading/get-task.ts";
import { getRouting } from "./reading/get-routing.ts";
import { streamEvents } from "./reading/stream-events.ts";
import { getReceipt, listReceipts } from "./receipts/receipt-archive.ts";

type TaskHandlers = Pick<
  Handlers,
  | "submitTask"
  | "getTask"
  | "getTaskEvents"
  | "getEvidence"
  | "getRouting"
  | "listTasks"
  | "cancelTask"
  | "eraseTaskTexts"
  | "claimTask"
  | "reportProgress"
  | "releaseClaim"
  | "postResult"
  | "listReceipts"
  | "getReceipt"
>;

export function taskHandlers(services: Services): TaskHandlers {
  return {
    submitTask: ({ params, body }, { caller, saveResponse, headers }) =>
      submitWithPayment(
        services,
        { targetId: params.agentId, body, caller, saveResponse },
        headers.get("payment-signature"),
      ),
    getTask: ({ params, query }, { caller, signal }) =>
      getTask(services, {
        ...params,
        waitSeconds: query.wait ?? 0,
        after: query.after,
        caller,
        signal,
      }),
    getTaskEvents: ({ params, query }, { caller, signal, headers }) =>
      streamEvents(services, {
        ...params,
        after: parseLastEventId(headers) ?? query.after ?? 0,
        caller,
        signal,
      }),
    getRouting: ({ params }, { caller }) => getRouting(services, { ...params, caller }),
    getEvidence: ({ params }, { caller }) => getEvidence(services, { ...params, caller }),
    listTasks: ({ params, query }) =>
      listTasks(services, {
        agentId: params.agentId,
        submitted: query.submitted_by === "me",
        status: query.status,
        limit: query.limit,
        cursor: query.cursor,
      }),
    listReceipts: ({ params, query }) => listReceipts(services, params.agentId, query),
    getReceipt: ({ params }) => getReceipt(services, params),
    cancelTask: ({ params }, { caller, saveResponse }) =>
      cancelTask(services, { ...params, caller, saveResponse }),
    eraseTaskTexts: ({ params }, { caller }) => eraseTaskTexts(services, { ...params, caller }),
    claimTask: ({ params }, { caller }) => claimAsExecutor(services, { ...params, caller }),
    reportProgress: ({ params, body }, { caller }) =>
      reportProgressAsExecutor(services, { ...params, note: body.note, caller }),
    releaseClaim: ({ params }, { caller }) => releaseAsExecutor(services, { ...params, caller }),
    postResult: ({ params, body }, { caller, text, saveResponse }) =>
      text === ""
        ? refuse("receipt.malformed", "body is empty")
        : acceptReceipt(services, { ...params, value: body, text, caller, saveResponse }),
  };
}
