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

/** Hires another agent through the relay, for a tool that calls `context.delegate`. */
export function createDelegateTask(parts: {
  identity: Identity;
  membership: () => Membership | undefined;
  timeoutMs: number;
  /** Told of each delegation that was tried whether the work was completed. */
  count: (isGood: boolean) => void;
  runtime: Runtime;
}): DelegateTask {
  const { identity, runtime, timeoutMs, count } = parts;
  const { agentId: ownId, secretKey } = identity;
  const recommenders = new WeakMap<RelayClient, Recommender>();
  return async (request, { task, signal }): Promise<DelegateAnswer> => {
    const client = parts.membership()?.client;
    if (client === undefined) return buildFailure("This agent is not connected to its relay");
    const target = await findTarget(client, request, identity.agentId);
    if (!target.ok) return target;
    const now = runtime.now();
    const tokenId = uuidV7(now, runtime.randomBytes(10));
    // Nobody waits for the answer any longer than that.
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
      // Who asked for this work is not asked back to do a part of it.
      ...(task.submittedBy !== undefined && { excludeAgents: [task.submittedBy] }),
      timeoutMs,
      signal,
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

  /** What is said of the other agent, under this agent's key, keeps nobody waiting. */
  function recommend(client: RelayClient, done: ProvenResult): void {
    const known = recommenders.get(client);
    const recommender =
      known ?? createRecommender(client, { ...runtime, agentId: ownId, secretKey });
    recommenders.set(client, recommender);
    void recommender.recommend(done).then((answer) => {
      if (!answer.ok) runtime.log("warn", "credentials.not_given", { code: answer.code });
    });
  }

  /** A task that nobody waits for any more gives its hold back, unless somebody has begun it. */
  function cancelDelegatedTask(client: RelayClient, agentId: string, taskId: string): void {
    void client.cancelTask({ params: { agentId, taskId } }).then((answer) => {
      if (!answer.ok) runtime.log("debug", "delegation.not_cancelled", { code: answer.code });
    });
  }
}

/** With a capability the relay chooses among all who offer it; any one of them serves as the address. */
async function findTarget(
  client: RelayClient,
  { agent_id: agentId, capability }: DelegateRequest,
  self: string,
): Promise<{ ok: true; agentId: string; maxPrice?: number } | { ok: false; error: string }> {
  if ((agentId === undefined) === (capability === undefined)) {
    return buildFailure("A delegation names either an agent_id or a capability");
  }
  if (agentId !== undefined) return { ok: true, agentId };
  const found = await client.discover({ query: { capability } });
  if (!found.ok) return buildFailure(`${found.message} (${found.code})`);
  const others = found.body.agents.filter((agent) => agent.agent_id !== self);
  const [other] = others;
  if (other === undefined) return buildFailure("No other agent offers this capability");
  // The price of one of them must not keep the relay from choosing another one that was shown.
  return {
    ok: true,
    agentId: other.agent_id,
    maxPrice: Math.max(...others.map(({ cost }) => cost ?? 0)),
  };
}

function buildFailure(error: string): { ok: false; error: string } {
  return { ok: false, error };
}
