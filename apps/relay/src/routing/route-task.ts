import { limits } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { canServe } from "../realtime/connections.ts";
import type { Services } from "../services.ts";
import type { AgentRow, TaskRow } from "../storage/tables.ts";
import { acceptReceipt, type AcceptServices } from "../tasks/accept-receipt.ts";
import { claimPending, findTask, reassignTask, releaseClaim } from "../tasks/store.ts";
import { attemptsOf, executorOf, isOpen, taskOf, type Attempt } from "../tasks/view.ts";
import type { EndpointBackoff } from "./endpoint-backoff.ts";
import { forwardOverMcp } from "./mcp-forward.ts";

export type RouteServices = AcceptServices &
  Pick<Services, "connections" | "egress" | "identity"> & { readonly backoff: EndpointBackoff };

/** The worker that a claim names while the relay itself waits for an endpoint. */
const endpointWorker = "endpoint";

/**
 * Brings a task to somebody who will do it: each executor in turn, over its sockets, else over its
 * endpoint; the first that takes it ends this. When all have failed, the task waits for the executor
 * that was chosen first (specification, "Routing phases").
 */
export async function routeTask(services: RouteServices, taskId: string): Promise<void> {
  const { storage, runtime } = services;
  let task = await findTask(storage.read, taskId);
  while (task?.status === "pending" && isOpen(task, runtime.now())) {
    if (offer(services, task) || (await forward(services, task))) return;
    task = await advance(services, task);
  }
}

/** An executor will not do a task: the next one is tried at once. */
export async function passOn(
  services: RouteServices,
  taskId: string,
  executorId: string,
): Promise<void> {
  const task = await findTask(services.storage.read, taskId);
  if (task === undefined || executorOf(task) !== executorId) return;
  if (!isOpen(task, services.runtime.now())) return;
  if ((await advance(services, task)) !== undefined) await routeTask(services, taskId);
}

/**
 * Hands a task to the next executor that can be reached, and answers it as it is then; undefined when
 * all have had their turn: then it waits for the first of them again.
 */
export async function advance(
  services: RouteServices,
  task: TaskRow,
): Promise<TaskRow | undefined> {
  const { storage } = services;
  const attempts = attemptsOf(task);
  const attempt = await nextReachable(services, task, attempts);
  const waits = attempt === undefined;
  const next = attempts[attempt ?? 0];
  if (next === undefined || (waits && task.attempt === 0 && task.status === "pending")) {
    return undefined;
  }
  await storage.transaction((tx) =>
    reassignTask(tx, {
      task_id: task.task_id,
      from_attempt: task.attempt,
      attempt: attempt ?? 0,
      assigned_to: next.agent_id === task.agent_id ? null : next.agent_id,
      charge: next.charge,
    }),
  );
  return waits ? undefined : findTask(storage.read, task.task_id);
}

/** Nobody is given a task in passing: meanwhile the receipt of the one who has it would be refused. */
async function nextReachable(
  services: RouteServices,
  task: TaskRow,
  attempts: readonly Attempt[],
): Promise<number | undefined> {
  const { required_capabilities } = taskOf(task);
  for (let at = task.attempt + 1; at < attempts.length; at += 1) {
    const executor = attempts[at]?.agent_id ?? "";
    const sockets = services.connections.of(executor);
    if (sockets.some((connection) => canServe(connection, required_capabilities))) return at;
    if ((await callable(services, executor)) !== undefined) return at;
  }
  return undefined;
}

/** The agent, if it has an endpoint that may be tried now. */
async function callable(
  { storage, runtime, backoff }: RouteServices,
  agentId: string,
): Promise<(AgentRow & { readonly endpoint_url: string }) | undefined> {
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.registered === 0) return undefined;
  const { endpoint_url } = agent;
  if (endpoint_url === null || !backoff.mayTry(endpoint_url, runtime.now())) return undefined;
  return { ...agent, endpoint_url };
}

/** Writes a task to the live sockets of its executor; the first to claim it has it. */
function offer({ connections }: Pick<Services, "connections">, task: TaskRow): boolean {
  const view = taskOf(task);
  const able = connections
    .of(executorOf(task))
    .filter((connection) => canServe(connection, view.required_capabilities));
  for (const connection of able) {
    connection.offered.add(task.task_id);
    connection.send({ type: "task_assigned", task: view, expires_at: task.expires_at });
  }
  return able.length > 0;
}

/** Lets the executor's endpoint do the task; while it does, nobody else can claim it. */
async function forward(services: RouteServices, task: TaskRow): Promise<boolean> {
  const { storage, runtime, backoff, log } = services;
  const { task_id } = task;
  const executor = executorOf(task);
  const agent = await callable(services, executor);
  if (agent === undefined) return false;
  const { endpoint_url: endpoint } = agent;
  const now = runtime.now();
  const claim = { task_id, executor, claimed_by: endpointWorker, now };
  const claimed = await storage.transaction((tx) =>
    claimPending(tx, { ...claim, lease_until: now + limits.forwardTimeoutMs }),
  );
  // Somebody was faster, so the task is in good hands.
  if (claimed === undefined) return true;

  const answer = await forwardOverMcp(services, task, agent);
  const refusal = answer.ok
    ? await deliver(services, task, executor, answer)
    : { reason: answer.reason };
  if (refusal === undefined) {
    backoff.succeeded(endpoint);
    return true;
  }
  log.warn("mcp.forward_failed", { correlationId: task_id, agent_id: executor, ...refusal });
  if (!answer.ok) backoff.failed(endpoint, runtime.now());
  await storage.transaction((tx) => releaseClaim(tx, { task_id, claimed_by: endpointWorker }));
  return false;
}

/** A receipt that came back over MCP goes the way of every other one. */
async function deliver(
  services: AcceptServices,
  task: TaskRow,
  executor: string,
  answer: { readonly text: string; readonly value: object },
): Promise<{ reason: string } | undefined> {
  const accepted = await acceptReceipt(services, {
    agentId: task.agent_id,
    taskId: task.task_id,
    value: answer.value,
    text: answer.text,
    caller: {
      kind: "agent",
      agentId: executor,
      deviceId: endpointWorker,
      scopes: new Set(["task:result"]),
      expiresAt: task.expires_at,
    },
  });
  return "ok" in accepted ? { reason: accepted.code } : undefined;
}
