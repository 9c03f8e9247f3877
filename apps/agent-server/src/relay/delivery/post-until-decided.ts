import { isOfRelay, type CallRefusal } from "@agent/client";
import type { Runtime } from "../../runtime.ts";
import { createFaultLog, type FaultLog } from "../fault-log.ts";
import { isFinalRefusal } from "../is-final-refusal.ts";
import { retryDelayMs } from "../retry-delay.ts";
import type { Pauses } from "./pauses.ts";
import type { SendReceiptResult } from "./receipt-sender.ts";

/** A document for the relay; `post` makes one attempt. */
export interface Document {
  readonly name: "ledger" | "receipt";
  readonly post: () => Promise<SendReceiptResult>;
  /** Asks the relay whether it can no longer accept the document; absent: that is not known. */
  readonly isTooLate?: () => Promise<boolean>;
  /** Called when the relay has accepted the document or refused it permanently. */
  readonly onDecided?: () => void;
}

/** The faults of deliveries, which share them because they fail together while the relay is away. */
export type DeliveryFaults = Readonly<Record<Document["name"], FaultLog>>;

export function createDeliveryFaults({ log }: Pick<Runtime, "log">): DeliveryFaults {
  return {
    receipt: createFaultLog(log, "warn", "receipt.retry"),
    // Ledgers also wait for their own pace.
    ledger: createFaultLog(log, "debug", "ledger.retry"),
  };
}

interface PostOptions {
  readonly taskId: string;
  readonly pauses: Pauses;
  readonly faults: DeliveryFaults;
  readonly isStopped: () => boolean;
  readonly runtime: Runtime;
}

const MAX_RETRY_DELAY_MS = 60_000;

/** From this attempt on, a minute or two after the first, an unexplained refusal is probably not temporary. */
const MIN_UNEXPLAINED_ATTEMPTS = 10;

/** The attempts for a ledger whose receipt is decided, which take about an hour. */
const MAX_LATE_ATTEMPTS = 60;

/**
 * Posts documents in order, again and again until the relay has accepted each or refused it permanently. A
 * document waits for one attempt at those before it, not for their acceptance. A ledger that is left alone is
 * given up after some time, because a relay may never accept it. A receipt that is refused without a known
 * reason is given up once its task has ended, because it cannot be paid then. Returns false if it was stopped
 * before.
 */
export async function postUntilDecided(
  documents: readonly Document[],
  { taskId, pauses, faults, isStopped, runtime }: PostOptions,
): Promise<boolean> {
  const undecided = new Set(documents);
  let lateAttempts = 0;
  for (let attempt = 0; !isStopped(); attempt++) {
    let refusal: CallRefusal | undefined;
    for (const document of undecided) {
      const answer = await document.post();
      logAnswer(answer, { name: document.name, taskId, faults, runtime });
      const isDecided =
        answer.ok ||
        isFinalRefusal(answer) ||
        (await isGivenUp(document, { answer, attempt, taskId, runtime }));
      if (isDecided) {
        undecided.delete(document);
        document.onDecided?.();
      } else if (!answer.ok) {
        refusal = answer;
      }
    }
    if (refusal === undefined) return true;
    const isLate = [...undecided].every(({ name }) => name === "ledger");
    if (isLate && ++lateAttempts > MAX_LATE_ATTEMPTS) {
      runtime.log("warn", "ledger.given_up", { correlationId: taskId, code: refusal.code });
      return true;
    }
    const delay = retryDelayMs(attempt, refusal, { runtime, capMs: MAX_RETRY_DELAY_MS });
    await pauses.wait(delay, { unreachable: !isOfRelay(refusal) });
  }
  return false;
}

/** Returns whether a document can no longer be accepted, although its refusal does not state this. */
async function isGivenUp(
  { name, isTooLate }: Document,
  on: { answer: CallRefusal; attempt: number; taskId: string; runtime: Pick<Runtime, "log"> },
): Promise<boolean> {
  const { answer, attempt, taskId, runtime } = on;
  if (isTooLate === undefined || attempt + 1 < MIN_UNEXPLAINED_ATTEMPTS) return false;
  if (!isUnexplained(answer) || !(await isTooLate())) return false;
  const { code, status, message } = answer;
  runtime.log("error", `${name}.given_up`, {
    correlationId: taskId,
    code,
    status,
    reason: message,
  });
  return true;
}

/** A code of a later version of the relay, an answer of a proxy, or a fault of the relay. */
function isUnexplained({ code, status }: CallRefusal): boolean {
  return status >= 400 && (!isOfRelay({ code }) || code === "server.failed");
}

function logAnswer(
  answer: SendReceiptResult,
  {
    name,
    taskId,
    faults,
    runtime,
  }: Pick<Document, "name"> & Pick<PostOptions, "taskId" | "faults" | "runtime">,
): void {
  const { status } = answer;
  const fields = { correlationId: taskId, status };
  if (answer.ok) return runtime.log("info", `${name}.delivered`, fields);
  const { code } = answer;
  if (isFinalRefusal(answer)) runtime.log("error", `${name}.refused`, { ...fields, code });
  else faults[name].note(answer, { correlationId: taskId });
}
