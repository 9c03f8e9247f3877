import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestRelay, type Reply, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const path = ({ agentId }: TestAgent = agent) => `/api/v1/agents/${agentId}/listing`;
const list = (body: unknown): Promise<Reply> => t.as(agent, "POST", path(), body);
const shown = () => t.request("GET", path());

const price = { capability: "summarise", unit_cost: 2, currency: "USD", per: "task" };
const listing = {
  capabilities: ["summarise", "translate"],
  pricing: [
    price,
    { capability: "translate", unit_cost: 0.000001, currency: "USD", per: "request" },
  ],
  sla: { max_latency_ms: 1_500.5, availability_guarantee: 0.99 },
  description: "work\n\u{1f600}",
  pay_to_address: "0xAbCdEf0123456789aBcDeF0123456789abcdef01",
};

describe("Listings", () => {
  test("the relay stores a listing as it was sent and shows it to every agent", async () => {
    const { status, body } = await list(listing);
    expect([status, body]).toEqual([
      200,
      {
        ...listing,
        listing_id: body["listing_id"],
        agent_id: agent.agentId,
        updated_at: t.clock.now(),
      },
    ]);
    expect((await shown()).body).toEqual(body);
  });

  test("a new listing replaces the whole earlier one and keeps its id", async () => {
    const first = await list(listing);
    await t.clock.advance(5);
    const next = await list({ capabilities: ["paint"] });
    expect(next.body).toEqual({
      listing_id: first.body["listing_id"],
      agent_id: agent.agentId,
      updated_at: t.clock.now(),
      capabilities: ["paint"],
      pricing: [],
      description: "",
    });
    expect((await shown()).body).toEqual(next.body);
  });

  test("an agent is found by the capabilities of its current listing only", async () => {
    const candidates = async (capability: string) => {
      const answer = await t.asOperator(
        "GET",
        `/api/v1/market/candidates?capability=${capability}`,
      );
      return answer.body["candidates"];
    };
    await list(listing);
    expect(await candidates("translate")).toMatchObject([{ agent_id: agent.agentId }]);
    await list({ capabilities: ["paint"] });
    expect(await candidates("translate")).toEqual([]);
    expect(await candidates("paint")).toMatchObject([{ agent_id: agent.agentId }]);
  });

  test("a listing is priced in US dollars per task by default", async () => {
    const { body } = await list({
      capabilities: ["summarise"],
      pricing: [{ capability: "summarise", unit_cost: 0 }],
    });
    expect(body["pricing"]).toEqual([{ ...price, unit_cost: 0 }]);
  });

  test("KY8 the relay refuses to change the listing of another agent with 403", async () => {
    await list(listing);
    const before = await shown();
    const other = await t.createAgent();
    expect(await t.as(other, "POST", path(), { capabilities: [] })).toMatchObject({ status: 403 });
    expect((await shown()).body).toEqual(before.body);
  });

  test("the relay answers 404 for an agent without a listing", async () => {
    expect(await shown()).toMatchObject({ status: 404, body: { code: "listing.not_found" } });
    expect(await t.request("GET", path(t.createUnknownAgent()))).toMatchObject({ status: 404 });
  });
});

describe("Invalid listings", () => {
  const priced = (change: Record<string, unknown>) => ({
    ...listing,
    pricing: [{ ...price, ...change }],
  });

  test.each<[string, unknown, string]>([
    ["with a price below 0", priced({ unit_cost: -1 }), "pricing.0.unit_cost"],
    ["with a price above 1e9", priced({ unit_cost: 1e308 }), "pricing.0.unit_cost"],
    ["with a price in text", priced({ unit_cost: "1" }), "pricing.0.unit_cost"],
    ["with seven decimals", priced({ unit_cost: 0.0000001 }), "pricing.0.unit_cost"],
    ["without a price", priced({ unit_cost: undefined }), "pricing.0.unit_cost"],
    ["in another currency", priced({ currency: "EUR" }), "pricing.0.currency"],
    ["with a price for nothing", priced({ capability: "" }), "pricing.0.capability"],
    ["with two prices of one capability", { ...listing, pricing: [price, price] }, "pricing"],
    ["with a price that is an array", { ...listing, pricing: [[]] }, "pricing.0.capability"],
    ["with prices that are an object", { ...listing, pricing: {} }, "pricing"],
    ["without capabilities", { ...listing, capabilities: undefined }, "capabilities"],
    ["with a latency below 0", { ...listing, sla: { max_latency_ms: -1 } }, "sla.max_latency_ms"],
    [
      "with a guarantee above 1",
      { ...listing, sla: { availability_guarantee: 1.1 } },
      "sla.availability_guarantee",
    ],
    ["with an sla that is an array", { ...listing, sla: [] }, "sla"],
    ["with a long description", { ...listing, description: "x".repeat(4_097) }, "description"],
    [
      "with a wallet of 39 digits",
      { ...listing, pay_to_address: `0x${"a".repeat(39)}` },
      "pay_to_address",
    ],
    [
      "with a wallet that is no hex",
      { ...listing, pay_to_address: `0x${"g".repeat(40)}` },
      "pay_to_address",
    ],
  ])("MN8 the relay refuses a listing %s and leaves the stored one", async (_, body, field) => {
    const stored = await list(listing);
    const refused = await list(body);
    expect(refused).toMatchObject({ status: 400, body: { code: "request.invalid" } });
    expect(refused.body["issues"]).toContainEqual(expect.objectContaining({ path: field }));
    expect((await shown()).body).toEqual(stored.body);
  });

  test("MN8 the relay refuses a listing whose price JSON parses as infinite", async () => {
    const raw = JSON.stringify(listing).replace('"unit_cost":2', '"unit_cost":1e999');
    const answer = await t.request("POST", path(), { token: await t.token(agent), raw });
    expect(answer).toMatchObject({ status: 400, body: { code: "request.invalid" } });
  });
});
