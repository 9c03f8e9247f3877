import { expect } from "vitest";
import type { Reply, TestRelay } from "../test-relay.ts";
import { getReconciliation } from "./network.ts";

/** Returns all state of value that a peer could change. */
export async function getFederationState(t: Pick<TestRelay, "asOperator">) {
  const { consistent, totals } = await getReconciliation(t);
  const { body } = await t.asOperator("GET", "/api/v1/admin/federation/peers");
  const outbox = await t.asOperator("GET", "/api/v1/admin/federation/outbox");
  expect(consistent).toBe(true);
  return { totals, peers: body["peers"], outbox: outbox.body };
}

/** Expects that an attempt is refused with a code and changes nothing. */
export async function expectHarmless(
  t: Pick<TestRelay, "asOperator">,
  code: string,
  attempt: () => Promise<Reply>,
): Promise<Reply> {
  const before = await getFederationState(t);
  const reply = await attempt();
  expect(reply.body).toMatchObject({ code });
  expect(reply.status).toBeGreaterThanOrEqual(400);
  expect(reply.status).toBeLessThan(504);
  expect(await getFederationState(t)).toEqual(before);
  return reply;
}
