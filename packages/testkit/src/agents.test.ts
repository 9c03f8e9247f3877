import { checkToken } from "@agent/client";
import { verifyReceipt } from "@agent/receipts";
import { scopes } from "@agent/wire";
import { expect, test } from "vitest";
import { receiptOf, testAgent, tokenOf } from "./agents.ts";
import { manualClock } from "./clock.ts";
import { seededRandom } from "./random.ts";

const worldOf = (seed: number) => ({ ...manualClock(), ...seededRandom(seed) });
const task = { task_id: "t", prompt: "p", submitted_at: 1_760_000_000_000 };

test("agents are those of the seed", () => {
  expect(testAgent(worldOf(1))).toEqual(testAgent(worldOf(1)));
  const world = worldOf(1);
  expect(testAgent(world).agentId).not.toBe(testAgent(world).agentId);
});

test("an agent's token is taken by the audience it is for, once per jti", async () => {
  const world = worldOf(1);
  const [agent, relay] = [testAgent(world), testAgent(world)];
  const check = async (scope?: readonly ["socket"]) =>
    await checkToken(await tokenOf(agent, relay.did, world, scope), {
      publicKey: agent.publicKey,
      audience: relay.did,
      now: world.now(),
    });
  const [all, one] = [await check(), await check(["socket"])];
  expect(all).toMatchObject({ ok: true, claims: { agentId: agent.agentId, scopes } });
  expect(one).toMatchObject({ ok: true, claims: { scopes: ["socket"] } });
  expect(all.ok && one.ok && all.claims.jti !== one.claims.jti).toBe(true);
});

test("an agent's receipt proves its task, and what is changed is signed as well", () => {
  const agent = testAgent(worldOf(1));
  const known = { publicKey: agent.publicKey, taskId: "t", prompt: "p" };
  const proven = verifyReceipt(receiptOf(agent, task, { result: "3" }), known);
  expect(proven).toMatchObject({ valid: true });
  expect(proven.checks.every(({ ok }) => ok)).toBe(true);
  const unbound = receiptOf(agent, task, { relay_task_id: "u" });
  expect(verifyReceipt(unbound, known)).toMatchObject({ code: "receipt.task_mismatch" });
});
