import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { MASTER_TOKEN, startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { startTestAgent, type TestAgentOptions } from "../../testing/agents/start-agent.ts";
import { failingTool, createTextTool } from "../../testing/tools/test-tools.ts";
import { selfTest } from "./self-test.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

const listing = { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 1 }] };

type Payer = Parameters<typeof selfTest>[0]["payer"];

async function run(options: Partial<TestAgentOptions>, funds = 0, payer?: Payer) {
  const running = await startTestAgent({ relayUrl: relay.url, ...options });
  const { identity, work } = running.agent;
  const joined = await running.joined;
  if (joined === undefined) throw new Error("no relay configured");
  if (funds > 0) {
    const params = { agentId: identity.agentId };
    await relay.operator.deposit({ params, body: { amount: funds } });
  }
  const lines: string[] = [];
  const code = await selfTest({
    identity,
    work,
    joined,
    payer,
    timeoutMs: 5_000,
    runtime: createSystemRuntime(silentLog),
    report: (line) => lines.push(line),
  });
  await running.stop();
  return { code, lines, steps: lines.map((line) => line.split(":")[0]) };
}

const all = ["ok submit", "ok route", "ok execute", "ok receipt", "ok verify", "ok settle"];

describe("the self-test", () => {
  test("the self-test passes its six steps and exits with 0", async () => {
    expect(await run({})).toMatchObject({ code: 0, steps: all });
  });

  test("the self-test pays the agent itself and costs only the fee", async () => {
    const { code, steps, lines } = await run({ file: { listing } }, 10);
    expect([code, steps]).toEqual([0, all]);
    expect(lines.at(-1)).toContain("1 settled, fee 0.05");
  });

  test("the operator pays for the self-test of an empty account, and once for two tests", async () => {
    const payer = { relayUrl: relay.url, masterToken: MASTER_TOKEN, price: 1 };
    const paid = await run({ file: { listing } }, 0, payer);
    expect([paid.code, paid.steps]).toEqual([0, ["ok fund", ...all]]);
    expect(paid.lines[0]).toContain("the operator deposited 1 USD");
    const rich = await run({ file: { listing } }, 10, payer);
    expect([rich.code, rich.lines[0]]).toEqual([0, "ok fund: the account holds 1 USD"]);
  });

  test("a self-test that another token should pay stops before its task", async () => {
    const payer = { relayUrl: relay.url, masterToken: "another", price: 1 };
    const { code, steps, lines } = await run({ file: { listing } }, 0, payer);
    expect([code, steps]).toEqual([1, ["failed fund"]]);
    expect(lines[0]).toContain("auth.");
  });

  test("the self-test names the failed step and exits with 1", async () => {
    const broke = await run({ file: { listing } });
    expect([broke.code, broke.steps.at(-1)]).toEqual([1, "failed submit"]);
    expect(broke.lines.at(-1)).toContain("deposit the price to ");
    const broken = await run({ tools: [failingTool] });
    expect([broken.code, broken.steps.at(-1)]).toEqual([1, "failed execute"]);
    const risky = await run({
      tools: [createTextTool("risky", () => ({ ok: true, data: "" }), 3)],
    });
    expect(risky.lines.at(-1)).toContain("requires approval");
  });

  test("the self-test exits with 2 without a relay and with 1 when the relay refuses the agent", async () => {
    const unreachable = await run({ relayUrl: "http://127.0.0.1:9" });
    expect([unreachable.code, unreachable.lines[0]]).toEqual([
      2,
      expect.stringContaining("relay unreachable"),
    ]);
    const refused = await run({ env: { AGENT_SYNC_TOKEN: "wrong" } });
    expect([refused.code, refused.lines[0]]).toEqual([
      1,
      expect.stringContaining("refused AGENT_SYNC_TOKEN"),
    ]);
  });
});
