import type { CallRefusal } from "@agent/client";
import type { ExecutionReceipt } from "@agent/receipts";
import type { Runtime } from "../runtime.ts";
import { retryDelayMs } from "./backoff.ts";
import type { ReceiptPost } from "./post-receipt.ts";

export interface Outbox {
  /** Posts the receipt until the relay has it or refuses it for good. */
  readonly deliver: (receipt: ExecutionReceipt, targetAgentId: string) => void;
  /** Tries on for `graceMs` at most. */
  stop(graceMs: number): Promise<void>;
  readonly size: number;
}

const capMs = 60_000;

/** Receipts on their way to the relay, one line of tries per task. */
export function createOutbox(parts: { post: ReceiptPost["post"]; runtime: Runtime }): Outbox {
  const { post, runtime } = parts;
  const pending = new Map<string, Promise<void>>();
  const waiting = new Set<() => void>();
  let stopped = false;

  async function push(receipt: ExecutionReceipt, agentId: string): Promise<void> {
    const taskId = receipt.task_id;
    for (let attempt = 0; !stopped; attempt++) {
      const answer = await post(receipt, agentId);
      if (answer.ok) {
        const { status } = answer;
        runtime.log("info", "receipt.delivered", { correlationId: taskId, status });
        return;
      }
      const { code, status } = answer;
      if (isFinal(answer)) {
        runtime.log("error", "receipt.refused", { correlationId: taskId, code, status });
        return;
      }
      runtime.log("debug", "receipt.retry", { correlationId: taskId, code, status });
      await pause(retryDelayMs(attempt, answer, { runtime, capMs }));
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        waiting.delete(end);
        resolve();
      };
      const cancel = runtime.schedule(ms, end);
      waiting.add(end);
    });
  }

  return {
    deliver(receipt, targetAgentId) {
      const { task_id: taskId } = receipt;
      if (pending.has(taskId)) return;
      const done = push(receipt, targetAgentId)
        .catch((cause: unknown) => {
          runtime.log("error", "receipt.failed", { correlationId: taskId, cause: String(cause) });
        })
        .finally(() => pending.delete(taskId));
      pending.set(taskId, done);
    },
    async stop(graceMs) {
      const cancel = runtime.schedule(graceMs, () => {
        stopped = true;
        for (const end of waiting) end();
      });
      await Promise.allSettled(pending.values());
      cancel();
    },
    get size() {
      return pending.size;
    },
  };
}

/**
 * Whether trying again can change nothing. A relay that forgot this agent or its token gets another
 * chance: the agent registers again meanwhile.
 */
function isFinal({ code, status }: CallRefusal): boolean {
  if (code.startsWith("auth.")) return code === "auth.not_owner";
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
