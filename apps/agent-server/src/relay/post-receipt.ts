import type { CallRefusal, RelayClient } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import { errors, type Code, type ServerMessage } from "@agent/wire";
import type { Runtime } from "../runtime.ts";
import type { Send } from "./paced-send.ts";

export type Posted = { readonly ok: true; readonly status: string } | CallRefusal;

export interface ReceiptPost {
  /** One try: over the socket where it is ready, because HTTP requests are limited per address. */
  readonly post: (receipt: ExecutionReceipt, targetAgentId: string | undefined) => Promise<Posted>;
  /** Hands over what the relay says on the socket. */
  readonly onMessage: (message: ServerMessage) => void;
  /** What the socket did not answer before it was lost is asked over HTTP at once. */
  readonly onDown: () => void;
}

/** A relay that says nothing about a result by then is asked over HTTP. */
const socketAnswerMs = 15_000;

export function createReceiptPost(parts: {
  agentId: string;
  send: Send;
  client: () => RelayClient | undefined;
  runtime: Runtime;
}): ReceiptPost {
  const { agentId: self, send, client, runtime } = parts;
  const waiting = new Map<string, (answer: Posted | undefined) => void>();

  function overSocket(receipt: ExecutionReceipt): Promise<Posted | undefined> {
    const id = receipt.task_id;
    if (!send({ type: "result", task_id: id, receipt: { ...receipt } }).ok) {
      return Promise.resolve(undefined);
    }
    return new Promise((resolve) => {
      const settle = (answer: Posted | undefined) => {
        cancel();
        waiting.delete(id);
        resolve(answer);
      };
      const cancel = runtime.schedule(socketAnswerMs, () => settle(undefined));
      waiting.set(id, settle);
    });
  }

  async function overHttp(
    receipt: ExecutionReceipt,
    targetAgentId: string | undefined,
  ): Promise<Posted> {
    const params = { agentId: targetAgentId ?? self, taskId: receipt.task_id };
    const answer = await client()?.postResult({ params, body: receipt });
    if (answer === undefined) return notJoined;
    // It may be another agent's task that was routed here; the socket needs no path.
    if (!answer.ok && answer.status === 404 && targetAgentId === undefined) return unaddressed;
    return answer.ok ? { ok: true, status: answer.body.status } : answer;
  }

  return {
    post: async (receipt, agentId) =>
      (await overSocket(receipt)) ?? (await overHttp(receipt, agentId)),
    onDown() {
      for (const settle of waiting.values()) settle(undefined);
    },
    onMessage(message) {
      if (message.type === "result_accepted") {
        waiting.get(message.task_id)?.({ ok: true, status: message.status });
      } else if (message.type === "result_refused") {
        const { code, message: text } = message;
        waiting.get(message.task_id)?.({ ok: false, code, status: statusOf(code), message: text });
      }
    },
  };
}

/** What the same refusal would have been over HTTP; an unknown code is not taken for a final one. */
function statusOf(code: string): number {
  return Object.hasOwn(errors, code) ? errors[code as Code].status : 500;
}

const notJoined: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been reached yet",
};

const unaddressed: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "Only the socket finds the target of this task",
};
