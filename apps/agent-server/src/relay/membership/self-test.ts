import type { CallRefusal } from "@agent/client";
import { parseReceipt, verifyReceiptAsync } from "@agent/receipts";
import type { Operations, Result } from "@agent/wire";
import type { Work } from "../../execution/work.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { JoinResult, Membership } from "./join-relay.ts";

export interface SelfTestParts {
  readonly identity: Identity;
  readonly work: Work;
  readonly joined: JoinResult;
  /** The capability that the test requires; absent: the agent chooses a tool by the prompt. */
  readonly capability?: string | undefined;
  readonly timeoutMs: number;
  readonly runtime: Runtime;
  /** Receives one line for each step. */
  readonly report: (line: string) => void;
}

/** 0: all six STEPS passed. 1: a step failed. 2: there is no relay to test with. */
export type SelfTestExit = 0 | 1 | 2;

interface SelfTestRun extends SelfTestParts {
  readonly client: Membership["client"];
  readonly deadline: number;
  taskId: string;
  finished?: Result<Operations["getTask"]>;
}

type Step = (run: SelfTestRun) => Promise<{ readonly ok: boolean; readonly detail: string }>;

/** Steps run in this order, because each builds on the results of the STEPS before it. */
const STEPS: readonly (readonly [string, Step])[] = [
  ["submit", submitTask],
  ["route", waitForArrival],
  ["execute", waitForExecution],
  ["receipt", waitForReceipt],
  ["verify", verifyTaskReceipt],
  ["settle", checkSettlement],
];

const PROMPT = "Self-test: a task of this agent to itself.";
const POLL_INTERVAL_MS = 100;
const LONG_POLL_SECONDS = 10;

/** Submits a task to this agent through the relay and follows it to its settlement. */
export async function selfTest(parts: SelfTestParts): Promise<SelfTestExit> {
  const { joined, report, runtime, timeoutMs } = parts;
  if (!joined.ok) {
    const reached = joined.status !== 0;
    report(
      `${reached ? "the relay refused this agent" : "relay unreachable"}: ${formatRefusal(joined)}`,
    );
    return reached ? 1 : 2;
  }
  const { client } = joined.membership;
  const run: SelfTestRun = { ...parts, client, deadline: runtime.now() + timeoutMs, taskId: "" };
  for (const [name, step] of STEPS) {
    const { ok, detail } = await step(run);
    report(`${ok ? "ok" : "failed"} ${name}: ${detail}`);
    if (!ok) return 1;
  }
  return 0;
}

async function submitTask(run: SelfTestRun) {
  const { capability } = run;
  const answer = await run.client.submitTask({
    params: { agentId: run.identity.agentId },
    body: {
      prompt: PROMPT,
      ...(capability !== undefined && { required_capabilities: [capability] }),
    },
  });
  if (!answer.ok) return failStep(`${formatRefusal(answer)}${formatHint(answer, run.identity)}`);
  run.taskId = answer.body.task_id;
  return passStep(`task ${run.taskId}, hold ${answer.body.amount_locked}`);
}

async function waitForArrival({ runtime, work, taskId, deadline }: SelfTestRun) {
  while (runtime.now() < deadline) {
    if (work.find(taskId) !== undefined) return passStep("the task arrived at this agent");
    await new Promise<void>((resolve) => void runtime.schedule(POLL_INTERVAL_MS, resolve));
  }
  return failStep("the task did not arrive at this agent");
}

async function waitForExecution({ work, taskId }: SelfTestRun) {
  const done = await work.find(taskId);
  if (done?.status !== "completed") return failStep(`${done?.status}: ${done?.result}`);
  return passStep(`ran ${done.tools_used.join(", ")}`);
}

async function waitForReceipt(run: SelfTestRun) {
  const { client, identity, taskId, deadline, runtime } = run;
  const request = {
    params: { agentId: identity.agentId, taskId },
    query: { wait: LONG_POLL_SECONDS },
  };
  while (runtime.now() < deadline) {
    const answer = await client.getTask(request);
    if (!answer.ok) return failStep(formatRefusal(answer));
    if (answer.body.receipt !== null) {
      run.finished = answer.body;
      return passStep("the relay has the receipt");
    }
  }
  return failStep("the relay has no receipt of this task");
}

async function verifyTaskReceipt({ finished, identity, taskId }: SelfTestRun) {
  const parsed = parseReceipt(finished?.receipt);
  if (!parsed.ok) return failStep(parsed.code);
  const { publicKey } = identity;
  const verdict = await verifyReceiptAsync(parsed, { publicKey, taskId });
  return verdict.valid
    ? passStep("signature and binding are valid")
    : failStep(verdict.code ?? "invalid");
}

async function checkSettlement({ client, identity, finished, taskId }: SelfTestRun) {
  const task = finished?.task;
  if (task?.status !== "completed") return failStep(`the task is ${task?.status}`);
  if (task.amount_locked === 0) return passStep("free work, nothing to pay");
  const { agentId } = identity;
  const answer = await client.listSettlements({ params: { agentId }, query: { limit: 200 } });
  if (!answer.ok) return failStep(formatRefusal(answer));
  const record = answer.body.settlements.find((one) => one.task_id === taskId);
  return record === undefined
    ? failStep("the relay shows no settlement of this task")
    : passStep(`${record.amount_settled} settled, fee ${record.fee}`);
}

function formatHint({ code }: CallRefusal, { agentId }: Identity): string {
  return code === "budget.insufficient"
    ? `; the agent pays for its own test: deposit the price to ${agentId}`
    : "";
}

function formatRefusal({ code, message }: CallRefusal): string {
  return `${message} (${code})`;
}

function passStep(detail: string) {
  return { ok: true, detail };
}

function failStep(detail: string) {
  return { ok: false, detail };
}
