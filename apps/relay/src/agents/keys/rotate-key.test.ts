import {
  bytesToHex,
  hexToBytes,
  verifySuccessionChain,
  type SuccessionRecord,
} from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import type { KeyHistory } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
} from "../../../test/market.ts";
import {
  rotationRoutes,
  createRotation,
  type RotationRoute,
  type Rotation,
} from "../../../test/agents/rotation.ts";
import { createReceipt } from "../../../test/test-relay.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

const path = ({ agentId }: TestAgent, what: string) => `/api/v1/agents/${agentId}/${what}`;

async function historyOf(agent: TestAgent): Promise<KeyHistory> {
  const { status, body } = await t.request("GET", path(agent, "succession"));
  expect(status).toBe(200);
  return body as KeyHistory;
}

/** Verifies the public chain as a third party does. */
function walk({ agent_id, keys, chain }: KeyHistory) {
  return verifySuccessionChain(chain, {
    agentId: agent_id,
    firstPublicKey: hexToBytes(keys[0]!.public_key),
  });
}

async function rotate(
  agent: TestAgent,
  changeKey: RotationRoute = rotationRoutes["rotate-key"],
): Promise<TestAgent> {
  const rotation = createRotation(t, agent);
  expect(await changeKey(t, agent, rotation)).toMatchObject({ status: 200 });
  return rotation.next;
}

describe.each(Object.entries<RotationRoute>(rotationRoutes))(
  "Key changed by %s",
  (_, changeKey) => {
    test("KY11 a key change ends the old key's tokens and sockets and keeps the device", async () => {
      const agent = await t.createAgent();
      const old = await t.token(agent);
      expect(await t.request("GET", path(agent, "balance"), { token: old })).toMatchObject({
        status: 200,
      });
      const device = await t.connectDevice(agent);

      const next = await rotate(agent, changeKey);
      expect(await device.closed).toMatchObject({ code: 4401 });
      for (const token of [old, await t.token(agent)]) {
        const answer = await t.request("GET", path(agent, "balance"), { token });
        expect(answer).toMatchObject({ status: 401 });
      }
      expect(await t.as(next, "GET", path(agent, "balance"))).toMatchObject({ status: 200 });
      const { body } = await t.as(next, "GET", `/api/v1/devices/${agent.deviceId}`);
      expect(body).toMatchObject({ agent_id: agent.agentId, public_key: next.publicKey });
      await t.connectDevice(next);
    });

    test("KY6 a task submitted before the key change settles with either key", async () => {
      const [boss, worker] = [await createBuyer(t, 20), await createSeller(t, 2)];
      const before = [
        await submitAcceptedTask(t, boss, worker),
        await submitAcceptedTask(t, boss, worker),
      ] as const;
      await t.clock.advance(1);
      const next = await rotate(worker, changeKey);
      const after = await submitAcceptedTask(t, boss, worker);

      const post = (by: TestAgent, task = after) =>
        t.as(next, "POST", `${task.path}/result`, createReceipt(by, task));
      expect(await post(worker, before[0])).toMatchObject({ status: 200 });
      expect(await post(next, before[1])).toMatchObject({ status: 200 });
      expect(await post(worker)).toMatchObject({
        status: 403,
        body: { code: "receipt.signature_invalid" },
      });
      expect(await post(next)).toMatchObject({ status: 200 });
      expect(await t.getBalance(worker)).toBe(5.7);
      await expectConsistentBooks(t);
    });

    type Bad = (agent: TestAgent) => Rotation | Promise<Rotation>;
    const changed = ({ next, succession }: Rotation, change: object): Rotation => ({
      next,
      succession: { ...succession, ...change },
    });
    const refused: Readonly<Record<string, Bad>> = {
      "signed by the old key only": (agent) => {
        const rotation = createRotation(t, agent);
        const { old_key_signature } = rotation.succession as SuccessionRecord;
        return changed(rotation, { new_key_signature: old_key_signature });
      },
      "signed by the new key only": (agent) => {
        const rotation = createRotation(t, agent);
        const { new_key_signature } = rotation.succession as SuccessionRecord;
        return changed(rotation, { old_key_signature: new_key_signature });
      },
      "signed by another pair": async (agent) => {
        const { secretKey } = await t.createAgent();
        return createRotation(t, { ...agent, secretKey });
      },
      "for another id": async (agent) => {
        const { agentId } = await t.createAgent();
        const { next, succession } = createRotation(t, { ...agent, agentId });
        return { next: { ...next, agentId: agent.agentId }, succession };
      },
      "changed after signing": (agent) => changed(createRotation(t, agent), { reason: "another" }),
      "from the far future": (agent) =>
        createRotation(t, agent, { timestamp: t.clock.now() + 300_001 }),
      "longer than 2048 characters": (agent) =>
        createRotation(t, agent, { reason: "x".repeat(2_048) }),
      "of another suite": (agent) => changed(createRotation(t, agent), { suite: "none" }),
    };

    test.each(Object.entries(refused))(
      "KY2 the relay refuses a succession record %s and leaves the key",
      async (_title, make) => {
        const agent = await t.createAgent();
        expect(await changeKey(t, agent, await make(agent))).toMatchObject({
          status: 400,
          body: { code: "agent.succession_invalid" },
        });
        expect(await historyOf(agent)).toMatchObject({
          current_public_key: agent.publicKey,
          chain: [],
        });
        expect(await t.as(agent, "GET", path(agent, "balance"))).toMatchObject({ status: 200 });
      },
    );

    test("KY10 a former key never becomes current again, by an old record or by a new one", async () => {
      const agent = await t.createAgent();
      const first = createRotation(t, agent);
      expect(await changeKey(t, agent, first)).toMatchObject({ status: 200 });
      await t.clock.advance(1);
      const last = await rotate(first.next, changeKey);
      await t.clock.advance(1);
      for (const rotation of [first, createRotation(t, last, { to: agent })]) {
        expect(await changeKey(t, last, rotation)).toMatchObject({ status: 400 });
      }
      expect(await historyOf(agent)).toMatchObject({ current_public_key: last.publicKey });
    });
  },
);

describe("Public succession", () => {
  test("the public succession shows the only key of an agent that never changed it", async () => {
    const agent = await t.createAgent();
    expect(await historyOf(agent)).toEqual({
      agent_id: agent.agentId,
      current_public_key: agent.publicKey,
      keys: [{ public_key: agent.publicKey, valid_from: t.clock.now(), valid_until: null }],
      chain: [],
    });
  });

  test("the public succession proves the current key to a third party that knows the first one", async () => {
    const agent = await t.createAgent();
    const born = t.clock.now();
    const keys = [agent];
    for (const changeKey of [
      rotationRoutes.bootstrap,
      rotationRoutes.register,
      rotationRoutes["rotate-key"],
    ]) {
      await t.clock.advance(1_000);
      keys.push(await rotate(keys.at(-1)!, changeKey));
    }
    const history = await historyOf(agent);
    expect(history.keys).toEqual(
      keys.map(({ publicKey }, i) => ({
        public_key: publicKey,
        valid_from: born + i * 1_000,
        valid_until: i === 3 ? null : born + (i + 1) * 1_000,
      })),
    );
    const walked = walk(history);
    expect(walked.ok && bytesToHex(walked.currentPublicKey)).toBe(history.current_public_key);
    expect(history.current_public_key).toBe(keys[3]?.publicKey);
    const gap = { ...history, chain: history.chain.slice(1) };
    expect(walk(gap)).toMatchObject({ ok: false, code: "succession.old_key_mismatch", index: 0 });
  });

  test("the public succession lists keys in order even if they changed within one millisecond of the relay", async () => {
    let agent = await t.createAgent();
    for (let step = 0; step < 8; step += 1) {
      const rotation = createRotation(t, agent, { timestamp: t.clock.now() + step });
      expect(await rotationRoutes["rotate-key"](t, agent, rotation)).toMatchObject({ status: 200 });
      agent = rotation.next;
    }
    const history = await historyOf(agent);
    expect(history.current_public_key).toBe(agent.publicKey);
    expect(walk(history)).toMatchObject({ ok: true });
  });

  test("the public succession shows records as they were signed, with unknown members", async () => {
    const agent = await t.createAgent();
    const { next, succession } = createRotation(t, agent, { reason: "annual" });
    await rotationRoutes["rotate-key"](t, agent, { next, succession });
    expect((await historyOf(agent)).chain).toEqual([succession]);
  });
});

describe("Rotation", () => {
  test("a rotation changes nothing when the new key is the current one", async () => {
    const agent = await t.createAgent();
    const rotation = createRotation(t, agent);
    const { next } = rotation;
    const changed = await rotationRoutes["rotate-key"](t, agent, rotation);
    expect(changed.body).toEqual({
      agent_id: agent.agentId,
      public_key: next.publicKey,
      rotated: true,
    });
    const again = await rotationRoutes["rotate-key"](t, next, rotation);
    expect(again.body).toEqual({ ...changed.body, rotated: false });
  });

  test("the relay refuses a rotation that would bind a first key, which only a bootstrap does", async () => {
    const agent = t.createUnknownAgent();
    const rotation = createRotation(t, agent);
    const unknown = await rotationRoutes["rotate-key by the operator"](t, agent, rotation);
    expect(unknown).toMatchObject({ status: 404, body: { code: "agent.not_found" } });
    await t.asOperator("POST", "/api/v1/agents/register", {
      agent_id: agent.agentId,
      endpoint_url: "http://127.0.0.1:1/mcp",
      capabilities: [],
    });
    const keyless = await rotationRoutes["rotate-key by the operator"](t, agent, rotation);
    expect(keyless).toMatchObject({ status: 404 });
    expect(await t.request("GET", path(agent, "succession"))).toMatchObject({ status: 404 });
  });

  test.each([undefined, null, 1, "ab", "AB".repeat(32), `${"ab".repeat(32)}\n`, ["ab".repeat(32)]])(
    "the relay refuses a rotation to %j",
    async (new_public_key) => {
      const agent = await t.createAgent();
      const { succession } = createRotation(t, agent);
      const body = { succession: { ...succession, new_public_key } };
      expect(await t.as(agent, "POST", path(agent, "rotate-key"), body)).toMatchObject({
        status: 400,
        body: { code: "agent.succession_invalid" },
      });
    },
  );

  test("the relay accepts one of 50 competing rotations signed by the same key", async () => {
    const agent = await t.createAgent();
    const rivals = Array.from({ length: 50 }, () => createRotation(t, agent));
    const changeKey = rotationRoutes["rotate-key by the operator"];
    const replies = await Promise.all(rivals.map((rotation) => changeKey(t, agent, rotation)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 400)).toHaveLength(49);
    expect(walk(await historyOf(agent))).toMatchObject({ ok: true });
  });

  test("the relay answers 403 to a rotation of another agent's key, even with a valid record", async () => {
    const [agent, other] = [await t.createAgent(), await t.createAgent()];
    const { succession } = createRotation(t, agent);
    const answer = await t.as(other, "POST", path(agent, "rotate-key"), { succession });
    expect(answer).toMatchObject({ status: 403, body: { code: "auth.not_owner" } });
    expect(await historyOf(agent)).toMatchObject({ current_public_key: agent.publicKey });
  });
});
