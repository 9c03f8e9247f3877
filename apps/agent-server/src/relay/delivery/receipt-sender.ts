import type { CallRefusal, RelayClient } from "@agent/client";
import type { SignedLedger } from "@agent/ledger";
import type { ExecutionReceipt } from "@agent/receipts";
import { errors, limits, type Code, type ServerMessage } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";
import { hasTaskEnded } from "./has-task-ended.ts";
import { createPace } from "./pace.ts";
import type { SendMessage } from "./paced-send.ts";

export type SendReceiptResult = { readonly ok: true; readonly status: string } | CallRefusal;

export interface ReceiptSender {
  /**
   * Makes one attempt, over the socket if it is ready, because HTTP requests are limited per
   * address.
   */
  readonly post: (
    receipt: ExecutionReceipt,
    targetAgentId: string | undefined,
  ) => Promise<SendReceiptResult>;
  /** Asks the relay whether the task of a receipt has ended, so that the receipt cannot be accepted any more. */
  readonly isTooLate: (
    receipt: ExecutionReceipt,
    targetAgentId: string | undefined,
  ) => Promise<boolean>;
  /**
   * Makes one attempt over HTTP, unless too many ledgers were posted just now. It ends well before `dueAt`, if
   * that lies ahead, because the receipt that is due then comes after it, and when `signal` is aborted.
   */
  readonly postLedger: (
    ledger: SignedLedger,
    limits: { readonly dueAt?: number | undefined; readonly signal: AbortSignal },
  ) => Promise<SendReceiptResult>;
  /** Receives the relay's messages on the socket. */
  readonly onMessage: (message: ServerMessage) => void;
  /** Sends the receipts that the lost socket did not answer over HTTP at once. */
  readonly onDown: () => void;
}

/** After this time without an answer on the socket the receipt is sent over HTTP. */
const SOCKET_ANSWER_TIMEOUT_MS = 15_000;

/** A receipt, which is worth money, waits for the answer to its ledger. */
const LEDGER_TIMEOUT_MS = 5_000;

/** Returns how long a ledger may be waited for: at most half of the time that is left for its receipt. */
function calculateLedgerTimeout(dueAt: number | undefined, now: number): number {
  const left = (dueAt ?? now) - now;
  return left > 0 ? Math.min(LEDGER_TIMEOUT_MS, left / 2) : LEDGER_TIMEOUT_MS;
}

/** All writes from one address share the relay's limit, and ledgers are the least urgent. */
const LEDGER_PACE = { limit: limits.tiers.write / 3, windowMs: limits.rateWindowMs };

export function createReceiptSender(parts: {
  agentId: string;
  send: SendMessage;
  client: () => RelayClient | undefined;
  runtime: Runtime;
}): ReceiptSender {
  const { agentId: self, send, client, runtime } = parts;
  const ledgerPace = createPace(LEDGER_PACE, runtime);
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
    if (answer === undefined) return NOT_REACHED_REFUSAL;
    // The task may have been submitted to another agent; only the socket works without that agent's
    // path.
    if (!answer.ok && answer.status === 404 && targetAgentId === undefined)
      return UNADDRESSED_REFUSAL;
    return answer.ok ? { ok: true, status: answer.body.status } : answer;
  }

  return {
    post: async (receipt, agentId) =>
      (await sendOverSocket(receipt)) ?? (await sendOverHttp(receipt, agentId)),
    async isTooLate({ task_id: taskId }, targetAgentId) {
      const relay = client();
      return relay !== undefined && hasTaskEnded(relay, { agentId: self, targetAgentId, taskId });
    },
    async postLedger(ledger, { dueAt, signal }) {
      const relay = client();
      if (relay === undefined) return NOT_REACHED_REFUSAL;
      if (!ledgerPace.isFree()) return PACED_REFUSAL;
      ledgerPace.count();
      const request = { params: { agentId: self }, body: ledger };
      const timeoutMs = calculateLedgerTimeout(dueAt, runtime.now());
      const answer = await relay.storeLedger(request, { timeoutMs, signal });
      return answer.ok ? { ok: true, status: "stored" } : answer;
    },
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

/** Returns the status of the same refusal over HTTP; an unknown code is not final. */
function getRefusalStatus(code: string): number {
  return Object.hasOwn(errors, code) ? errors[code as Code].status : 500;
}

const NOT_REACHED_REFUSAL: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been reached yet",
};

const PACED_REFUSAL: CallRefusal = {
  ok: false,
  code: "rate.exceeded",
  status: 429,
  message: "Other ledgers were posted just now",
  retryAfterSeconds: LEDGER_PACE.windowMs / 1_000,
};

const UNADDRESSED_REFUSAL: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The target of this task is known only to the socket",
};
