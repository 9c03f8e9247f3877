import { delegate, sendVerdict, type RelayClient } from "@agent/client";
import { joinRelay, type RealAgent, unwrapBody } from "./real-agent.ts";

const TIMEOUT_MS = 20_000;
const WINDOW_MS = 600_000;

/** A submitter and an executor whose results are inspected before they are paid. */
export interface InspectedWork {
  readonly boss: RealAgent;
  readonly worker: RealAgent;
  /** Has a result rejected with a reason and then contested before the operator; returns its task. */
  readonly dispute: (reason?: string) => Promise<string>;
  /** Has a result accepted. */
  readonly accept: () => Promise<void>;
}

/** Registers two agents with the money for their tasks and for the fee of a dispute. */
export async function joinInspectedWork(
  baseUrl: string,
  operator: RelayClient,
): Promise<InspectedWork> {
  const boss = await joinRelay(baseUrl, { name: "publisher" });
  const worker = await joinRelay(baseUrl, {
    name: "typist",
    capability: "type-text",
    price: 2,
    answer: async () => ({ result: "six of nine rows", tools_used: ["type-text"] }),
  });
  const listing = {
    capabilities: ["type-text"],
    description: "Types texts.",
    pricing: [{ capability: "type-text", unit_cost: 2 }],
    acceptance: { window_ms: WINDOW_MS },
  };
  unwrapBody(await worker.client.putListing({ params: worker, body: listing }));
  for (const agent of [boss, worker]) {
    unwrapBody(await operator.deposit({ params: agent, body: { amount: 20 } }));
  }
  const order = async (answer: true | { readonly reason: string }) => {
    const result = await delegate(boss.client, {
      agentId: worker.agentId,
      prompt: "nine rows",
      requiredCapabilities: ["type-text"],
      acceptance: { signer: boss },
      inspect: () => answer,
      timeoutMs: TIMEOUT_MS,
    });
    if (!result.ok) throw new Error(result.message);
    if (result.inspection?.ok !== true) throw new Error("the result was not inspected");
    return { taskId: result.taskId ?? "", inspection: result.inspection.inspection };
  };
  return {
    boss,
    worker,
    async dispute(reason = "Rows 7 to 9 are missing.") {
      const { taskId, inspection } = await order({ reason });
      unwrapBody(
        await sendVerdict(worker.client, {
          agentId: worker.agentId,
          taskId,
          receiptHash: inspection.receipt_hash,
          signer: worker,
          statement: { verdict: "contested", reason: "The prompt names six rows." },
        }),
      );
      return taskId;
    },
    async accept() {
      await order(true);
    },
  };
}
