import { afterEach, beforeEach, expect, test } from "vitest";
import { openX402Fixture, type X402Fixture } from "../../test/payments/x402-fixture.ts";

let s: X402Fixture;
beforeEach(async () => {
  s = await openX402Fixture();
});
afterEach(() => s.close());

const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "work" }] };

async function sendMessage(headers: Record<string, string> = {}) {
  const params = { message, configuration: { returnImmediately: true } };
  return s.t.request("POST", `/a2a/${s.worker.agentId}`, {
    token: await s.t.token(s.boss),
    headers: { "a2a-version": "1.0", ...headers },
    body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params },
  });
}

test("an unfunded message is answered with the payment terms, and becomes a task once it is paid", async () => {
  const asked = await sendMessage();
  const details = { code: "budget.insufficient", x402Version: 2, accepts: [{ amount: "2000000" }] };
  expect(asked.body).toMatchObject({ error: { code: -32_000, data: [{}, details] } });

  const payment = await s.wallet.pay(asked.headers);
  const paid = await sendMessage(payment);
  expect(paid.body).toMatchObject({
    result: { task: { status: { state: "TASK_STATE_SUBMITTED" } } },
  });
  expect(paid.headers.has("payment-response")).toBe(true);

  // When it is sent again, it is neither refused as used nor paid a second time.
  expect((await sendMessage(payment)).body).toEqual(paid.body);
  expect([...s.facilitator.settled.keys()]).toHaveLength(1);
});
