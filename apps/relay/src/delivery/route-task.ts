import { limits, type Task } from "@agent/wire";
import { findAgent, markUnreachable, updateLastSeen } from "../agents/store.ts";
import { forwardTask } from "../federation/outbound/forward-task.ts";
import { withStoredTrace } from "../observability/trace.ts";
import { operatorCaller } from "../identity/caller.ts";
import { hasRoomForTask } from "../inspections/acceptance/find-offer.ts";
import type { Connection } from "../realtime/connections.ts";
import type { Attempt } from "../routing/attempt.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { enqueueTaskAssigned } from "../webhooks/enqueue-task-webhooks.ts";
import { acceptReceipt } from "../tasks/receipts/accept-receipt.ts";
import { claimPending, reassignTask } from "../tasks/assignment/assignment-store.ts";
import { expireCall } from "../tasks/assignment/expire-lease.ts";
import { endClaim } from "../tasks/assignment/release-claim.ts";
import { findTask } from "../tasks/store.ts";
import {
  parseAttempts,
  parseRequiredCapabilities,
  endpointClaimRef,
  executorOf,
  isForwarded,
  isOpen,
} from "../tasks/task.ts";
import { toTask } from "../tasks/task-view.ts";
import type { EndpointBackoff } from "./endpoint-backoff.ts";
import { backoffEffect, type EndpointFault } from "./endpoint-fault.ts";
import { forwardOverMcp, type CallableAgent } from "./mcp-forward.ts";
import type { OpenCalls } from "./open-calls.ts";

export type RouteDependencies = Pick<
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
  | "remoteDevices"
  | "processes"
  | "egress"
  | "identity"
  | "federation"
>;

export type RouteServices = RouteDependencies & {
  readonly backoff: EndpointBackoff;
  readonly calls: OpenCalls;
  /** Aborted when the relay closes: failures after that do not count against an executor. */
  readonly closing: AbortSignal;
};

/** Added to the wall clock for an endpoint's lease: after that no answer can arrive. */
const LEASE_MARGIN_MS = 30_000;

/**
 * Routes a task to its executors in order, over their sockets, else over their endpoints; the first
 * that takes it ends this. When all have failed, the task waits for the executor that was chosen first
 * (specification, "Routing phases").
 */
export function routeTask(services: RouteServices, task: TaskRow): Promise<void> {
  return tryExecutors(services, task, async () => task);
}

/** Routes a task that may have been waiting for long. */
export async function routePending(services: RouteServices, taskId: string): Promise<void> {
  const task = await findPending(services, taskId);
  if (task !== undefined) await withStoredTrace(task.trace, () => routeTask(services, task));
}

/** Tries the next executor at once, because one refused the task. */
export async function reassignToNext(
  services: RouteServices,
  taskId: string,
  executorId: string,
): Promise<void> {
  const task = await findPending(services, taskId);
  // A local agent with the same id must not reassign a task of a remote agent.
  if (task === undefined || isForwarded(task) || executorOf(task) !== executorId) return;
  await withStoredTrace(task.trace, () =>
    tryExecutors(services, task, () => moveToNextExecutor(services, task)),
  );
}

/** Tries the next executor after one stopped responding, or the same one where there is no other. */
export async function reassignStalled(services: RouteServices, taskId: string): Promise<void> {
  const task = await findPending(services, taskId);
  if (task !== undefined)
    await withStoredTrace(task.trace, () => moveToNextExecutor(services, task));
  await routePending(services, taskId);
}

async function tryExecutors(
  services: RouteServices,
  task: TaskRow,
  begin: () => Promise<TaskRow | undefined>,
): Promise<void> {
  const { connections, closing } = services;
  const [originalAttempt] = parseAttempts(task);
  const devices = () => connections.forAgent(originalAttempt?.agent_id ?? task.agent_id);
  const before = new Set(devices());
  let current = await begin();
  while (current !== undefined) {
    if ((await dispatch(services, current)) || closing.aborted) return;
    current = await moveToNextExecutor(services, current);
  }
  // Devices that connected while others were tried have not been notified.
  const newDevices = devices().filter((device) => !before.has(device));
  const waiting = newDevices.length > 0 ? await findPending(services, task.task_id) : undefined;
  if (waiting !== undefined && !isBlocked(services, waiting)) {
    offerToDevices(services, newDevices, waiting);
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
 * Assigns a pending task to the next executor that can be reached, and returns the changed task;
 * undefined when all have been tried: then it waits for the first of them again, if that has room for it.
 */
async function moveToNextExecutor(
  services: RouteServices,
  task: TaskRow,
): Promise<TaskRow | undefined> {
  const { storage } = services;
  const attempts = parseAttempts(task);
  const attempt = await findNextReachable(services, task, attempts);
  const next = attempts[attempt ?? 0];
  if (next === undefined || (attempt === undefined && task.attempt === 0)) return undefined;
  const reassignment = {
    assigned_to: next.agent_id === task.agent_id ? null : next.agent_id,
    attempt: attempt ?? 0,
    via_peer: next.via?.relay_id ?? null,
    charge: next.charge,
  };
  const changed = await storage.transaction(async (tx) => {
    if (!(await hasRoomForTask(tx, task, next))) return false;
    const change = { task_id: task.task_id, from_attempt: task.attempt, ...reassignment };
    if (!(await reassignTask(tx, { ...change, now: services.runtime.now() }))) return false;
    await enqueueTaskAssigned(tx, services, { ...task, ...reassignment });
    return true;
  });
  if (changed) services.waiters.notify(task.task_id);
  return attempt === undefined ? undefined : findPending(services, task.task_id);
}

/**
 * Skips executors that are unreachable, or have as much open as they offer, without assigning them: while
 * they were assigned, the receipt of another would be refused.
 */
async function findNextReachable(
  services: RouteServices,
  task: TaskRow,
  attempts: readonly Attempt[],
): Promise<number | undefined> {
  for (const [at, attempt] of attempts.entries()) {
    const { agent_id: executor, via } = attempt;
    if (at <= task.attempt || services.trustGraph.isBlocked(task.submitted_by, executor)) continue;
    if (!(await hasRoomForTask(services.storage.read, task, attempt))) continue;
    if (via !== undefined && services.federation !== undefined) return at;
    const capabilities = parseRequiredCapabilities(task);
    const sockets = services.connections.forAgent(executor);
    if (sockets.some((socket) => services.connections.canServe(socket, capabilities))) return at;
    if (services.remoteDevices.canServe(executor, capabilities)) return at;
    if ((await findCallableAgent(services, executor)) !== undefined) return at;
  }
  return undefined;
}

/**
 * Sends a task to its executor's sockets, endpoint or relay; an executor that the payer blocked gets
 * none.
 */
async function dispatch(services: RouteServices, task: TaskRow): Promise<boolean> {
  if (isBlocked(services, task)) return false;
  const nextHop = parseAttempts(task)[task.attempt]?.via;
  const { federation } = services;
  if (nextHop !== undefined) {
    return federation !== undefined && forwardTask({ ...services, federation }, task, nextHop);
  }
  const devices = services.connections.forAgent(executorOf(task));
  const isOfferedHere = offerToDevices(services, devices, task);
  const isOffered = (await offerElsewhere(services, task)) || isOfferedHere;
  return isOffered || callEndpoint(services, task);
}

/**
 * Tells the processes that have devices of the executor to send it the task. If they end before they do,
 * `rerouteWaiting` routes it again.
 */
async function offerElsewhere(
  { storage, remoteDevices }: Pick<Services, "storage" | "remoteDevices">,
  task: TaskRow,
): Promise<boolean> {
  if (!remoteDevices.canServe(executorOf(task), parseRequiredCapabilities(task))) return false;
  await storage.transaction(async (tx) => tx.noteChange("offer", task.task_id));
  return true;
}

type OfferServices = Pick<Services, "storage" | "runtime" | "connections" | "trustGraph">;

/** A job or another process may have had it sent since it was assigned. */
const isUnsent = (device: Connection, { task_id, event_id = 0 }: Task) =>
  device.offered.get(task_id) !== event_id;

/** Sends a pending task to the devices here that were not sent it yet; true if one may do it. */
export function offerHere(services: OfferServices, taskId: string): Promise<boolean> {
  return offerTo(services, taskId, isUnsent);
}

/** Sends a pending task to the devices here that were never sent it, not even before a release. */
export async function offerToNewcomers(services: OfferServices, taskId: string): Promise<void> {
  await offerTo(services, taskId, (device) => device.offered.get(taskId) === undefined);
}

/** Sends a pending task to chosen devices of this process; true if one, chosen or not, may do it. */
async function offerTo(
  services: OfferServices,
  taskId: string,
  isChosen: (device: Connection, view: Task) => boolean,
): Promise<boolean> {
  const task = await findPending(services, taskId);
  if (task === undefined || isForwarded(task) || isBlocked(services, task)) return false;
  const view = toTask(task);
  const devices = services.connections.forAgent(executorOf(task));
  const able = devices.filter((device) =>
    services.connections.canServe(device, view.required_capabilities),
  );
  for (const device of able) if (isChosen(device, view)) device.offer(view);
  return able.length > 0;
}

function isBlocked({ trustGraph }: Pick<Services, "trustGraph">, task: TaskRow): boolean {
  return trustGraph.isBlocked(task.submitted_by, executorOf(task));
}

/** Sends a task once to the connected devices of its executor that can do it; the first claim wins. */
function offerToDevices(
  { connections }: Pick<Services, "connections">,
  devices: readonly Connection[],
  task: TaskRow,
): boolean {
  if (devices.length === 0) return false;
  const view = toTask(task);
  const able = devices.filter(
    (device) =>
      device.agentId === executorOf(task) &&
      connections.canServe(device, view.required_capabilities),
  );
  for (const device of able) if (isUnsent(device, view)) device.offer(view);
  return able.length > 0;
}

/** Returns the agent if it has an endpoint that may be tried now. */
async function findCallableAgent(
  { storage, backoff }: RouteServices,
  agentId: string,
): Promise<CallableAgent | undefined> {
  const agent = await findAgent(storage.read, agentId);
  if (agent === undefined || agent.registered === 0 || agent.revoked_at !== null) return undefined;
  const { endpoint_url: endpoint, public_key: publicKey } = agent;
  if (endpoint === null || publicKey === null || !backoff.mayTry(endpoint)) return undefined;
  return { agentId, endpoint, publicKey, wasUnreachable: agent.unreachable_at !== null };
}

/** Calls the executor's endpoint, with the task claimed for the time of the call. */
async function callEndpoint(services: RouteServices, task: TaskRow): Promise<boolean> {
  const { storage, runtime, backoff, log, calls, closing } = services;
  const { task_id } = task;
  const agent = await findCallableAgent(services, executorOf(task));
  if (agent === undefined) return false;
  const { agentId, endpoint } = agent;
  const now = runtime.now();
  // Each attempt claims under its own name, so that a late one never releases another's claim.
  const claim = { task_id, claimed_by: endpointClaimRef(newId(runtime)) };
  const lease_until = now + limits.forwardTimeoutMs + LEASE_MARGIN_MS;
  const claimed = await storage.transaction((tx) =>
    claimPending(tx, { ...claim, executor: agentId, now, lease_until }),
  );
  // Another executor has claimed the task meanwhile.
  if (!claimed) return true;

  const call = calls.begin(task_id);
  const stopped = AbortSignal.any([call.signal, closing]);
  const answer = await forwardOverMcp(services, task, agent, stopped).finally(call.end);
  // The submitter requested a cancel: until it takes effect the executor may still deliver over HTTP.
  if (!answer.ok && call.signal.aborted) return true;
  if (answer.ok) backoff.recordSuccess(endpoint);
  else if (!closing.aborted) recordFault(backoff, agent, answer.fault);
  const reason = answer.ok ? await acceptForwardedReceipt(services, task, answer) : answer.reason;
  if (reason === undefined) return true;
  log.warn("mcp.forward_failed", { correlationId: task_id, agent_id: agentId, reason });
  const isOver = !answer.ok && !closing.aborted && isWallClockOver(task, answer.fault);
  const status = await (isOver ? expireCall : endClaim)(services, claim);
  if (!answer.ok && !closing.aborted) await recordReachability(services, agent, answer.fault);
  return status === "cancelled";
}

/** The executor may still be working when the call ends at the relay's own limit. */
function isWallClockOver({ wall_clock_ms }: TaskRow, fault: EndpointFault): boolean {
  return fault.kind === "timeout" && wall_clock_ms !== null && fault.waitedMs >= wall_clock_ms;
}

function recordFault(
  backoff: EndpointBackoff,
  { agentId, endpoint }: CallableAgent,
  fault: EndpointFault,
): void {
  const after = backoffEffect(fault);
  if (after === "succeeded") backoff.recordSuccess(endpoint);
  if (after === "failed") backoff.recordFailure(endpoint, agentId);
}

/**
 * Takes an agent whose endpoint is no MCP server offline until its next sign of life, such as an answer. Its
 * slowness says nothing, because the submitter limits the time.
 */
async function recordReachability(
  { storage, runtime }: RouteServices,
  { agentId, endpoint, wasUnreachable }: CallableAgent,
  { kind }: EndpointFault,
): Promise<void> {
  const now = runtime.now();
  if (kind === "unreachable" && !wasUnreachable) {
    const call = { agent_id: agentId, endpoint_url: endpoint, now };
    await storage.transaction((tx) => markUnreachable(tx, call));
  }
  if (kind === "answered" && wasUnreachable) {
    await storage.transaction((tx) => updateLastSeen(tx, agentId, now));
  }
}

/** Processes a receipt from an MCP call like any other. */
async function acceptForwardedReceipt(
  services: RouteServices,
  task: TaskRow,
  { text, value }: { readonly text: string; readonly value: object },
): Promise<string | undefined> {
  const accepted = await acceptReceipt(services, {
    agentId: task.agent_id,
    taskId: task.task_id,
    value,
    text,
    // The relay submits it itself, so there is no agent's token, and no agent at fault for a bad
    // signature.
    caller: operatorCaller,
  });
  return accepted.ok === false ? accepted.code : undefined;
}
