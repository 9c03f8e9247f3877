import type { TestAgent } from "@agent/testkit";
import { expect } from "vitest";
import { serveTestRelay, type ServedRelay } from "./devices.ts";
import { createBuyer, createSeller, putListing } from "./market.ts";
import { createReceipt } from "./test-relay.ts";

interface CallAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface Work {
  readonly times?: number;
  readonly status?: "completed" | "failed";
}

/** A served relay with agents that pay each other, which are called over HTTP. */
export interface ReputationMarket {
  readonly t: ServedRelay;
  call(agent: TestAgent, method: string, path: string, body?: unknown): Promise<CallAnswer>;
  buyer(amount: number): Promise<TestAgent>;
  seller(price: number): Promise<TestAgent>;
  list(agent: TestAgent, price: number): Promise<void>;
  /** Submits tasks one after another and delivers their receipts. */
  work(by: TestAgent, worker: TestAgent, work?: Work): Promise<void>;
  /** Returns the relay's fees in USD. */
  feesKept(): Promise<number>;
  close(): Promise<void>;
}

export async function createReputationMarket(
  env: Record<string, string> = {},
): Promise<ReputationMarket> {
  const t = await serveTestRelay(env);

  async function call(agent: TestAgent, method: string, path: string, body?: unknown) {
    const answer = await fetch(`${t.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await t.token(agent)}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as CallAnswer["body"] };
  }

  return {
    t,
    call,
    buyer: (amount) => (amount === 0 ? t.createAgent() : createBuyer(t, amount)),
    seller: (price) => createSeller(t, price),
    list: (agent, price) => putListing(t, agent, price),
    async work(by, worker, { times = 1, status = "completed" } = {}) {
      for (let task = 0; task < times; task += 1) {
        const path = `/agent/${worker.agentId}/task`;
        const submitted = await call(by, "POST", path, { prompt: "work" });
        expect(submitted).toMatchObject({ status: 201 });
        const task_id = String(submitted.body["task_id"]);
        const about = { task_id, prompt: "work", submitted_at: t.clock.now() };
        const receipt = createReceipt(worker, about, { status });
        const delivered = await call(worker, "POST", `${path}/${task_id}/result`, receipt);
        expect(delivered).toMatchObject({ status: 200 });
      }
    },
    async feesKept() {
      const { body } = await t.asOperator("GET", "/api/v1/admin/reconciliation");
      return (body["totals"] as { fees: number }).fees;
    },
    close: () => t.close(),
  };
}
