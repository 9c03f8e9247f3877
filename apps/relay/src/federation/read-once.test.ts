import { TaskForwardSchema, TaskResultSchema } from "@agent/federation-protocol/forwarding";
import { SettlementForwardSchema } from "@agent/federation-protocol/settlement";
import type * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  completeTaskOfPeer,
  federated,
  forwardTaskToPeer,
} from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay(federated);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await t.close();
});

const schemas = {
  "task/forward": TaskForwardSchema,
  "task/result": TaskResultSchema,
  "settlement/forward": SettlementForwardSchema,
};

/** Posts a message, and counts how often the relay parses its text and runs its schema. */
async function post(peer: FakePeer, name: keyof typeof schemas, body: Record<string, unknown>) {
  const text = JSON.stringify(body);
  const parse = vi.spyOn(JSON, "parse");
  const run = vi.spyOn(schemas[name] as v.GenericSchema, "~run");
  const reply: Reply = await peer.post(`/federation/v1/${name}`, body);
  const parses = parse.mock.calls.filter(([parsed]) => parsed === text).length;
  return { reply, parses, schemaPasses: run.mock.calls.length };
}

const once = { parses: 1, schemaPasses: 1 };

describe("messages of peers", () => {
  test("a relay parses a task only once, even if its signature covers unknown members", async () => {
    const peer = await createFakePeer(t).completeHandshake();
    const worker = await t.createWorker(1);
    const own = { target_agent: worker.agentId, public_key: worker.publicKey };
    const body = peer.createForward({ ...own, unknown: { b: 1, a: 2 } });
    expect(await post(peer, "task/forward", body)).toMatchObject({
      ...once,
      reply: { status: 202 },
    });
    const changed = { ...peer.createForward({ ...own, unknown: 1 }), unknown: 2 };
    expect(await peer.post("/federation/v1/task/forward", changed)).toMatchObject({
      status: 403,
      body: { code: "federation.signature_invalid" },
    });
  });

  test("a relay parses an accepted result only once", async () => {
    const { peer, listening, receipt } = await forwardTaskToPeer(t);
    try {
      expect(await post(peer, "task/result", peer.createResult(receipt))).toMatchObject({
        ...once,
        reply: { status: 200, body: { status: "accepted" } },
      });
    } finally {
      await listening.close();
    }
  });

  test("a relay parses a settlement only once, even if its signature covers unknown members", async () => {
    const peer = await createFakePeer(t).completeHandshake();
    const { settlement } = await completeTaskOfPeer(t, peer);
    const body = peer.createSettlement({ ...settlement, unknown: 1 });
    const forged = { ...body, unknown: 2 };
    expect(await peer.post("/federation/v1/settlement/forward", forged)).toMatchObject({
      status: 403,
      body: { code: "federation.signature_invalid" },
    });
    expect(await post(peer, "settlement/forward", body)).toMatchObject({
      ...once,
      reply: { status: 200, body: { status: "settled" } },
    });
  });
});
