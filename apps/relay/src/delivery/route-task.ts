import { limits } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { forwardTask } from "../federation/forward-task.ts";
import { withStoredTrace } from "../http/trace.ts";
import { master } from "../identity/caller.ts";
import type { Connection } from "../realtime/connections.ts";
import type { Attempt } from "../routing/attempt.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { tellOfAssignment } from "../webhooks/tell-of-task.ts";
import { acceptReceipt } from "../tasks/accept-receipt.ts";
import { claimPending, reassignTask } from "../tasks/assignment-store.ts";
import { lapseCall } from "../tasks/lapse-claim.ts";
import { endClaim } from "../tasks/release-claim.ts";
import { findTask } from "../tasks/store.ts";
import { attemptsOf, endpointClaim, executorOf, isOpen, taskOf } from "../tasks/view.ts";
import type { EndpointBackoff } from "./endpoint-backoff.ts";
import { backoffAfter, type EndpointFault } from "./endpoint-fault.ts";
import { forwardOverMcp, type CallableAgent } from "./mcp-forward.ts";
import type { OpenCalls } from "./open-calls.ts";

export type RouteParts = Pick<
  Services,
  | "storage"
  | "freezer"
  | "runtime"
  | "clock"
  | "config"
  | "log"
  | "waiters"
  | "subscriptions"
  | "trustGraph"
  | "connections"
  | "egress"
  | "identity"
  | "federation"
>;

export type RouteServices = RouteParts & {
  readonly backoff: EndpointBackoff;
  readonly calls: OpenCalls;
  /** Fires when the relay closes: what fails then says nothing about an executor. */
  readonly closing: AbortSignal;
};

/** The relay's own part of an endpoint's lease: by then its answer has come or never will. */
const leaseMarginMs = 30_000;

/**
 * Brings a task to somebody who will do it: each executor in turn, over its sockets, else over its
 * endpoint; the first that takes it ends this. When all have failed, the task waits for the executor
 * that was chosen first (specification, "Routing phases").
 */
export function routeTask(services: RouteServices, task: TaskRow): Promise<void> {
  return tryInTurn(services, task, async () => task);
}

/** The same for a task that may have been waiting for long. */
export async function routeWaiting(services: RouteServices, taskId: string): Promise<void> {
  const task = await findPending(services, taskId);
  if (task !== undefined) await withStoredTrace(task.trace, () => routeTask(services, task));
}

/** An executor will not do a task: the next one is tried at once. */
export async function passOn(
  services: RouteServices,
  taskId: string,
  executorId: string,
): Promise<void> {
  const task = await findPending(services, taskId);
  if (task === undefined || executorOf(task) !== executorId) return;
  await withStoredTrace(task.trace, () => tryInTurn(services, task, () => advance(services, task)));
}

/** An executor has gone silent: the next one is tried, and where there is none, it itself again. */
export async function takeBack(services: RouteServices, taskId: string): Promise<void> {
  const task = await findPending(services, taskId);
  if (task !== undefined) await withStoredTrace(task.trace, () => advance(services, task));
  await routeWaiting(services, taskId);
}

async function tryInTurn(
  services: RouteServices,
  task: TaskRow,
  begin: () => Promise<TaskRow | undefined>,
): Promise<void> {
  const { connections, closing } = services;
  const [home] = attemptsOf(task);
  const devices = () => connections.of(home?.agent_id ?? task.agent_id);
  const before = new Set(devices());
  let current = await begin();
  while (current !== undefined) {
    if ((await handOver(services, current)) || closing.aborted) return;
    current = await advance(services, current);
  }
  // Who has come while others were tried has not been told.
  const newcomers = devices().filter((device) => !before.has(device));
  const waiting = newcomers.length > 0 ? await findPending(services, task.task_id) : undefined;
  if (waiting !== undefined && !isBlocked(services, waiting)) {
    offer(services, newcomers, waiting);
  }
}

async function findPending(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  taskId: string,
): Promise<TaskRow | undefined> {
  const task = await findTask(storage.read, taskId);
  return task?.status === "pending" && isOpen(task, runtime.now()) ? task : undefined;
}

/**
 * Hands a pending task to the next executor that can be reached, and answers it as it is then;
 * undefined when all have had their turn: then it waits for the first of them again.
 */
async function advance(services: RouteServices, task: TaskRow): Promise<TaskRow | undefined> {
  const { storage } = services;
  const attempts = attemptsOf(task);
  const attempt = await nextReachable(services, task, attempts);
  const next = attempts[attempt ?? 0];
  if (next === undefined || (attempt === undefined && task.attempt === 0)) return undefined;
  const handedOn = {
    assigned_to: next.agent_id === task.agent_id ? null : next.agent_id,
    attempt: attempt ?? 0,
    charge: next.charge,
  };
  const changed = await storage.transaction(async (tx) => {
    const change = { task_id: task.task_id, from_attempt: task.attempt, ...handedOn };
    if (!(await reassignTask(tx, { ...change, now: services.runtime.now() }))) return false;
    await tellOfAssignment(tx, services, { ...task, ...handedOn });
    return true;
  });
  if (changed) services.waiters.changed(task.task_id);
  return attempt === undefined ? undefined : findPending(services, task.task_id);
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
    if (services.trustGraph.isBlocked(task.submitted_by, executor)) continue;
    if (attempts[at]?.via !== undefined && services.federation !== undefined) return at;
    const sockets = services.connections.of(executor);
    if (sockets.some((socket) => services.connections.canServe(socket, required_capabilities)))
      return at;
    if ((await callable(services, executor)) !== undefined) return at;
  }
  return undefined;
}

/** Over the sockets of its executor, its endpoint or its relay; whom the payer blocked gets none. */
async function handOver(services: RouteServices, task: TaskRow): Promise<boolean> {
  if (isBlocked(services, task)) return false;
  const via = attemptsOf(task)[task.attempt]?.via;
  const { federation } = services;
  if (via !== undefined) {
    return federation !== undefined && forwardTask({ ...services, federation }, task, via);
  }
  const devices = services.connections.of(executorOf(task));
  return offer(services, devices, task) || (await forward(services, task));
}

function isBlocked({ trustGraph }: Pick<Services, "trustGraph">, task: TaskRow): boolean {
  return trustGraph.isBlocked(task.submitted_by, executorOf(task));
}

/** Writes a task to those live sockets of its executor that can do it; the first to claim it has it. */
function offer(
  { connections }: Pick<Services, "connections">,
  devices: readonly Connection[],
  task: TaskRow,
): boolean {
  const view = taskOf(task);
  const able = devices.filter(
    (device) =>
      device.agentId === executorOf(task) &&
      connections.canServe(device, view.required_capabilities),
  );
  for (const device of able) device.offer(view);
  return able.length > 0;
}

/** The agent, if it has an endpoint that may be tried now. */
async function callable(
  { storage, backoff }: RouteServices,
  agentId: string,
): Promise<CallableAgent | undefined> {
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.registered === 0 || agent.revoked_at !== null) return undefined;
  const { endpoint_url: endpoint, public_key: publicKey } = agent;
  if (endpoint === null || publicKey === null || !backoff.mayTry(endpoint)) return undefined;
  return { agentId, endpoint, publicKey };
}

/** Lets the executor's endpoint do the task; while it does, nobody else can claim it. */
async function forward(services: RouteServices, task: TaskRow): Promise<boolean> {
  const { storage, runtime, backoff, log, calls, closing } = services;
  const { task_id } = task;
  const agent = await callable(services, executorOf(task));
  if (agent === undefined) return false;
  const { agentId, endpoint } = agent;
  const now = runtime.now();
  // Each try claims under a name of its own, so that a late one never releases another's claim.
  const claim = { task_id, claimed_by: endpointClaim(newId(runtime)) };
  const lease_until = now + limits.forwardTimeoutMs + leaseMarginMs;
  const claimed = await storage.transaction((tx) =>
    claimPending(tx, { ...claim, executor: agentId, now, lease_until }),
  );
  // Somebody was faster, so the task is in good hands.
  if (!claimed) return true;

  const call = calls.begin(task_id);
  const stopped = AbortSignal.any([call.signal, closing]);
  const answer = await forwardOverMcp(services, task, agent, stopped).finally(call.end);
  // Its submitter asked for the cancel: the executor may still deliver over HTTP until it takes effect.
  if (!answer.ok && call.signal.aborted) return true;
  if (answer.ok) backoff.succeeded(endpoint);
  else if (!closing.aborted) noteFault(backoff, agent, answer.fault);
  const reason = answer.ok ? await deliver(services, task, answer) : answer.reason;
  if (reason === undefined) return true;
  log.warn("mcp.forward_failed", { correlationId: task_id, agent_id: agentId, reason });
  const isOver = !answer.ok && !closing.aborted && isWallClockOver(task, answer.fault);
  const status = await (isOver ? lapseCall : endClaim)(services, claim);
  return status === "cancelled";
}

/** Where the relay itself hangs up, at its own limit, the executor may still have been at work. */
function isWallClockOver({ wall_clock_ms }: TaskRow, fault: EndpointFault): boolean {
  return fault.kind === "timeout" && wall_clock_ms !== null && fault.waitedMs >= wall_clock_ms;
}

function noteFault(
  backoff: EndpointBackoff,
  { agentId, endpoint }: CallableAgent,
  fault: EndpointFault,
): void {
  const after = backoffAfter(fault);
  if (after === "succeeded") backoff.succeeded(endpoint);
  if (after === "failed") backoff.failed(endpoint, agentId);
}

/** A receipt that came back over MCP goes the way of every other one. */
async function deliver(
  services: RouteServices,
  task: TaskRow,
  { text, value }: { readonly text: string; readonly value: object },
): Promise<string | undefined> {
  const accepted = await acceptReceipt(services, {
    agentId: task.agent_id,
    taskId: task.task_id,
    value,
    text,
    // The relay brings it itself: nobody's token vouches for it, and nobody is blamed for it.
    caller: master,
  });
  return "ok" in accepted ? accepted.code : undefined;
}
