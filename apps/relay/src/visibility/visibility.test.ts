import type { TestAgent } from "@agent/testkit";
import type { MarketCandidate, Visibility } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startHttpEndpoint, type Endpoint } from "../../test/network/endpoint.ts";
import { createBuyer, submitAcceptedTask, putListing, createSeller } from "../../test/market.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { suggestCapability } from "./suggest-capability.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

async function shown(agent: TestAgent): Promise<Visibility> {
  const { body } = await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/visibility`);
  return body as unknown as Visibility;
}

const checkOf = async (agent: TestAgent, name: string) =>
  (await shown(agent)).checks.find(({ check }) => check === name);

async function register(agent: TestAgent, endpoint_url: string, capabilities = ["summarise"]) {
  const body = { agent_id: agent.agentId, endpoint_url, capabilities };
  const reply = await t.as(agent, "POST", "/api/v1/agents/register", body);
  expect(reply.status).toBe(200);
  return reply.body["checks"] as Visibility["checks"];
}

test("an agent is shown at the rank at which a stranger's query shows it", async () => {
  const [dear, cheap, middle] = [
    await t.createWorker(9),
    await t.createWorker(1),
    await t.createWorker(3),
  ];
  const boss = await createBuyer(t, 10);
  const task = await submitAcceptedTask(t, boss, middle);
  await t.as(middle, "POST", `${task.path}/result`, createReceipt(middle, task));
  const asked = await t.as(
    await t.createAgent(),
    "GET",
    "/api/v1/market/candidates?capability=summarise",
  );
  const candidates = asked.body["candidates"] as MarketCandidate[];
  for (const agent of [dear, cheap, middle]) {
    const place = candidates.findIndex(({ agent_id }) => agent_id === agent.agentId);
    const { composite_score, sub_scores } = candidates[place]!;
    expect((await shown(agent)).queries).toEqual([
      { capability: "summarise", rank: place + 1, of: 3, composite_score, sub_scores },
    ]);
  }
});

describe("the visibility report of an agent", () => {
  test("the visibility report names all problems of an agent with nothing but a key", async () => {
    const { checks, queries, hints } = await shown(await t.createAgent());
    expect(queries).toEqual([]);
    expect(checks.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual([
      "endpoint_url",
      "listing",
      "capabilities",
    ]);
    expect(hints.join(" ")).toMatch(/Register.*Connect.*no query finds the agent/);
  });

  test("the visibility report names no problem for a complete agent", async () => {
    const agent = await t.createAgent();
    const endpoint = await startHttpEndpoint((_, response) =>
      response.end(JSON.stringify({ status: "ok", agent_id: agent.agentId })),
    );
    await putListing(t, agent, 1);
    await register(agent, `${endpoint.url}/mcp`);
    const { checks, hints } = await shown(agent);
    expect(checks.every(({ ok }) => ok)).toBe(true);
    expect(hints).toEqual([]);
    expect(endpoint.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET /health"]);
    await endpoint.close();
  });

  test("the visibility report names a price for a capability that is not offered", async () => {
    const agent = await t.createAgent();
    const pricing = [{ capability: "translate", unit_cost: 1 }];
    const body = { capabilities: ["summarise"], pricing };
    await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, body);
    expect(await checkOf(agent, "listing")).toMatchObject({ ok: false });
  });

  test("the visibility report names a dormant agent as offline", async () => {
    const agent = await t.createWorker(1);
    expect((await shown(agent)).hints.join()).not.toContain("offline");
    await t.clock.advance(40 * 60_000);
    expect((await shown(agent)).hints.join()).toContain("dormant and counts as offline");
  });

  test("the visibility report names a capability that others spell in another way, also at registration", async () => {
    await createSeller(t, 1);
    await createSeller(t, 1);
    const odd = await t.createAgent();
    const misspelled = {
      check: "capabilities",
      ok: false,
      detail: 'offers "Summarize", but other agents offer "summarise"',
    };
    expect(await register(odd, "http://127.0.0.1:1", ["Summarize"])).toContainEqual(misspelled);
    expect(await checkOf(odd, "capabilities")).toEqual(misspelled);
  });
});

test("a capability is counted once for each agent that currently offers it", async () => {
  const [first, second] = [await createSeller(t, 1), await createSeller(t, 1)];
  const odd = await t.createAgent();
  await register(odd, "http://127.0.0.1:1", ["Summarise"]);
  expect(await checkOf(odd, "capabilities")).toMatchObject({ ok: false });
  for (const agent of [first, second, first]) {
    await putListing(t, agent, { translate: 1 });
    await putListing(t, agent, { translate: 1 });
  }
  expect(await checkOf(odd, "capabilities")).toMatchObject({ ok: true });
});

describe("the endpoint", () => {
  let endpoint: Endpoint;
  afterEach(() => endpoint.close());

  test.each<[string, string, object]>([
    ["of another agent", '{"agent_id":"another"}', { ok: false, detail: /answers as another/ }],
    ["that names no agent", "<html>", { ok: true, detail: /^reachable$/ }],
    ["that answers null", "null", { ok: true, detail: /^reachable$/ }],
  ])("an endpoint %s is reported without its answer", async (_, text, expected) => {
    endpoint = await startHttpEndpoint((__, response) => response.end(text));
    const agent = await t.createAgent();
    await register(agent, endpoint.url);
    const found = await checkOf(agent, "endpoint");
    const { ok, detail } = expected as { ok: boolean; detail: RegExp };
    expect(found?.ok).toBe(ok);
    expect(found?.detail).toMatch(detail);
  });

  test("an endpoint that cannot be reached is reported as unreachable", async () => {
    endpoint = await startHttpEndpoint((_, response) => response.destroy());
    const agent = await t.createAgent();
    await register(agent, endpoint.url);
    expect(await checkOf(agent, "endpoint")).toMatchObject({ ok: false, detail: "unreachable" });
  });

  test("the endpoint is not called at an address that the relay does not allow", async () => {
    endpoint = await startHttpEndpoint((_, response) => response.end());
    const strict = await startTestRelay({ AGENT_PRIVATE_ENDPOINTS: "block" });
    const agent = await strict.createAgent();
    const body = { agent_id: agent.agentId, endpoint_url: endpoint.url, capabilities: [] };
    await strict.as(agent, "POST", "/api/v1/agents/register", body);
    await strict.as(agent, "GET", `/api/v1/agents/${agent.agentId}/visibility`);
    expect(endpoint.requests).toEqual([]);
    await strict.close();
  });
});

describe("suggestions of spellings", () => {
  const offers = new Map([
    ["summarise", 5],
    ["add", 5],
    ["code-review", 3],
    ["translate", 1],
  ]);

  const meantBy = (given: string) => suggestCapability(given, offers.get(given) ?? 0, offers);

  test.each([
    ["summarize", "summarise"],
    ["sumarise", "summarise"],
    ["summarisee", "summarise"],
    ["SUMMARISE", "summarise"],
    ["code_review", "code-review"],
    ["Code Review", "code-review"],
  ])("the spelling %s is probably meant as %s", (given, meant) => {
    expect(meantBy(given)).toBe(meant);
  });

  test.each(["summarise", "translate", "and", "summary", "translated-text", ""])(
    "no spelling is suggested for %s",
    (given) => {
      expect(meantBy(given)).toBeUndefined();
    },
  );

  test("the more common of two spellings is suggested", () => {
    const both = new Map([
      ["colour", 2],
      ["color", 3],
    ]);
    expect(suggestCapability("colour", 2, both)).toBe("color");
    expect(suggestCapability("color", 3, both)).toBeUndefined();
  });
});
