import { verifySettlementRecord } from "@agent/receipts";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { Settlement } from "@agent/wire";
import { expect, test } from "vitest";
import {
  getReconciliation,
  startNetwork,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";
import { startLocalFacilitator, x402Env } from "../../test/payments/x402-facilitator.ts";
import { openWallet } from "../../test/payments/x402-wallet.ts";

test("B11: the settlement records of both relays name the x402 payment of a forwarded task", async () => {
  let now = () => 0;
  const facilitator = await startLocalFacilitator(() => now());
  const network = await startNetwork(["alpha", "beta"], [[0, 1]], x402Env(facilitator.url));
  now = network.clock.now;
  const [a, b] = network.sites as [TestSite, TestSite];
  const wallet = openWallet(createSeededRandom(7).randomBytes, network.clock.now);
  const boss = await a.createAgent();
  const worker = await b.createWorker(1);
  await a.relay.tick();
  const submit = async (headers: Record<string, string> = {}) =>
    a.request("POST", `/agent/${boss.agentId}/task`, {
      token: await a.token(boss),
      body: { prompt: "work", required_capabilities: ["summarise"] },
      headers,
    });
  const asked = await waitUntil(async () => {
    const { headers } = await submit();
    return headers.has("payment-required") && headers;
  }, "a payment is asked for");
  const reply = await submit(await wallet.pay(asked));
  expect(reply).toMatchObject({ status: 201 });
  await completeTask(b, worker, await waitForTask(b, worker));
  await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
  await waitUntil(
    async () => (await getReconciliation(a)).totals["holds"] === 0,
    "the payer is charged",
  );

  const recordAt = async (site: TestSite, of: TestAgent) => {
    const path = `/api/v1/agents/${of.agentId}/settlements`;
    const { body } = await site.asOperator("GET", path);
    const [settlement] = body["settlements"] as Settlement[];
    expect(verifySettlementRecord(settlement)).toMatchObject({ valid: true });
    return settlement;
  };
  const [own, theirs] = [await recordAt(a, boss), await recordAt(b, worker)];
  expect(own).toMatchObject({ x402_network: "eip155:84532", issuer: a.did });
  expect(own?.x402_tx_hash).toMatch(/^0x/);
  expect(theirs).toMatchObject({
    x402_tx_hash: own?.x402_tx_hash,
    x402_network: "eip155:84532",
    issuer: b.did,
  });
  expect(await getReconciliation(a)).toMatchObject({ consistent: true });
  expect(await getReconciliation(b)).toMatchObject({ consistent: true });
  await network.close();
  await facilitator.close();
});
