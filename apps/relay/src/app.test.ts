import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReceipt } from "@agent/testkit";
import { createBuyer, submitAcceptedTask, createSeller } from "../test/market.ts";
import { startTestRelay, type TestRelay } from "../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

describe("a relay that shuts down", () => {
  test("a relay that shuts down refuses requests with Retry-After", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await t.relay.drain();
    const refused = await Promise.all([
      t.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" }),
      t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task)),
      t.as(boss, "GET", task.path),
      t.request("GET", "/health"),
      t.request("GET", `/ws/v1/agents/${boss.agentId}`),
    ]);
    for (const { status, headers, body } of refused) {
      expect({ status, code: body["code"] }).toEqual({ status: 503, code: "server.draining" });
      expect(headers.get("retry-after")).toBe("10");
    }
  });
});
