import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createManualClock, type ManualClock, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  cardEnv,
  createDisputeEvent,
  createRefundEvent,
  payByCard,
  sendEvent,
} from "../../test/payments/card-processor.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const DAY_MS = 86_400_000;

let folder: string;
let clock: ManualClock;
let t: TestRelay;
let agent: TestAgent;
let starts: number;

/** Starts the relay, on the data of the last one, with this waiting time of card money. */
async function start(days: number): Promise<void> {
  const env = {
    ...cardEnv("http://127.0.0.1:1"),
    AGENT_DB_PATH: join(folder, "relay.db"),
    AGENT_CARD_HOLD_MS: String(days * DAY_MS),
  };
  starts += 1;
  t = await startTestRelay(env, starts, clock);
}

async function restart(days: number): Promise<void> {
  await t.close();
  await start(days);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-card-hold-"));
  clock = createManualClock();
  starts = 0;
  await start(7);
  agent = await t.createAgent();
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

const send = async (event: string) =>
  expect(await sendEvent(t, event)).toMatchObject({ status: 200 });
const withdraw = (amount: number) =>
  t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/withdrawals`, {
    amount,
    destination: "IBAN 1",
  });
const cardHeld = async () =>
  (await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`)).body["card_held"];

describe("a card payment whose waiting time was changed afterwards", () => {
  test.each([0, 3, 14, 7])(
    "MN20: a reversal takes the money of its own payment, even if later payments wait %i days",
    async (days) => {
      await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
      await clock.advance(DAY_MS);
      await payByCard(t, agent, { payment: "pi_2", cents: 500 });
      await t.deposit(agent, 10);
      await restart(days);
      await send(createRefundEvent("pi_1", 1_000));
      expect([await t.getBalance(agent), await cardHeld()]).toEqual([15, 5]);
      expect(await withdraw(10)).toMatchObject({ status: 201 });
      await expectConsistentBooks(t, { card_reversals: 10 });
    },
  );

  test.each([0, 14, 7])(
    "MN20: a won dispute returns money that waits as before, even if later payments wait %i days",
    async (days) => {
      await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
      await send(createDisputeEvent("pi_1", 1_000));
      await restart(days);
      await send(createDisputeEvent("pi_1", 1_000, { type: "closed", status: "won", created: 2 }));
      expect([await t.getBalance(agent), await cardHeld()]).toEqual([10, 10]);
      await clock.advance(7 * DAY_MS);
      expect(await withdraw(10)).toMatchObject({ status: 201 });
    },
  );

  test("MN20: the next payment waits as long as the new setting states", async () => {
    await restart(3);
    await payByCard(t, agent, { payment: "pi_1", cents: 1_000 });
    await clock.advance(3 * DAY_MS - 1);
    expect(await cardHeld()).toBe(10);
    await clock.advance(1);
    expect(await withdraw(10)).toMatchObject({ status: 201 });
  });
});
