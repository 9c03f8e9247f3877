import {
  createRecommender,
  delegate,
  type ProvenResult,
  type Recommender,
  type RelayClient,
} from "@agent/client";
import { uuidV7 } from "@agent/crypto";
import type {
  DelegateAnswer,
  DelegateRequest,
  DelegateTask,
} from "../../execution/delegation/delegation.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";
import { attenuateToken } from "./attenuate-token.ts";
import { findProviders } from "./find-providers.ts";

/**
 * Delegates a task to another agent through the relay, for a tool that calls `context.delegate`.
 */
export function createDelegateTask(parts: {
  identity: Identity;
  membership: () => Membership | undefined;
  timeoutMs: number;
  /** Counts each attempted delegation, and whether its work was completed. */
  count: (isCompleted: boolean) => void;
  runtime: Runtime;
}): DelegateTask {
  const { identity, runtime, timeoutMs, count } = parts;
  const { agentId: ownId, secretKey } = identity;
  const recommenders = new WeakMap<RelayClient, Recommender>();
  return async (request, { task, caller, signal }): Promise<DelegateAnswer> => {
    const client = parts.membership()?.client;
    if (client === undefined) return buildFailure("This agent is not connected to its relay");
    const target = await findTarget(client, request, identity.agentId);
    if (!target.ok) return target;
    const now = runtime.now();
    const tokenId = uuidV7(now, runtime.randomBytes(10));
    // After this time the answer is no longer awaited.
    const expiresAt = now + timeoutMs;
    const attenuated = attenuateToken(task.delegationToken, request, {
      identity,
      tokenId,
      until: expiresAt,
    });
    if (!attenuated.ok) return attenuated;

    const { capability, prompt } = request;
    const { maxBudget = target.maxPrice, token } = attenuated;
    const delegated = await delegate(client, {
      ...runtime,
      agentId: target.agentId,
      prompt,
      ...(capability !== undefined && { requiredCapabilities: [capability] }),
      ...(maxBudget !== undefined && { maxBudget }),
      ...(token !== undefined && { delegationToken: { ...token } }),
      // Other callers may name any id.
      ...(caller.kind === "relay" &&
        task.relayTaskId !== undefined && { parentTaskId: task.relayTaskId }),
      // The submitter of this task must not be chosen for a part of it.
      ...(task.submittedBy !== undefined && { excludeAgents: [task.submittedBy] }),
      timeoutMs,
      signal,
      // A submission whose answer is lost is sent again, and creates no second task.
      idempotencyKey: tokenId,
    });
    count(delegated.ok && delegated.receipt.status === "completed");
    if (delegated.ok) {
      const { receipt } = delegated;
      recommend(client, delegated);
      return receipt.status === "completed"
        ? { ok: true, data: receipt.result, receipt }
        : { ok: false, error: receipt.result, receipt };
    }
    if (delegated.taskId !== undefined)
      cancelDelegatedTask(client, target.agentId, delegated.taskId);
    return buildFailure(`${delegated.message} (${delegated.code})`);
  };

  /** Issues credentials about the other agent in the background, under this agent's key. */
  function recommend(client: RelayClient, done: ProvenResult): void {
    const known = recommenders.get(client);
    const recommender =
      known ?? createRecommender(client, { ...runtime, agentId: ownId, secretKey });
    recommenders.set(client, recommender);
    void recommender.recommend(done).then((answer) => {
      if (!answer.ok) runtime.log("warn", "credentials.not_given", { code: answer.code });
    });
  }

  /** Cancels an abandoned task to release its hold, unless an executor has begun it. */
  function cancelDelegatedTask(client: RelayClient, agentId: string, taskId: string): void {
    void client.cancelTask({ params: { agentId, taskId } }).then((answer) => {
      if (!answer.ok) runtime.log("debug", "delegation.not_cancelled", { code: answer.code });
    });
  }
}

/**
 * Finds the addressee of a task. For a capability the relay chooses the executor, so any agent that
 * offers it can be addressed.
 */
async function findTarget(
  client: RelayClient,
  { agent_id: agentId, capability }: DelegateRequest,
  ownId: string,
): Promise<{ ok: true; agentId: string; maxPrice?: number } | { ok: false; error: string }> {
  if ((agentId === undefined) === (capability === undefined)) {
    return buildFailure("A delegation must name either an agent_id or a capability");
  }
  if (agentId !== undefined) return { ok: true, agentId };
  const found = await findProviders(client, { capabilities: [capability ?? ""], ownId });
  if (!found.ok) return buildFailure(`${found.message} (${found.code})`);
  const { providers } = found;
  const [other] = providers;
  // The budget must allow the relay to choose any of the agents that were found.
  return {
    ok: true,
    agentId: other.agent_id,
    maxPrice: Math.max(...providers.map(({ cost }) => cost ?? 0)),
  };
}

function buildFailure(error: string): { ok: false; error: string } {
  return { ok: false, error };
}
