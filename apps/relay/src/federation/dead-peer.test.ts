import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { federated, createQuery, suspend } from "../../test/contract/operator/federation.ts";
import { createFakePeer, type FakePeer } from "../../test/network/fake-peer.ts";
import {
  startListeningPeer,
  type ListeningPeer,
  type ReceivedRequest,
} from "../../test/network/listening-peer.ts";
import { waitUntil, getPeer } from "../../test/network/network.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

/** The timeout of a query with four hops: one to the first relay, and three to further ones. */
const QUERY_TIMEOUT_MS = 1_000;

let t: TestRelay;
let listening: ListeningPeer;
let peer: FakePeer;
let answer: (asked: ReceivedRequest) => unknown;
beforeEach(async () => {
  t = await startTestRelay(federated);
  answer = () => new Promise(() => {});
  listening = await startListeningPeer((asked) =>
    asked.path.endsWith("/discover") ? answer(asked) : {},
  );
  peer = await createFakePeer(t, listening.url).completeHandshake();
});
afterEach(async () => {
  await t.close();
  await listening.close();
});

const queries = () => listening.requests.filter(({ path }) => path.endsWith("/discover"));

/** Submits a task for a new capability, so that peers are queried. */
let made = 0;
async function submission() {
  made += 1;
  const capability = `work-${made}`;
  const boss = await t.createAgent();
  const worker = await t.createWorker(0, capability);
  const asked = queries().length;
  const submit = () =>
    t.as(boss, "POST", `/agent/${boss.agentId}/task`, {
      prompt: "work",
      required_capabilities: [capability],
    });
  const arrived = () => waitUntil(() => queries().length > asked, "the peer is asked");
  return { capability, worker, submit, arrived };
}

const chosen = ({ body }: Reply) =>
  (body["routing_choice"] as { selected_agent: string }).selected_agent;

/** Expects a submission to wait for the peer for the whole timeout. */
async function expectFullWait(): Promise<void> {
  const { submit, arrived, worker } = await submission();
  let done: Reply | undefined;
  const reply = submit().then((answered) => (done = answered));
  await arrived();
  await t.clock.advance(QUERY_TIMEOUT_MS - 1);
  expect(done).toBeUndefined();
  await t.clock.advance(1);
  expect(chosen(await reply)).toBe(worker.agentId);
}

describe("unresponsive peers", () => {
  test("a peer that never answers delays one submission by a second, and no later submission", async () => {
    await expectFullWait();
    const before = t.clock.now();
    for (let again = 0; again < 10; again += 1) {
      const { submit, worker } = await submission();
      expect(chosen(await submit())).toBe(worker.agentId);
    }
    expect(t.clock.now()).toBe(before);
    await waitUntil(() => queries().length === 11, "it is asked all the same");
    await t.clock.advance(5_000);
    const { submit, worker } = await submission();
    expect(chosen(await submit())).toBe(worker.agentId);
  });

  test("a relay waits for a silent peer no longer than the relay that asked it waits", async () => {
    const asking = await createFakePeer(t).completeHandshake();
    const reply = asking.post("/federation/v1/discover", createQuery(asking));
    await waitUntil(() => queries().length === 1, "the peer is asked");
    await t.clock.advance(750);
    expect(await reply).toMatchObject({ status: 200, body: { agents: [] } });
  });

  test("a relay does not wait for a silent peer that has missed a heartbeat", async () => {
    await t.clock.advance(60_000);
    await t.relay.tick();
    const isMissed = async () => (await getPeer(t)).missed_heartbeats === 1;
    await waitUntil(isMissed, "the heartbeat is missed");
    const { submit, worker } = await submission();
    expect(chosen(await submit())).toBe(worker.agentId);
  });

  test("a peer that never answers is not queried once it is suspended", async () => {
    await suspend(t, peer);
    const { submit } = await submission();
    expect(await submit()).toMatchObject({ status: 201 });
    expect(queries()).toEqual([]);
  });
});

describe("late answers", () => {
  const telling = (agentId: string, capability: string, publicKey: string) => ({
    agents: [
      { agent_id: agentId, public_key: publicKey, capabilities: [capability], availability: 1 },
    ],
  });

  test("a peer that answers a query late is included in later searches, and the next query waits for it", async () => {
    const remote = t.createUnknownAgent();
    let say: (body: unknown) => void = () => {};
    answer = () => new Promise((resolve) => (say = resolve));
    const { capability, submit, arrived } = await submission();
    const first = submit();
    await arrived();
    await t.clock.advance(QUERY_TIMEOUT_MS);
    expect(await first).toMatchObject({ status: 201 });

    say(telling(remote.agentId, capability, remote.publicKey));
    const boss = await t.createAgent();
    await waitUntil(async () => {
      const found = await t.as(boss, "GET", `/api/v1/agents/discover?capability=${capability}`);
      return (found.body["agents"] as { agent_id: string }[]).some(
        ({ agent_id }) => agent_id === remote.agentId,
      );
    }, "the answer counts");
    await expectFullWait();
  });
});
