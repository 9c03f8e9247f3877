import { limits } from "@agent/wire";
import { markUnreachable, updateLastSeen } from "../../agents/store.ts";
import { operatorCaller } from "../../identity/caller.ts";
import { getTaskPrice } from "../../routing/price.ts";
import { newId } from "../../runtime.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { claimPending } from "../../tasks/assignment/claim-store.ts";
import { expireCall } from "../../tasks/assignment/expire-lease.ts";
import { endClaim } from "../../tasks/assignment/end-claim.ts";
import { acceptReceipt } from "../../tasks/receipts/accept-receipt.ts";
import { endpointClaimRef, executorOf, parseRequiredCapabilities } from "../../tasks/task.ts";
import type { RouteServices } from "../route-services.ts";
import type { EndpointBackoff } from "./endpoint-backoff.ts";
import { backoffEffect, type EndpointFault } from "./endpoint-fault.ts";
import { findCallableAgent } from "./find-callable-agent.ts";
import { forwardOverMcp, type CallableAgent } from "./mcp-forward.ts";

/** Added to the wall clock for an endpoint's lease: after that no answer can arrive. */
const LEASE_MARGIN_MS = 30_000;

/**
 * Calls the executor's endpoint, with the task claimed for the duration of the call. An endpoint need not
 * read the price, so a task at price 0 that was submitted before the agent's listing asked one is not sent
 * to it.
 */
export async function callEndpoint(services: RouteServices, task: TaskRow): Promise<boolean> {
  const { storage, runtime, backoff, log, calls, closing } = services;
  const { task_id } = task;
  const agent = await findCallableAgent(services, executorOf(task));
  if (agent === undefined) return false;
  const { agentId, endpoint } = agent;
  if (task.charge === 0 && task.submitted_by !== null) {
    const price = await getTaskPrice(storage.read, agentId, parseRequiredCapabilities(task));
    if (price !== 0) return false;
  }
  const now = runtime.now();
  // Each attempt claims under its own name, so that a late one never releases another's claim.
  const claim = { task_id, claimed_by: endpointClaimRef(newId(runtime)) };
  const lease_until = now + limits.forwardTimeoutMs + LEASE_MARGIN_MS;
  const claimed = await storage.transaction((tx) =>
    claimPending(tx, { ...claim, executor: agentId, now, lease_until }),
  );
  // Another executor has claimed the task in the meantime.
  if (!claimed) return true;

  const call = calls.begin(task_id);
  const stopped = AbortSignal.any([call.signal, closing]);
  const answer = await forwardOverMcp(services, task, agent, stopped).finally(call.end);
  // The submitter requested a cancel: until it takes effect the executor may still deliver over HTTP.
  if (!answer.ok && call.signal.aborted) return true;
  if (answer.ok) backoff.recordSuccess(endpoint);
  const reason = answer.ok ? await acceptForwardedReceipt(services, task, answer) : answer.reason;
  if (reason === undefined) return true;
  log.warn("mcp.forward_failed", { correlationId: task_id, agent_id: agentId, reason });
  const isOver = !answer.ok && !closing.aborted && isWallClockOver(task, answer.fault);
  const status = await (isOver ? expireCall : endClaim)(services, claim);
  if (!answer.ok && !closing.aborted) {
    // The pause must not begin before the release, because at its end only tasks that wait are tried again.
    recordFault(backoff, agent, answer.fault);
    await recordReachability(services, agent, answer.fault);
  }
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
 * Marks an agent whose endpoint is not an MCP server as offline until it is seen again, for example by an
 * answer. A slow answer proves nothing, because the submitter limits the time.
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
    // The relay submits it itself, so there is no agent token, and no agent is at fault for an invalid
    // signature.
    caller: operatorCaller,
  });
  return accepted.ok === false ? accepted.code : undefined;
}
