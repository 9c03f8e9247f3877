import { hashReceipt } from "@agent/receipts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  forwardTaskToPeer,
  relayTask,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { getFederationState } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import { createReceipt, type TestRelay } from "../../../test/test-relay.ts";

const SETTLE_PATH = `${BASE_PATH}/settlement/forward`;
const RESULT_PATH = `${BASE_PATH}/task/result`;

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

describe("results", () => {
  test("FE15: a result counts only with the pinned key, the whole receipt and this peer's attestation", async () => {
    const away = await forwardTaskToPeer(t);
    const { worker, task, receipt } = away;
    const resultOf: FakePeer["createResult"] = (...of) => away.peer.createResult(...of);
    const impostor = { ...t.createUnknownAgent(), agentId: worker.agentId };
    const forged = createReceipt(impostor, task);
    const other = await createFakePeer(t).completeHandshake();
    const { attestation: _, ...unattested } = resultOf(receipt);
    const before = await getFederationState(t);
    const attempts: [string, object][] = [
      ["result.key_mismatch", resultOf(forged)],
      ["result.receipt_invalid", resultOf(forged, { public_key: worker.publicKey })],
      ["result.receipt_invalid", resultOf({ ...receipt, result: "more" })],
      ["request.invalid", unattested],
      [
        "result.attestation_invalid",
        resultOf(receipt, { attestation: other.createResult(receipt)["attestation"] }),
      ],
      [
        "result.attestation_invalid",
        resultOf(receipt, {
          attestation: resultOf(createReceipt(worker, { ...task, task_id: peer.relayId }))[
            "attestation"
          ],
        }),
      ],
    ];
    for (const [code, body] of attempts) {
      expect((await away.peer.post(RESULT_PATH, body)).body).toMatchObject({ code });
    }
    expect((await other.post(RESULT_PATH, other.createResult(receipt))).body).toMatchObject({
      code: "result.wrong_peer",
    });
    expect(await getFederationState(t)).toEqual(before);
    expect(t.listLogged("federation.receipt_signature_invalid").length).toBeGreaterThan(0);
    expect(t.listLogged("federation.receipt_key_missing").length).toBeGreaterThan(0);
    expect(await away.peer.post(RESULT_PATH, resultOf(receipt))).toMatchObject({
      status: 200,
      body: { status: "accepted" },
    });
    await away.listening.close();
  });

  test("FE15: a result is not accepted from a local agent that registered the worker's id", async () => {
    const away = await forwardTaskToPeer(t);
    const impostor = { ...t.createUnknownAgent(), agentId: away.worker.agentId };
    const { body } = await t.request("POST", "/api/v1/agents/bootstrap", {
      body: { agent_id: impostor.agentId, public_key: impostor.publicKey },
    });
    const thief = { ...impostor, deviceId: String(body["device_id"]) };
    const path = `/agent/${away.boss.agentId}/task/${away.task.task_id}`;
    for (const [method, at, sent] of [
      ["POST", `${path}/result`, createReceipt(thief, away.task)],
      ["GET", path, undefined],
    ] as const) {
      expect(await t.as(thief, method, at, sent)).toMatchObject({
        status: 403,
        body: { code: "task.not_participant" },
      });
    }
    const list = await t.as(thief, "GET", `/agent/${thief.agentId}/tasks`);
    expect(list.body).toMatchObject({ tasks: [] });
    await away.listening.close();
  });
});

test("FE15: the reputation of a remote agent does not pass to a local agent that registers its id", async () => {
  const away = await forwardTaskToPeer(t);
  const { boss, worker, receipt, peer: from } = away;
  expect(await from.post(RESULT_PATH, from.createResult(receipt))).toMatchObject({ status: 200 });
  const trusted = async () => {
    const { body } = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
    const records = body["records"] as { remote_agent_id: string }[];
    return records.some(({ remote_agent_id }) => remote_agent_id === worker.agentId);
  };
  expect(await trusted()).toBe(true);
  // The peer was not admitted, so its work bars no binding (A4); that of an admitted peer does.
  const taken = await t.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: worker.agentId, public_key: t.createUnknownAgent().publicKey },
  });
  expect(taken).toMatchObject({ status: 201 });
  expect(await trusted()).toBe(false);
  await away.listening.close();
});

test("FE15: a middle relay accepts a result only from the next relay, and a settlement only from the one before", async () => {
  const { origin, next, receipt, task, reply, passed } = await relayTask(t);
  expect(reply).toMatchObject({ status: 202, body: { status: "pending" } });
  expect(passed).toMatchObject({ budget: { amount: 0.9025 }, origin_relay: t.relay.relayId });
  expect((await origin.post(RESULT_PATH, origin.createResult(receipt))).body).toMatchObject({
    code: "result.wrong_peer",
  });
  const record = {
    task_id: task.task_id,
    agent_id: receipt.agent_id,
    receipt_hash: hashReceipt(receipt),
  };
  expect((await next.post(SETTLE_PATH, next.createSettlement(record))).body).toMatchObject({
    code: "settlement.not_owed",
  });
  expect(await origin.post(SETTLE_PATH, origin.createSettlement(record))).toMatchObject({
    status: 200,
    body: { fee_amount: 0.0475, net_amount: 0.9025 },
  });
  expect((await getFederationState(t)).totals).toMatchObject({
    fees: 0.0475,
    holds: 0.9025,
    peers: -0.95,
  });
});
