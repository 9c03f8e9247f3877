import { createReceipt } from "@agent/testkit";
import type { TaskRow } from "../../src/storage/tables/tasks.ts";
import type { InspectionRow } from "../../src/storage/tables/inspections.ts";
import { createLedger, storeLedger, type Outcome } from "../agents/ledgers.ts";
import { signDecision, signVerdict } from "../inspections.ts";
import type { Party } from "./facts.ts";
import { chooseFrom, type HistoryRelay } from "./history-relay.ts";
import type { HistoryStep } from "./history-step.ts";
import { getTaskPath, listTasks } from "./list-tasks.ts";

const IS_OPEN = "status in ('pending', 'claimed')";

const findExecutor = (relay: HistoryRelay, task: TaskRow) =>
  relay.findParty(task.assigned_to ?? task.agent_id);

/** Claims a task, reports progress or releases the claim. */
const claimTask: HistoryStep = async (relay, [which, kind]) => {
  const task = chooseFrom(await listTasks(relay, IS_OPEN), which);
  const agent = task && findExecutor(relay, task);
  if (task === undefined || agent === undefined) return;
  const path = getTaskPath(task);
  if (kind % 4 < 2) await relay.as(agent, "POST", `${path}/claim`);
  else if (kind % 4 === 2) await relay.as(agent, "POST", `${path}/progress`, { note: "working" });
  else await relay.as(agent, "DELETE", `${path}/claim`);
};

/** Creates the receipts of open tasks that the executor submitted itself. */
async function createNested(relay: HistoryRelay, executor: Party, status: "completed" | "failed") {
  const inner = await listTasks(relay, `${IS_OPEN} and submitted_by = '${executor.agentId}'`);
  return inner.slice(0, 2).flatMap((task) => {
    const by = findExecutor(relay, task);
    return by === undefined ? [] : [createReceipt(by, task, { status })];
  });
}

/** Delivers a receipt, sometimes with a ledger or nested receipts, under a former key, late or twice. */
const deliverResult: HistoryStep = async (relay, [which, result, work, kind]) => {
  const task = chooseFrom(await listTasks(relay, kind % 6 === 0 ? "1 = 1" : IS_OPEN), which);
  const agent = task && findExecutor(relay, task);
  if (task === undefined || agent === undefined) return;
  if (work % 4 === 0) {
    const outcomes = Array.from({ length: 1 + (work % 3) }, (_, step): Outcome => {
      return (work >> (step + 2)) % 2 === 0 ? "completed" : "failed";
    });
    await storeLedger(relay.t, agent, createLedger(agent, task.task_id, outcomes));
  }
  const statuses = ["completed", "completed", "completed", "failed", "denied"] as const;
  const innerStatus = kind % 2 === 0 ? "completed" : "failed";
  const nested = kind % 3 === 0 ? await createNested(relay, agent, innerStatus) : [];
  const signer = result % 9 === 8 ? (agent.former ?? agent) : agent;
  const receipt = createReceipt(signer, task, {
    status: chooseFrom(statuses, result)!,
    ...(nested.length > 0 && { delegation_receipts: nested }),
  });
  const deliver = () => relay.as(agent, "POST", `${getTaskPath(task)}/result`, receipt);
  await Promise.all(kind % 4 === 1 ? [deliver(), deliver()] : [deliver()]);
};

/** Cancels a task as its submitter or as the operator, sometimes after its end. */
const cancelTask: HistoryStep = async (relay, [which, by, state]) => {
  const task = chooseFrom(await listTasks(relay, state % 6 === 0 ? "1 = 1" : IS_OPEN), which);
  if (task === undefined) return;
  const path = `${getTaskPath(task)}/cancel`;
  const submitter = relay.findParty(task.submitted_by);
  if (submitter === undefined || by % 5 === 1) await relay.asOperator("POST", path);
  else await relay.as(submitter, "POST", path);
};

/** Gives a verdict or decides, sometimes after the end of the inspection. */
const actOnInspection: HistoryStep = async (relay, [which, act, share, state]) => {
  const row = chooseFrom(
    await relay.list<InspectionRow>(
      `select * from inspections ${state % 8 === 0 ? "" : "where closed_at is null"} order by task_id`,
    ),
    which,
  );
  const boss = relay.findParty(row?.submitter_id ?? null);
  const worker = relay.findParty(row?.executor_id ?? null);
  if (row === undefined || boss === undefined || worker === undefined) return;
  const arbiter = relay.findParty(row.arbiter_id);
  const path = getTaskPath(row);
  const task = { task_id: row.task_id, path, prompt: "", submitted_at: 0 };
  const given = { boss, worker, arbiter: arbiter ?? boss, task, receiptHash: row.receipt_hash };
  const say = (verdict: "accepted" | "rejected" | "conceded" | "contested") => {
    const offer = verdict === "rejected" && act % 2 === 0 ? { offer: (share % 1e6) / 1e6 } : {};
    const by = verdict === "accepted" || verdict === "rejected" ? boss : worker;
    return relay.as(by, "POST", `${path}/verdict`, signVerdict(relay.t, given, verdict, offer));
  };
  if (row.state === "inspecting") await say(act % 3 === 0 ? "accepted" : "rejected");
  else if (act % 5 === 0) await say("accepted");
  else if (act % 3 === 0) await say("conceded");
  else if (row.state === "rejected") await say("contested");
  else if (arbiter === undefined || act % 7 === 1) {
    const ruling = { share: (share % 1e6) / 1e6, reason: "The prompt names six rows." };
    await relay.asOperator("POST", `${path}/decision`, ruling);
  } else {
    const decision = signDecision(relay.t, given, (share % 1e6) / 1e6);
    await relay.as(arbiter, "POST", `${path}/decision`, decision);
  }
};

export const workSteps = {
  claimTask,
  deliverResult,
  cancelTask,
  actOnInspection,
} satisfies Record<string, HistoryStep>;
