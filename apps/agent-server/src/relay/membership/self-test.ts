import { createRelayClient, type CallRefusal } from "@agent/client";
import { parseReceipt, verifyReceiptAsync } from "@agent/receipts";
import { getListedPrice, type Operations, type Result } from "@agent/wire";
import type { Config } from "../../config/config.ts";
import type { Work } from "../../execution/work.ts";
import type { Identity } from "../../identity/identity.ts";
import { sleep, type Runtime } from "../../runtime.ts";
import type { JoinResult, Membership } from "./join-relay.ts";

export interface SelfTestParts {
  readonly identity: Identity;
  readonly work: Work;
  readonly joined: JoinResult;
  /** The capability that the test requires; absent: the agent chooses a tool by the prompt. */
  readonly capability?: string | undefined;
  readonly timeoutMs: number;
  /** Present: the operator deposits what the account lacks for the test, so that it can be paid. */
  readonly payer?: SelfTestPayer | undefined;
  readonly runtime: Runtime;
  /** Receives one line for each step. */
  readonly report: (line: string) => void;
}

/** The operator of the relay, who pays for the test of an agent with a price. */
export interface SelfTestPayer {
  readonly relayUrl: string;
  readonly masterToken: string;
  /** The listed price of the test in US dollars. */
  readonly price: number;
}

/** 0: all steps passed. 1: a step failed. 2: there is no relay to test with. */
export type SelfTestExit = 0 | 1 | 2;

interface SelfTestRun extends SelfTestParts {
  readonly client: Membership["client"];
  readonly deadline: number;
  taskId: string;
  finished?: Result<Operations["getTask"]>;
}

interface StepResult {
  readonly ok: boolean;
  readonly detail: string;
}

type Step = (run: SelfTestRun) => Promise<StepResult>;

/** Steps run in this order, because each builds on the results of those before it. */
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

/** Decides what the configured agent tests, and who pays for it. */
export function planSelfTest({
  listing,
  taskTimeoutMs: timeoutMs,
  paidByOperator,
  relay,
}: Config): Pick<SelfTestParts, "capability" | "payer" | "timeoutMs"> {
  // Where prices differ, a prompt without a required capability must name its tool.
  const capability = listing?.capabilities[0];
  const masterToken = paidByOperator ? relay?.registrationToken : undefined;
  if (relay === undefined || masterToken === undefined) return { capability, timeoutMs };
  const required = capability === undefined ? [] : [capability];
  const price = listing === undefined ? 0 : (getListedPrice(listing, required) ?? 0);
  return { capability, timeoutMs, payer: { relayUrl: relay.url, masterToken, price } };
}

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
  const { payer } = parts;
  const fund: Step | undefined = payer && ((each) => depositPrice(each, payer));
  const steps = fund === undefined ? STEPS : [["fund", fund] as const, ...STEPS];
  for (const [name, step] of steps) {
    const { ok, detail } = await step(run);
    report(`${ok ? "ok" : "failed"} ${name}: ${detail}`);
    if (!ok) return 1;
  }
  return 0;
}

/** Deposits nothing if the account holds the price, so that a repeated test does not add money. */
async function depositPrice(run: SelfTestRun, payer: SelfTestPayer): Promise<StepResult> {
  const { client, identity, runtime } = run;
  const { relayUrl: baseUrl, masterToken, price: amount } = payer;
  const params = { agentId: identity.agentId };
  const account = await client.getBalance({ params });
  if (!account.ok) return failStep(formatRefusal(account));
  if (account.body.balance >= amount) return passStep(`the account holds ${amount} USD`);
  const operator = createRelayClient({ ...runtime, baseUrl, identity: { masterToken } });
  const reference = `self-test of ${identity.agentId} at ${runtime.now()}`;
  const answer = await operator.deposit({ params, body: { amount, reference } });
  if (!answer.ok) return failStep(formatRefusal(answer));
  return passStep(`the operator deposited ${amount} USD; all but the fee stays on the account`);
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
    await sleep(runtime, POLL_INTERVAL_MS);
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
    ? `; the agent pays for its own test: deposit the price to ${agentId}, or add --paid-by-operator`
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
