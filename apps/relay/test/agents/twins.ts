import type { TestAgent } from "@agent/testkit";
import { expect } from "vitest";
import type { TestRelay } from "../test-relay.ts";
import { bootstrapWithProof, createAgentWithKeyOf } from "./key-proof.ts";
import { createRotation, rotationRoutes } from "./rotation.ts";

/** Gives an agent a new key, and creates another one that proves the former key: both have one owner. */
export async function createTwin(
  t: TestRelay,
  agent: TestAgent,
): Promise<readonly [TestAgent, TestAgent]> {
  const rotation = createRotation(t, agent);
  expect((await rotationRoutes["rotate-key"](t, agent, rotation)).status).toBe(200);
  const twin = createAgentWithKeyOf(t, agent);
  const { status, body } = await bootstrapWithProof(t, twin);
  expect(status).toBe(201);
  return [rotation.next, { ...twin, deviceId: String(body["device_id"]) }];
}
