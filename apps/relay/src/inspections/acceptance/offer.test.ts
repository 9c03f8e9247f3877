import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const createIds = (count: number) =>
  Array.from({ length: count }, () => t.createUnknownAgent().agentId);

async function list(acceptance: object): Promise<readonly [number, unknown]> {
  const path = `/api/v1/agents/${agent.agentId}/listing`;
  const { status, body } = await t.as(agent, "POST", path, { capabilities: [], acceptance });
  return [status, body["code"]];
}

describe("the inspection that a listing offers", () => {
  test.each<[string, () => object]>([
    ["the shortest window", () => ({ window_ms: 60_000 })],
    ["the longest window", () => ({ window_ms: 1_209_600_000 })],
    ["no arbiters", () => ({ window_ms: 60_000, arbiters: [] })],
    ["10 arbiters", () => ({ window_ms: 60_000, arbiters: createIds(10) })],
    ["one at a time", () => ({ window_ms: 60_000, max_open: 1 })],
    ["10000 at a time", () => ({ window_ms: 60_000, max_open: 10_000 })],
  ])("an inspection may be offered with %s", async (_, create) => {
    expect(await list(create())).toEqual([200, undefined]);
  });

  test.each<[string, () => object]>([
    ["a shorter window", () => ({ window_ms: 59_999 })],
    ["a longer window", () => ({ window_ms: 1_209_600_001 })],
    ["a fraction of a ms", () => ({ window_ms: 60_000.5 })],
    ["no window", () => ({ arbiters: [] })],
    ["11 arbiters", () => ({ window_ms: 60_000, arbiters: createIds(11) })],
    ["itself as an arbiter", () => ({ window_ms: 60_000, arbiters: [agent.agentId] })],
    ["an arbiter that is no id", () => ({ window_ms: 60_000, arbiters: ["operator"] })],
    ["none at a time", () => ({ window_ms: 60_000, max_open: 0 })],
    ["10001 at a time", () => ({ window_ms: 60_000, max_open: 10_001 })],
  ])("an inspection may not be offered with %s", async (_, create) => {
    expect(await list(create())).toEqual([400, "request.invalid"]);
  });
});
