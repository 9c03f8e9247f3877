import type { CallRefusal, RelayClient } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import { errors, type Code, type ServerMessage } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";
import type { SendMessage } from "./paced-send.ts";

export type SendReceiptResult = { readonly ok: true; readonly status: string } | CallRefusal;

export interface ReceiptSender {
  /** One try: over the socket where it is ready, because HTTP requests are limited per address. */
  readonly post: (
    receipt: ExecutionReceipt,
    targetAgentId: string | undefined,
  ) => Promise<SendReceiptResult>;
  /** Hands over what the relay says on the socket. */
  readonly onMessage: (message: ServerMessage) => void;
  /** What the socket did not answer before it was lost is asked over HTTP at once. */
  readonly onDown: () => void;
}

/** A relay that says nothing about a result by then is asked over HTTP. */
const SOCKET_ANSWER_TIMEOUT_MS = 15_000;

export function createReceiptSender(parts: {
  agentId: string;
  send: SendMessage;
  client: () => RelayClient | undefined;
  runtime: Runtime;
}): ReceiptSender {
  const { agentId: self, send, client, runtime } = parts;
  const pendingAnswers = new Map<string, (answer: SendReceiptResult | undefined) => void>();

  function sendOverSocket(receipt: ExecutionReceipt): Promise<SendReceiptResult | undefined> {
    const id = receipt.task_id;
    if (!send({ type: "result", task_id: id, receipt: { ...receipt } }).ok) {
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      const finish = (answer: SendReceiptResult | undefined) => {
        cancel();
        pendingAnswers.delete(id);
        resolve(answer);
      };
      const cancel = runtime.schedule(SOCKET_ANSWER_TIMEOUT_MS, () => finish(undefined));
      pendingAnswers.set(id, finish);
    });
  }

  async function sendOverHttp(
    receipt: ExecutionReceipt,
    targetAgentId: string | undefined,
  ): Promise<SendReceiptResult> {
    const params = { agentId: targetAgentId ?? self, taskId: receipt.task_id };
    const answer = await client()?.postResult({ params, body: receipt });
    if (answer === undefined) return notReachedRefusal;
    // It may be another agent's task that was routed here; the socket needs no path.
    if (!answer.ok && answer.status === 404 && targetAgentId === undefined)
      return unaddressedRefusal;
    return answer.ok ? { ok: true, status: answer.body.status } : answer;
  }

  return {
    post: async (receipt, agentId) =>
      (await sendOverSocket(receipt)) ?? (await sendOverHttp(receipt, agentId)),
    onDown() {
      for (const finish of pendingAnswers.values()) finish(undefined);
    },
    onMessage(message) {
      if (message.type === "result_accepted") {
        pendingAnswers.get(message.task_id)?.({ ok: true, status: message.status });
      } else if (message.type === "result_refused") {
        const { code, message: text } = message;
        pendingAnswers.get(message.task_id)?.({
          ok: false,
          code,
          status: getRefusalStatus(code),
          message: text,
        });
      }
    },
  };
}

/** What the same refusal would have been over HTTP; an unknown code is not taken for a final one. */
function getRefusalStatus(code: string): number {
  return Object.hasOwn(errors, code) ? errors[code as Code].status : 500;
}

const notReachedRefusal: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been reached yet",
};

const unaddressedRefusal: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "Only the socket finds the target of this task",
};
