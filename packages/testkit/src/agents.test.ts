import { verifyToken } from "@agent/client";
import { verifyReceipt } from "@agent/receipts";
import { scopes } from "@agent/wire";
import { expect, test } from "vitest";
import { createReceipt, createTestAgent, createToken } from "./agents.ts";
import { createManualClock } from "./clock.ts";
import { createSeededRandom } from "./random.ts";

const worldOf = (seed: number) => ({ ...createManualClock(), ...createSeededRandom(seed) });
const task = { task_id: "t", prompt: "p", submitted_at: 1_760_000_000_000 };

test("the same seed always gives the same agents", () => {
  expect(createTestAgent(worldOf(1))).toEqual(createTestAgent(worldOf(1)));
  const world = worldOf(1);
  expect(createTestAgent(world).agentId).not.toBe(createTestAgent(world).agentId);
});

test("a token is accepted by its audience once per jti", async () => {
  const world = worldOf(1);
  const [agent, relay] = [createTestAgent(world), createTestAgent(world)];
  const check = async (scope?: readonly ["socket"]) =>
    await verifyToken(await createToken(agent, relay.did, world, scope), {
      publicKey: agent.publicKey,
      audience: relay.did,
      now: world.now(),
    });
  const [all, one] = [await check(), await check(["socket"])];
  expect(all).toMatchObject({ ok: true, claims: { agentId: agent.agentId, scopes } });
  expect(one).toMatchObject({ ok: true, claims: { scopes: ["socket"] } });
  expect(all.ok && one.ok && all.claims.jti !== one.claims.jti).toBe(true);
});

test("a receipt proves its task, with changes signed as well", () => {
  const agent = createTestAgent(worldOf(1));
  const known = { publicKey: agent.publicKey, taskId: "t", prompt: "p" };
  const proven = verifyReceipt(createReceipt(agent, task, { result: "3" }), known);
  expect(proven).toMatchObject({ valid: true });
  expect(proven.checks.every(({ ok }) => ok)).toBe(true);
  const unbound = createReceipt(agent, task, { relay_task_id: "u" });
  expect(verifyReceipt(unbound, known)).toMatchObject({ code: "receipt.task_mismatch" });
});
