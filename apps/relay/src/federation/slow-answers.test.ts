import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { completeTaskOfPeer, federated } from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { getReconciliation, getPeerPositions, waitUntil } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const LIFETIME_MS = 300_000;
const ANSWER_MS = 8_000;

let t: TestRelay;
let other: FakePeer;
let listening: ListeningPeer;
/** The offset of the other relay's clock. */
let offsetMs: number;

beforeEach(async () => {
  t = await startTestRelay(federated);
  listening = await startListeningPeer(async ({ path, body }) => {
    if (!path.endsWith("/task/result")) return path.endsWith("/identity") ? {} : undefined;
    const receipt = body["receipt"] as Record<string, unknown>;
    const timestamp = t.clock.now() + offsetMs;
    const { attestation } = body as { attestation: { receipt_hash: string } };
    const settlement = other.createSettlement({
      task_id: body["task_id"],
      agent_id: receipt["agent_id"],
      receipt_hash: attestation.receipt_hash,
      timestamp,
    });
    await t.clock.advance(ANSWER_MS);
    return { status: "accepted", task_id: body["task_id"], settlement };
  });
  other = await createFakePeer(t, listening.url).completeHandshake();
});
afterEach(async () => {
  await t.close();
  await listening.close();
});

/** Sends a result, and waits until its answer has been checked. */
async function returnResult() {
  const done = await completeTaskOfPeer(t, other);
  await waitUntil(() => t.listLogged("federation.result.returned").length > 0, "the answer comes");
  return done;
}

describe("A8: the settlement in a slow answer to a result", () => {
  test("the settlement in a slow answer is booked even if the peer's clock is behind", async () => {
    offsetMs = 1_000 - LIFETIME_MS;
    const { worker } = await returnResult();
    expect(t.listLogged("federation.settlement.refused")).toEqual([]);
    expect(await t.getBalance(worker)).toBe(0.9025);
    expect(await getPeerPositions(t)).toEqual({ [other.relayId]: -0.95 });
    expect(await getReconciliation(t)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  });

  test("the settlement in a slow answer is refused if its signature had expired when the result was sent", async () => {
    offsetMs = -LIFETIME_MS - 1;
    const { worker } = await returnResult();
    expect(t.listLogged("federation.settlement.refused")).toMatchObject([
      { code: "federation.timestamp_expired" },
    ]);
    expect(await t.getBalance(worker)).toBe(0);
  });

  test("a result whose settlement was refused for its timestamp is sent again and then settled", async () => {
    offsetMs = LIFETIME_MS + 60_000;
    const { worker } = await returnResult();
    expect(await t.getBalance(worker)).toBe(0);
    offsetMs = 0;
    await t.clock.advance(60_000);
    await t.relay.tick();
    await waitUntil(async () => (await t.getBalance(worker)) > 0, "the next answer is booked");
    expect(await t.getBalance(worker)).toBe(0.9025);
    expect(await getReconciliation(t)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  });
});
