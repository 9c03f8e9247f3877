import {
  createEnvironment,
  createRecommender,
  delegate,
  fetchListedPrice,
  type DelegateResult,
  type ProvenResult,
  type Recommender,
  type RelayClient,
} from "@agent/client";
import { bytesToHex, uuidV7 } from "@agent/crypto";
import type { DelegateRequest, DelegateTask } from "../../execution/delegation/delegation.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";
import type { WorkTask } from "../../execution/task.ts";
import { attenuateToken } from "./attenuate-token.ts";
import type { BegunDelegations, DelegationPlan } from "./begun-delegations.ts";
import { buildDelegationSlot, getSentTaskId } from "./delegation-slot.ts";
import { isUnpaid } from "./is-unpaid.ts";
import { findProviders } from "./find-providers.ts";

interface DelegationParts {
  readonly identity: Identity;
  readonly membership: () => Membership | undefined;
  readonly timeoutMs: number;
  /** Counts each attempted delegation, and whether its work was completed. */
  readonly count: (isCompleted: boolean) => void;
  readonly begun: Pick<BegunDelegations, "find" | "keep" | "void">;
  readonly runtime: Runtime;
}

/**
 * Delegates a task to another agent through the relay, for a tool that calls `context.delegate`. Each attempt at a
 * task of the relay makes its delegations under the same keys, so that no attempt pays for one a second time.
 */
export function createDelegateTask(parts: DelegationParts): DelegateTask {
  const { runtime, count, begun } = parts;
  const recommend = createBackgroundRecommender(parts);

  const delegateTask: DelegateTask = async (request, on) => {
    const client = parts.membership()?.client;
    if (client === undefined) return buildFailure("This agent is not connected to its relay");
    const slot = buildDelegationSlot(on);
    const found = slot && begun.find(slot);
    const plan = found?.plan ?? (await planDelegation(client, request, { ...parts, ...on }));
    if ("ok" in plan) return plan;
    if (slot !== undefined && found?.plan === undefined) await begun.keep(slot, plan);
    const idempotencyKey = found?.key ?? bytesToHex(runtime.randomBytes(16));
    const delegated = await submitDelegation(client, request, {
      ...parts,
      ...on,
      plan,
      idempotencyKey,
    });
    count(delegated.ok && delegated.receipt.status === "completed");
    if (delegated.ok) {
      const { receipt } = delegated;
      recommend(client, delegated);
      return receipt.status === "completed"
        ? { ok: true, data: receipt.result, receipt }
        : { ok: false, error: receipt.result, receipt };
    }
    if (!isUnpaid(delegated)) {
      void cancelDelegatedTask(client, plan, delegated.taskId).then((isCancelled) =>
        isCancelled && slot !== undefined ? begun.void(slot) : undefined,
      );
    } else if (slot !== undefined) {
      await begun.void(slot);
      // An earlier attempt ordered what has ended by now.
      if (found?.plan !== undefined && !on.signal.aborted) return delegateTask(request, on);
    }
    return buildFailure(`${delegated.message} (${delegated.code})`);
  };
  return delegateTask;

  /** Cancels an abandoned task to release its hold; returns false if an executor has begun it. */
  async function cancelDelegatedTask(
    client: RelayClient,
    { agentId }: DelegationPlan,
    taskId: string | undefined,
  ): Promise<boolean> {
    if (taskId === undefined) return false;
    const answer = await client.cancelTask({ params: { agentId, taskId } });
    if (!answer.ok) runtime.log("debug", "delegation.not_cancelled", { code: answer.code });
    return answer.ok && answer.body.status === "cancelled";
  }
}

/** Decides the parts of the submission that another attempt could decide differently, which includes the price. */
async function planDelegation(
  client: RelayClient,
  request: DelegateRequest,
  {
    identity,
    runtime,
    timeoutMs,
    task,
    signal,
  }: DelegationParts & { readonly task: WorkTask; readonly signal: AbortSignal },
): Promise<DelegationPlan | ReturnType<typeof buildFailure>> {
  const target = await findTarget(client, request, identity.agentId);
  if (!target.ok) return target;
  const { agentId } = target;
  const now = runtime.now();
  // After this time the answer is no longer awaited.
  const until = now + timeoutMs;
  const attenuated = attenuateToken(task.delegationToken, request, {
    identity,
    tokenId: uuidV7(now, runtime.randomBytes(10)),
    until,
  });
  if (!attenuated.ok) return attenuated;
  const { maxBudget = target.maxPrice, token } = attenuated;
  if (maxBudget !== undefined) return { agentId, maxBudget, token };
  const listed = await fetchListedPrice(
    client,
    { agentId, required: [] },
    { deadline: until, environment: createEnvironment(runtime), signal },
  );
  if (!listed.ok) return buildFailure(`${listed.message} (${listed.code})`);
  return { agentId, maxBudget: listed.price ?? null, token };
}

function submitDelegation(
  client: RelayClient,
  { capability, prompt }: DelegateRequest,
  of: DelegationParts &
    Parameters<DelegateTask>[1] & {
      readonly plan: DelegationPlan;
      readonly idempotencyKey: string;
    },
): Promise<DelegateResult> {
  const { task, caller, signal, timeoutMs, idempotencyKey, runtime } = of;
  const { agentId, maxBudget, token } = of.plan;
  const parentTaskId = getSentTaskId(caller, task);
  return delegate(client, {
    ...runtime,
    agentId,
    prompt,
    ...(capability !== undefined && { requiredCapabilities: [capability] }),
    ...(maxBudget !== undefined && { maxBudget }),
    ...(token !== undefined && { delegationToken: { ...token } }),
    ...(parentTaskId !== undefined && { parentTaskId }),
    // The submitter of this task must not be chosen for a part of it.
    ...(task.submittedBy !== undefined && { excludeAgents: [task.submittedBy] }),
    timeoutMs,
    signal,
    // A submission whose answer is lost is sent again, and creates no second task.
    idempotencyKey,
  });
}

/** Issues credentials about the other agent in the background, under this agent's key. */
function createBackgroundRecommender({ identity, runtime }: DelegationParts) {
  const { agentId, secretKey } = identity;
  const recommenders = new WeakMap<RelayClient, Recommender>();
  return (client: RelayClient, done: ProvenResult): void => {
    const known = recommenders.get(client);
    const recommender = known ?? createRecommender(client, { ...runtime, agentId, secretKey });
    recommenders.set(client, recommender);
    void recommender.recommend(done).then((answer) => {
      if (!answer.ok) runtime.log("warn", "credentials.not_given", { code: answer.code });
    });
  };
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
