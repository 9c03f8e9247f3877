import type { Identity } from "../../identity/identity.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";
import { cancelTask } from "./cancel-task.ts";
import type {
  DelegatorAnswer,
  DelegatorContext,
  OrderContext,
  WorkOrder,
} from "./delegator-answer.ts";
import { describeBalance, describeStatement } from "./describe-account.ts";
import { findAgents } from "./find-agents.ts";
import { getTaskStatus } from "./get-task-status.ts";
import { createOrderStore } from "./orders/order-store.ts";
import { inspectResult, type InspectionOrder } from "./inspect-result.ts";
import { createPaidDelegation } from "./paid-delegation.ts";

/** The actions of an owner who lets other agents work and pays them from this agent's account. */
export interface Delegator {
  findAgents(capability: string, signal: AbortSignal): Promise<DelegatorAnswer>;
  delegateTask(order: WorkOrder, context: OrderContext): Promise<DelegatorAnswer>;
  getTaskStatus(taskId: string, signal: AbortSignal): Promise<DelegatorAnswer>;
  cancelTask(taskId: string, signal: AbortSignal): Promise<DelegatorAnswer>;
  inspectResult(order: InspectionOrder, signal: AbortSignal): Promise<DelegatorAnswer>;
  getBalance(signal: AbortSignal): Promise<DelegatorAnswer>;
  getStatement(signal: AbortSignal): Promise<DelegatorAnswer>;
}

export interface DelegatorParts {
  readonly identity: Pick<Identity, "agentId" | "secretKey">;
  readonly relayUrl: string;
  readonly membership: () => Membership | undefined;
  /** The longest time that `delegateTask` waits for a result. */
  readonly timeoutMs: number;
  /** The folder of orders that may have a task at the relay. */
  readonly ordersPath: string;
  readonly runtime: Runtime;
}

/**
 * Creates the actions; each is refused with `relay.not_joined` until the agent has joined. Loads the
 * orders that the last process did not see end.
 */
export async function createDelegator(parts: DelegatorParts): Promise<Delegator> {
  const { membership, identity, ordersPath: path, ...rest } = parts;
  const { runtime, relayUrl } = parts;
  const store = createOrderStore({ path, relayUrl, agentId: identity.agentId, runtime });
  const delegatePaid = await createPaidDelegation(runtime, store);

  async function act(
    action: (context: DelegatorContext) => Promise<DelegatorAnswer>,
  ): Promise<DelegatorAnswer> {
    const client = membership()?.client;
    if (client !== undefined) {
      return action({ ...rest, client, ownId: identity.agentId, secretKey: identity.secretKey });
    }
    const message = `This agent has not joined its relay yet; is ${parts.relayUrl} running?`;
    return { ok: false, code: "relay.not_joined", message };
  }

  return {
    findAgents: (capability, signal) => act((context) => findAgents(context, capability, signal)),
    delegateTask: (order, call) => act((context) => delegatePaid(context, order, call)),
    getTaskStatus: (taskId, signal) => act((context) => getTaskStatus(context, taskId, signal)),
    cancelTask: (taskId, signal) => act((context) => cancelTask(context, taskId, signal)),
    inspectResult: (order, signal) => act((context) => inspectResult(context, order, signal)),
    getBalance: (signal) => act((context) => describeBalance(context, signal)),
    getStatement: (signal) => act((context) => describeStatement(context, signal)),
  };
}
