import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  completeTaskOfPeer,
  BASE_PATH,
  startRelayWithPeer,
} from "../../../test/contract/operator/federation.ts";
import { expectHarmless } from "../../../test/network/expect-harmless.ts";
import { createFakePeer, type FakePeer } from "../../../test/network/fake-peer.ts";
import type { TestRelay } from "../../../test/test-relay.ts";

const SETTLE_PATH = `${BASE_PATH}/settlement/forward`;

let t: TestRelay;
let peer: FakePeer;
beforeEach(async () => {
  ({ t, peer } = await startRelayWithPeer());
});
afterEach(() => t.close());

describe("a settlement", () => {
  test.each<[string, string, (done: Awaited<ReturnType<typeof completeTaskOfPeer>>) => object]>([
    [
      "of a higher amount",
      "settlement.amount_mismatch",
      () => ({ amount: 1.95, gross_amount: 2, fee_amount: 0.05 }),
    ],
    ["whose parts do not sum up", "settlement.amount_mismatch", () => ({ fee_amount: 0.06 })],
    ["for another worker", "settlement.receipt_mismatch", () => ({ agent_id: peer.relayId })],
    [
      "for another receipt",
      "settlement.receipt_mismatch",
      () => ({ receipt_hash: "0".repeat(64) }),
    ],
    ["for an unknown task", "settlement.not_owed", () => ({ task_id: peer.relayId })],
  ])("FE16: a settlement %s is refused", async (_, code, change) => {
    const done = await completeTaskOfPeer(t, peer);
    const body = peer.createSettlement({ ...done.settlement, ...change(done) });
    await expectHarmless(t, code, () => peer.post(SETTLE_PATH, body));
  });

  test("FE16: a settlement by another peer is refused", async () => {
    const done = await completeTaskOfPeer(t, peer);
    const other = await createFakePeer(t).completeHandshake();
    await expectHarmless(t, "settlement.not_owed", () =>
      other.post(SETTLE_PATH, other.createSettlement(done.settlement)),
    );
  });

  test("FE16: a settlement before the receipt is refused", async () => {
    const worker = await t.createWorker(1);
    const body = peer.createForward({ target_agent: worker.agentId });
    await peer.post(`${BASE_PATH}/task/forward`, body);
    const early = peer.createSettlement({
      task_id: body["task_id"],
      agent_id: worker.agentId,
      receipt_hash: "0".repeat(64),
    });
    await expectHarmless(t, "settlement.not_completed", () => peer.post(SETTLE_PATH, early));
  });

  test("FE16: a settlement that comes twice under two ids is paid once", async () => {
    const { settlement, worker } = await completeTaskOfPeer(t, peer);
    await peer.post(SETTLE_PATH, peer.createSettlement(settlement));
    await expectHarmless(t, "settlement.already_settled", () =>
      peer.post(SETTLE_PATH, peer.createSettlement(settlement)),
    );
    expect(await t.getBalance(worker)).toBe(0.9025);
  });

  test("FE16: two tasks whose settlements have the same id are each paid once", async () => {
    const [one, two] = [await completeTaskOfPeer(t, peer), await completeTaskOfPeer(t, peer)];
    const settlement_id = "019b7d21-53eb-7ccd-926c-3badff397333";
    for (const { settlement } of [one, two, one]) {
      const body = peer.createSettlement({ ...settlement, settlement_id });
      expect(await peer.post(SETTLE_PATH, body)).toMatchObject({ status: 200 });
    }
    expect([await t.getBalance(one.worker), await t.getBalance(two.worker)]).toEqual([
      0.9025, 0.9025,
    ]);
  });

  test("FE16: a settlement that the peer did not sign is refused even under a valid header", async () => {
    const { settlement } = await completeTaskOfPeer(t, peer);
    const body = { ...peer.createSettlement(settlement), amount: 0.95, settled_at: 1 };
    await expectHarmless(t, "federation.signature_invalid", () => peer.post(SETTLE_PATH, body));
  });
});
