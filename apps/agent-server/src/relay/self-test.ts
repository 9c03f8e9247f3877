import type { CallRefusal } from "@agent/client";
import { parseReceipt, verifyReceiptAsync } from "@agent/receipts";
import type { Operations, Result } from "@agent/wire";
import type { Work } from "../execution/work.ts";
import type { Identity } from "../identity.ts";
import type { Runtime } from "../runtime.ts";
import type { JoinResult, Membership } from "./join.ts";

export interface SelfTestParts {
  readonly identity: Identity;
  readonly work: Work;
  readonly joined: JoinResult;
  /** The one that the test asks for; absent: the agent chooses a tool by the prompt. */
  readonly capability?: string | undefined;
  readonly timeoutMs: number;
  readonly runtime: Runtime;
  /** Takes one line for each step. */
  readonly report: (line: string) => void;
}

/** 0: all six steps held. 1: one did not. 2: there is no relay to test with. */
export type SelfTestExit = 0 | 1 | 2;

interface Trial extends SelfTestParts {
  readonly client: Membership["client"];
  readonly deadline: number;
  taskId: string;
  finished?: Result<Operations["getTask"]>;
}

type Step = (trial: Trial) => Promise<{ readonly ok: boolean; readonly detail: string }>;

/** In this order; each step builds on what the ones before it left in the trial. */
const steps: readonly (readonly [string, Step])[] = [
  ["submit", submit],
  ["route", route],
  ["execute", execute],
  ["receipt", receipt],
  ["verify", verify],
  ["settle", settle],
];

const prompt = "Self-test: a task of this agent to itself.";
const lookMs = 100;
const pollSeconds = 10;

/** Submits a task to itself through the relay and follows it to its settlement. */
export async function selfTest(parts: SelfTestParts): Promise<SelfTestExit> {
  const { joined, report, runtime, timeoutMs } = parts;
  if (!joined.ok) {
    const reached = joined.status !== 0;
    report(`${reached ? "the relay refused this agent" : "relay unreachable"}: ${say(joined)}`);
    return reached ? 1 : 2;
  }
  const { client } = joined.membership;
  const trial: Trial = { ...parts, client, deadline: runtime.now() + timeoutMs, taskId: "" };
  for (const [name, step] of steps) {
    const { ok, detail } = await step(trial);
    report(`${ok ? "ok" : "failed"} ${name}: ${detail}`);
    if (!ok) return 1;
  }
  return 0;
}

async function submit(trial: Trial) {
  const { capability } = trial;
  const answer = await trial.client.submitTask({
    params: { agentId: trial.identity.agentId },
    body: { prompt, ...(capability !== undefined && { required_capabilities: [capability] }) },
  });
  if (!answer.ok) return failed(`${say(answer)}${hintFor(answer, trial.identity)}`);
  trial.taskId = answer.body.task_id;
  return passed(`task ${trial.taskId}, hold ${answer.body.amount_locked}`);
}

async function route({ runtime, work, taskId, deadline }: Trial) {
  while (runtime.now() < deadline) {
    if (work.find(taskId) !== undefined) return passed("the task arrived at this agent");
    await new Promise<void>((resolve) => void runtime.schedule(lookMs, resolve));
  }
  return failed("the task did not arrive at this agent");
}

async function execute({ work, taskId }: Trial) {
  const done = await work.find(taskId);
  if (done?.status !== "completed") return failed(`${done?.status}: ${done?.result}`);
  return passed(`ran ${done.tools_used.join(", ")}`);
}

async function receipt(trial: Trial) {
  const { client, identity, taskId, deadline, runtime } = trial;
  const request = {
    params: { agentId: identity.agentId, taskId },
    query: { wait: pollSeconds },
  };
  while (runtime.now() < deadline) {
    const answer = await client.getTask(request);
    if (!answer.ok) return failed(say(answer));
    if (answer.body.receipt !== null) {
      trial.finished = answer.body;
      return passed("the relay has the receipt");
    }
  }
  return failed("the relay has no receipt of this task");
}

async function verify({ finished, identity, taskId }: Trial) {
  const parsed = parseReceipt(finished?.receipt);
  if (!parsed.ok) return failed(parsed.code);
  const { publicKey } = identity;
  const verdict = await verifyReceiptAsync(parsed, { publicKey, taskId });
  return verdict.valid ? passed("signature and binding hold") : failed(verdict.code ?? "invalid");
}

async function settle({ client, identity, finished, taskId }: Trial) {
  const task = finished?.task;
  if (task?.status !== "completed") return failed(`the task is ${task?.status}`);
  if (task.amount_locked === 0) return passed("free work, nothing to pay");
  const { agentId } = identity;
  const answer = await client.listSettlements({ params: { agentId }, query: { limit: 200 } });
  if (!answer.ok) return failed(say(answer));
  const record = answer.body.settlements.find((one) => one.task_id === taskId);
  return record === undefined
    ? failed("the relay shows no settlement of this task")
    : passed(`${record.amount_settled} settled, fee ${record.fee}`);
}

function hintFor({ code }: CallRefusal, { agentId }: Identity): string {
  return code === "budget.insufficient"
    ? `; it pays for its own test: deposit its price to ${agentId}`
    : "";
}

function say({ code, message }: CallRefusal): string {
  return `${message} (${code})`;
}

function passed(detail: string) {
  return { ok: true, detail };
}

function failed(detail: string) {
  return { ok: false, detail };
}
