import { mkdtempSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readBesideRelay } from "../../test/engine/stored.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import { getReconciliation, submitToBest, waitUntil } from "../../test/network/network.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { listPeerReservations } from "./settlement/reserved-store.ts";

/** A forward is sent again after 3 s, while a peer may be silent for 10 s before the relay stops waiting. */
const RETRY_SCALE = "0.1";
const FIRST_PAUSE_MS = 3_000;

/** A peer that decides about each forward when the test says so. */
interface SlowPeer {
  readonly peer: FakePeer;
  readonly agent: TestAgent;
  readonly server: ListeningPeer;
  readonly forwards: ((status: number, code?: string) => void)[];
}

let folder: string;
let t: TestRelay;
let peers: readonly SlowPeer[];
let isClosing: boolean;
beforeEach(async () => {
  isClosing = false;
  folder = mkdtempSync(join(tmpdir(), "forwards-"));
  t = await startTestRelay({
    AGENT_DB_PATH: join(folder, "here.db"),
    AGENT_FEDERATION_ENDPOINT_URL: "http://relay.test",
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_FEDERATION_RETRY_SCALE: RETRY_SCALE,
  });
  peers = [await startSlowPeer(), await startSlowPeer()];
});
afterEach(async () => {
  isClosing = true;
  for (const { forwards } of peers) for (const answer of forwards) answer(500);
  await t.close();
  for (const { server } of peers) await server.close();
  rmSync(folder, { recursive: true });
});

async function startSlowPeer(): Promise<SlowPeer> {
  const agent = t.createUnknownAgent();
  const forwards: SlowPeer["forwards"] = [];
  const entry = {
    agent_id: agent.agentId,
    public_key: agent.publicKey,
    capabilities: ["summarise"],
    pricing: [{ capability: "summarise", unit_cost: 1, currency: "USD", per: "task" }],
  };
  const server = await startListeningPeer(({ path }, response) => {
    if (path.endsWith("/discover")) return { agents: [entry] };
    if (!path.endsWith("/task/forward") || isClosing) return {};
    return new Promise((resolve) => {
      forwards.push((status, code) => resolve(send(response, status, code)));
    });
  });
  return { peer: await createFakePeer(t, server.url).completeHandshake(), agent, server, forwards };
}

function send(response: ServerResponse, status: number, code: string | undefined): void {
  if (response.headersSent) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ status: "pending", code }));
}

/** Submits a task, and lets the relay send it again while its first attempt has no answer. */
async function submitTwice() {
  const boss = await t.createAgent();
  await t.deposit(boss, 10);
  const { status, body } = await submitToBest(t, boss);
  expect(status).toBe(201);
  const first = await waitUntil(
    () => peers.find(({ forwards }) => forwards.length === 1),
    "a forward",
  );
  await t.clock.advance(FIRST_PAUSE_MS);
  await t.relay.tick();
  await waitUntil(() => first.forwards.length === 2, "a second forward");
  const other = peers.find((peer) => peer !== first)!;
  const task = { task_id: String(body["task_id"]), prompt: "work", submitted_at: t.clock.now() };
  return { task, first, other };
}

const waitForEnds = (count: number) =>
  waitUntil(() => t.listLogged("federation.task.forward").length === count, "the ends of attempts");

const deliver = ({ peer, agent }: SlowPeer, task: Parameters<typeof createReceipt>[1]) =>
  peer.post("/federation/v1/task/result", peer.createResult(createReceipt(agent, task)));

test("MN49: a late answer of one peer does not end the forward to the next peer, which is paid for its work", async () => {
  const { task, first, other } = await submitTwice();
  first.forwards[0]!(409, "forward.id_taken");
  await waitUntil(() => other.forwards.length === 1, "a forward to the other peer");
  first.forwards[1]!(409, "forward.id_taken");
  await waitForEnds(2);
  expect(await readBesideRelay(join(folder, "here.db"), listPeerReservations)).toEqual([
    { relay_id: other.peer.relayId, stored: 950_000, derived: 950_000 },
  ]);
  expect(await getReconciliation(t)).toMatchObject({ consistent: true });
  other.forwards[0]!(202);
  await waitForEnds(3);
  expect(await deliver(other, task)).toMatchObject({ status: 200 });
  await t.relay.tick();
  const isSettled = () => other.server.requests.some(({ path }) => path.includes("/settlement"));
  await waitUntil(isSettled, "a settlement");
});

test("MN49: a task whose first attempt is refused stays with the peer while a second attempt may arrive", async () => {
  const { task, first, other } = await submitTwice();
  first.forwards[0]!(402, "clearing.limit_exceeded");
  await waitForEnds(1);
  first.forwards[1]!(202);
  await waitForEnds(2);
  expect(await deliver(first, task)).toMatchObject({ status: 200 });
  expect(other.forwards).toEqual([]);
});

test("MN49: a task whose only attempt is refused goes to the next peer", async () => {
  const boss = await t.createAgent();
  await t.deposit(boss, 10);
  expect(await submitToBest(t, boss)).toMatchObject({ status: 201 });
  const isSent = ({ forwards }: SlowPeer) => forwards.length === 1;
  const first = await waitUntil(() => peers.find(isSent), "a forward");
  first.forwards[0]!(402, "clearing.limit_exceeded");
  await waitUntil(() => peers.every(isSent), "a forward to the other peer");
});
