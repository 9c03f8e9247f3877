import type { LogEntry } from "@agent/transparency";
import type { TestAgent } from "@agent/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  artifactHashOf,
  NO_TAG,
  readLogEntries,
  tagOf,
  unsignedHashOf,
} from "../../../test/stored/log-entries.ts";
import { bootstrapWithProof, createAgentWithKeyOf } from "../../../test/agents/key-proof.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../../test/market.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  startTwoSites,
  waitForTask,
} from "../../../test/network/network.ts";
import { claimPairing, createPairedDevice, openPairing } from "../../../test/agents/pairing.ts";
import { createRotation, rotationRoutes } from "../../../test/agents/rotation.ts";
import { createReceipt, startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { migrations } from "../../storage/migrations/index.ts";
import type { Storage } from "../../storage/storage.ts";
import { saveLogState } from "../store.ts";
import { appendLog } from "./append.ts";
import { listEntriesAfter } from "./entry-store.ts";

let t: TestRelay;
const start = async (env: Record<string, string> = {}) => (t = await startTestRelay(env));
afterEach(() => t.close());

type Expected = Partial<LogEntry>;
type Binding = Pick<TestAgent, "agentId" | "publicKey">;

const bound = (
  { agentId: agent_id, publicKey: public_key }: Binding,
  device_id: string | null = null,
): Expected => ({
  kind: "key_bound",
  time: t.clock.now(),
  agentTag: tagOf("agent", agent_id),
  keyTag: tagOf("key", public_key),
  refTag: device_id === null ? NO_TAG : tagOf("ref", device_id),
  artifactHash: artifactHashOf({ agent_id, public_key, device_id, valid_from: t.clock.now() }),
});

const ended = (
  { agentId: agent_id, publicKey: public_key }: Binding,
  device_id: string | null = null,
): Expected => ({
  kind: "key_ended",
  time: t.clock.now(),
  agentTag: tagOf("agent", agent_id),
  keyTag: tagOf("key", public_key),
  refTag: device_id === null ? NO_TAG : tagOf("ref", device_id),
  artifactHash: artifactHashOf({ agent_id, public_key, device_id, valid_until: t.clock.now() }),
});

/** Prepares an act that is then repeated, and names the entries that it makes. */
type Place = () => Promise<{
  readonly act: () => Promise<{ readonly body: Record<string, unknown> }>;
  readonly expected: (body: Record<string, unknown>) => readonly Expected[];
}>;

const bootstrapBody = ({ agentId: agent_id, publicKey: public_key }: Binding) => ({
  body: { agent_id, public_key },
});

const endpoint = { endpoint_url: "http://127.0.0.1:1/mcp", capabilities: [] };

/** Each operation by which a key is bound or ended. */
const keyPlaces: Readonly<Record<string, Place>> = {
  async bootstrap() {
    const agent = t.createUnknownAgent();
    const act = () => t.request("POST", "/api/v1/agents/bootstrap", bootstrapBody(agent));
    return { act, expected: () => [bound(agent)] };
  },
  async "a registration by the operator with a key"() {
    const agent = t.createUnknownAgent();
    const body = { ...bootstrapBody(agent).body, ...endpoint };
    const act = () => t.asOperator("POST", "/api/v1/agents/register", body);
    return { act, expected: () => [bound(agent)] };
  },
  async "the approval of a device"() {
    const [agent, device] = [await t.createAgent(), t.createUnknownAgent()];
    const session = await openPairing(t, agent);
    await claimPairing(t, session, device);
    const act = () => t.as(agent, "POST", `/pairing/${session.pairing_id}/approve`, {});
    const key = { ...agent, publicKey: device.publicKey };
    return { act, expected: ({ device_id }) => [bound(key, String(device_id))] };
  },
  async "the approval of a device that carries its agent's own key"() {
    const agent = await t.createAgent();
    const session = await openPairing(t, agent);
    await claimPairing(t, session, agent);
    const act = () => t.as(agent, "POST", `/pairing/${session.pairing_id}/approve`, {});
    return { act, expected: () => [] };
  },
  async "the revocation of a device"() {
    const agent = await t.createAgent();
    const device = await createPairedDevice(t, agent);
    const path = `/api/v1/agents/${agent.agentId}/devices/${device.deviceId}`;
    const act = () => t.as(agent, "DELETE", path);
    return { act, expected: () => [ended(device, device.deviceId)] };
  },
  async "the revocation of an agent with a device"() {
    const agent = await t.createAgent();
    const device = await createPairedDevice(t, agent);
    const act = () => t.asOperator("POST", `/api/v1/agents/${agent.agentId}/revoke`, {});
    return { act, expected: () => [ended(agent), ended(device, device.deviceId)] };
  },
  async "a proof that displaces another agent's binding"() {
    const displaced = await t.createAgent();
    const holder = createAgentWithKeyOf(t, displaced);
    const act = () => bootstrapWithProof(t, holder);
    return { act, expected: () => [bound(holder), ended(displaced)] };
  },
  ...Object.fromEntries(
    Object.entries(rotationRoutes).map(([name, rotate]) => [
      `a rotation by ${name}`,
      async () => {
        const agent = await t.createAgent();
        const rotation = createRotation(t, agent);
        const act = () => rotate(t, agent, rotation);
        return { act, expected: () => [ended(agent), bound(rotation.next)] };
      },
    ]),
  ),
};

describe("the keys in the log", () => {
  test.each(Object.entries(keyPlaces))(
    "TL9 keys are entered in the log once by %s",
    async (_, prepare) => {
      await start();
      await t.createAgent();
      const { act, expected } = await prepare();
      await t.clock.advance(1_000);
      const before = (await readLogEntries(t)).length;
      const { body } = await act();
      const entries = expected(body);
      expect((await readLogEntries(t)).slice(before)).toMatchObject(entries);
      await act();
      expect(await readLogEntries(t)).toHaveLength(before + entries.length);
    },
  );

  test("TL9 keys are not entered in the log when the request is refused", async () => {
    await start();
    const [agent, stranger] = [await t.createAgent(), t.createUnknownAgent()];
    const before = await readLogEntries(t);
    const other = { ...agent, publicKey: stranger.publicKey };
    const refused = await t.request("POST", "/api/v1/agents/bootstrap", bootstrapBody(other));
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(await readLogEntries(t)).toEqual(before);
  });
});

interface Settled {
  readonly task_id: string;
  readonly signature: string;
}

async function listSettlements(agent: TestAgent): Promise<Settled[]> {
  const { body } = await t.as(agent, "GET", `/api/v1/agents/${agent.agentId}/settlements`);
  return body["settlements"] as Settled[];
}

describe("the work in the log", () => {
  test("paid work is logged once as a receipt and a settlement for each hop, including nested ones", async () => {
    await start();
    const [boss, first, second] = [
      await createBuyer(t, 10),
      await createSeller(t, 5),
      await createSeller(t, 2),
    ];
    await t.deposit(first, 10);
    const outer = await submitAcceptedTask(t, boss, first);
    const inner = await submitAcceptedTask(t, first, second);
    const nested = createReceipt(second, inner);
    const receipt = createReceipt(first, outer, { delegation_receipts: [nested] });
    const before = (await readLogEntries(t)).length;
    for (let time = 0; time < 2; time += 1) {
      const answer = await t.as(first, "POST", `${outer.path}/result`, receipt);
      expect(answer).toMatchObject({ status: 200 });
      await t.as(second, "POST", `${inner.path}/result`, nested);
    }
    const [paid] = await listSettlements(boss);
    const [paidInner] = (await listSettlements(second)).filter(
      ({ task_id }) => task_id === inner.task_id,
    );
    const entries = (await readLogEntries(t)).slice(before);
    expect(entries).toHaveLength(4);
    const of = (kind: LogEntry["kind"], refTag: string) =>
      entries.find((entry) => entry.kind === kind && entry.refTag === refTag);
    for (const [task, worker, signed, settlement] of [
      [outer, first, receipt, paid],
      [inner, second, nested, paidInner],
    ] as const) {
      const [agentTag, refTag] = [tagOf("agent", worker.agentId), tagOf("ref", task.task_id)];
      expect(of("receipt", refTag)).toMatchObject({
        agentTag,
        keyTag: tagOf("key", worker.publicKey),
        artifactHash: artifactHashOf(signed),
      });
      expect(of("settlement", refTag)).toMatchObject({
        agentTag,
        keyTag: NO_TAG,
        artifactHash: unsignedHashOf(settlement!),
      });
    }
  });

  test("free work is logged as a receipt alone", async () => {
    await start();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 0)];
    const task = await submitAcceptedTask(t, boss, worker);
    const before = (await readLogEntries(t)).length;
    const receipt = createReceipt(worker, task);
    await t.as(worker, "POST", `${task.path}/result`, receipt);
    const entries = (await readLogEntries(t)).slice(before);
    expect(entries).toMatchObject([{ kind: "receipt", artifactHash: artifactHashOf(receipt) }]);
  });

  test("a receipt that was refused is not logged", async () => {
    await start();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    const before = await readLogEntries(t);
    const receipt = { ...createReceipt(worker, task), result: "another" };
    const answer = await t.as(worker, "POST", `${task.path}/result`, receipt);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await readLogEntries(t)).toEqual(before);
  });

  test("an idle worker is logged once as a no-show", async () => {
    await start();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker, { wall_clock_ms: 30_000 });
    // A claim from before the start of the relay would not count.
    await t.clock.advance(1_000);
    const claimed = await t.as(worker, "POST", `${task.path}/claim`);
    expect(claimed).toMatchObject({ status: 200 });
    const before = (await readLogEntries(t)).length;
    for (let time = 0; time < 5; time += 1) {
      await t.clock.advance(20_000);
      await t.relay.tick();
    }
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    const { body } = await t.as(boss, "GET", `${task.path}/evidence`);
    const [record] = body["no_shows"] as [{ readonly signature: string }];
    const entries = (await readLogEntries(t)).slice(before);
    expect(entries.filter(({ kind }) => kind === "no_show")).toMatchObject([
      {
        agentTag: tagOf("agent", worker.agentId),
        keyTag: NO_TAG,
        refTag: tagOf("ref", task.task_id),
        artifactHash: unsignedHashOf(record),
      },
    ]);
  });

  test("work between two relays is logged as a receipt and a settlement at each of them", async () => {
    await start();
    const sites = await startTwoSites();
    const { a, b, boss, worker, clock, proxies } = sites;
    const submitted = await a.as(boss, "POST", `/agent/${worker.agentId}/task`, { prompt: "work" });
    expect(submitted.status).toBe(201);
    const taskId = submitted.body["task_id"] as string;
    const task = await waitForTask(b, worker);
    await completeTask(b, worker, task);
    const listWork = async (site: TestRelay) =>
      (await readLogEntries(site)).filter(({ kind }) => kind !== "key_bound");
    await advanceUntil(clock, [a, b], { stepMs: 1_000, what: "both settlements" }, async () => {
      const all = await Promise.all([a, b].map(listWork));
      return all.every((entries) => entries.some(({ kind }) => kind === "settlement"));
    });
    await clock.advance(60_000);
    await Promise.all([a, b].map((site) => site.relay.tick()));
    for (const [site, id] of [
      [a, taskId],
      [b, task.task_id],
    ] as const) {
      const refTag = tagOf("ref", id);
      expect(await listWork(site)).toMatchObject([
        { kind: "receipt", agentTag: tagOf("agent", worker.agentId), refTag },
        { kind: "settlement", refTag },
      ]);
    }
    await closeSites([a, b], proxies);
  });
});

describe("the credentials in the log", () => {
  test("credentials are entered in the log once whenever they are issued, renewed or revoked", async () => {
    await start({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    const list = async () => {
      const path = `/api/v1/agents/${worker.agentId}/credentials`;
      const { body } = await t.as(worker, "GET", path);
      return body["credentials"] as { credential_id: string; credential: { id: string } }[];
    };
    const listKind = async (kind: LogEntry["kind"]) =>
      (await readLogEntries(t)).filter((entry) => entry.kind === kind);
    const expectAll = async () => {
      const shown = await list();
      const entries = await listKind("credential");
      expect(entries).toHaveLength(shown.length);
      for (const { credential } of shown) {
        expect(entries).toContainEqual(
          expect.objectContaining({
            agentTag: tagOf("agent", worker.agentId),
            keyTag: tagOf("key", worker.publicKey),
            refTag: tagOf("ref", credential.id),
            artifactHash: artifactHashOf(credential),
          }),
        );
      }
      return shown;
    };
    expect((await expectAll()).length).toBeGreaterThan(0);
    await t.clock.advance(3_600_001);
    const path = `/api/v1/agents/${worker.agentId}`;
    for (let time = 0; time < 2; time += 1) await t.as(worker, "POST", `${path}/presentation`);
    const shown = await expectAll();
    expect(shown.length).toBeGreaterThan(1);
    const credential_id = shown[0]!.credential_id;
    const revoked_at = t.clock.now();
    for (const body of [{ credential_id }, { credential_id, reason: "again" }]) {
      await t.as(worker, "POST", `${path}/revoke-credential`, body);
      await t.clock.advance(1_000);
    }
    expect(await listKind("credential_revoked")).toMatchObject([
      {
        agentTag: tagOf("agent", worker.agentId),
        keyTag: tagOf("key", worker.publicKey),
        refTag: tagOf("ref", credential_id),
        artifactHash: artifactHashOf({ credential_id, revoked_at }),
      },
    ]);
  });
});

const logState = {
  one: 1 as const,
  origin: "log.example",
  generation: 0,
  incarnation: 0,
  began_at: 0,
  keys_entered: 1,
  published: 0,
  root_key: null,
};

/** Opens a storage of its own with the log on (1) or off (0), beside the relay that ends with each test. */
async function openWithLog(is_on: 0 | 1): Promise<Storage> {
  await start();
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { storage } = opened;
  await storage.transaction((tx) => saveLogState(tx, { ...logState, is_on }));
  return storage;
}

test("no entry is built while the log is off", async () => {
  const storage = await openWithLog(0);
  const build = vi.fn<() => Uint8Array>(() => new Uint8Array(90));
  for (const is_on of [0, 1]) {
    await storage.transaction(async (tx) => {
      await saveLogState(tx, { ...logState, is_on });
      await appendLog(tx, build);
      await appendLog(tx, build);
    });
    expect(build).toHaveBeenCalledTimes(2 * is_on);
    expect(await listEntriesAfter(storage.read, { after: 0, limit: 9 })).toHaveLength(2 * is_on);
  }
  await storage.close();
});

test("each entry is built once for transactions that are decided together", async () => {
  const storage = await openWithLog(1);
  const build = vi.fn<(number: number) => Uint8Array>((number) => new Uint8Array(90).fill(number));
  const numbers = Array.from({ length: 20 }, (_, at) => at + 1);
  await Promise.all(
    numbers.map((number) =>
      storage.transaction((tx) => appendLog(tx, () => build(number)), "together"),
    ),
  );
  expect(build).toHaveBeenCalledTimes(numbers.length);
  const entries = await listEntriesAfter(storage.read, { after: 0, limit: 99 });
  expect(entries.map(([first]) => first)).toEqual(numbers);
  await storage.close();
});

test("TL9 transactions that fail in a batch leave neither entries nor gaps", async () => {
  const storage = await openWithLog(1);
  const entryOf = (number: number) => new Uint8Array(90).fill(number);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, number) =>
      storage.transaction(async (tx) => {
        await appendLog(tx, () => entryOf(number));
        if (number % 3 === 1) throw new Error("a transaction that fails");
        return { ok: number % 3 === 0 } as const;
      }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(10);
  // The entries of the other transactions have the indexes 1 to 10; a gap would end the list early.
  const entries = await listEntriesAfter(storage.read, { after: 0, limit: 100 });
  expect(entries.map(([first]) => first).toSorted((a, b) => a! - b!)).toEqual(
    Array.from({ length: 10 }, (_, at) => at * 3),
  );
  const tenth = await listEntriesAfter(storage.read, { after: 9, limit: 100 });
  expect(tenth).toHaveLength(1);
  await storage.close();
});
