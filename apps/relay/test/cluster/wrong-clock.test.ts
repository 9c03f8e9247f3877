import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceipt, createToken, type TestAgent } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { federated } from "../contract/operator/federation.ts";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { onlyOn } from "../engine/engine.ts";
import { createLoadAgents, type LoadAgents } from "../load.ts";
import { createFakePeer } from "../network/fake-peer.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { listenAsDevice } from "./listen-as-device.ts";
import { call, startMember, type CallOptions, type Member } from "./start-cluster.ts";

const HOUR_MS = 3_600_000;
/** A step that a process follows at once, because it is below a minute. */
const STEP_MS = 55_000;
/** A task of this lifetime has ended for a process whose clock is a step ahead. */
const env = { ...federated, AGENT_TASK_TTL_MS: String(STEP_MS - 5_000) };
const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const unavailable = { status: 503, body: { code: "server.unavailable" } };

describe.runIf(onlyOn("postgres"))("a process whose clock differs from that of the leader", () => {
  let url: string;
  let leader: Member;
  let other: Member;
  let load: LoadAgents;
  let offsets: { leader: number; other: number };
  beforeEach(async () => {
    offsets = { leader: 0, other: 0 };
    url = await openDatabaseOf(randomUUID());
    leader = await startMember(url, env, { aheadBy: () => offsets.leader });
    other = await startMember(url, env, { aheadBy: () => offsets.other });
    load = await createLoadAgents(leader.url);
    const path = `/api/v1/agents/${load.payer.agentId}/deposit`;
    await call(leader, "POST", path, { token: OPERATOR_TOKEN, body: { amount: 100 } });
  });
  afterEach(async () => {
    for (const member of [other, leader]) await member.stop();
  });

  const createTokenAt = (agent: TestAgent, at: number) =>
    createToken(agent, load.did, { now: () => at, randomBytes });

  async function callAs(agent: TestAgent, member: Member, path: string, body?: object) {
    const options: CallOptions = { token: await createTokenAt(agent, Date.now()), body };
    return call(member, body === undefined ? "GET" : "POST", path, options);
  }

  /** Changes the clock of the other machine, and lets its process follow at once. */
  async function setClock(offset: number): Promise<void> {
    offsets.other = offset;
    const accepted = await call(other, "POST", "/api/v1/admin/clock/accept", {
      token: OPERATOR_TOKEN,
      body: {},
    });
    expect(accepted).toMatchObject({ status: 200 });
  }

  const balanceOf = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/balance`;

  test("A28: an hour-old token withdraws nothing at a process whose clock fell an hour behind", async () => {
    const { payer } = load;
    const token = await createTokenAt(payer, Date.now() - HOUR_MS);
    await setClock(-HOUR_MS);
    const path = `/api/v1/agents/${payer.agentId}/withdrawals`;
    const withdrawal = { token, body: { amount: 1, destination: "a thief" } };
    expect(await call(other, "POST", path, withdrawal)).toMatchObject(unavailable);
    expect(await call(leader, "POST", path, withdrawal)).toMatchObject({ status: 401 });
    expect(await callAs(payer, leader, path, { amount: 1, destination: "a bank" })).toMatchObject({
      status: 201,
    });
  });

  test("A28: a receipt that is in time is not refused for good by a process whose clock is ahead", async () => {
    const { payer, worker } = load;
    const tasks = `/agent/${worker.agentId}/task`;
    const { body } = await callAs(payer, leader, tasks, { prompt: "work" });
    const task_id = String(body["task_id"]);
    const receipt = createReceipt(worker, { task_id, prompt: "work", submitted_at: Date.now() });
    offsets.other = STEP_MS;
    const path = `${tasks}/${task_id}/result`;
    expect(await callAs(worker, other, path, receipt)).toMatchObject(unavailable);
    expect(await callAs(worker, leader, path, receipt)).toMatchObject({ status: 200 });
  });

  test("A28: a process whose clock is wrong closes its sockets and refuses new ones and peers until it is right", async () => {
    const peer = await createFakePeer({
      clock: { now: Date.now },
      relay: { relayId: leader.relay.relayId },
      request: (method, path, { body, headers = {} } = {}) =>
        call(other, method, path, { body, headers }),
    }).completeHandshake();
    const device = listenAsDevice(load.worker, other.url);
    await device.heard("ready");
    offsets.other = STEP_MS;
    expect(await peer.get("/federation/v1/peers")).toMatchObject(unavailable);
    await expect.poll(() => device.codes).toContain(1001);
    expect(device.received.filter(({ type }) => type === "ready")).toHaveLength(1);
    const ready = () => call(other, "GET", "/health/ready", { token: OPERATOR_TOKEN });
    await expect.poll(async () => (await ready()).status, { timeout: 8_000 }).toBe(503);
    offsets.other = 0;
    await device.heard("ready", 2);
    device.socket.close();
    expect(await peer.get("/federation/v1/peers")).toMatchObject({ status: 200 });
    expect(await callAs(load.payer, other, balanceOf(load.payer))).toMatchObject({ status: 200 });
  });

  test("A28: a process whose clock is an hour ahead does not postpone a task that waits to be routed again", async () => {
    await setClock(HOUR_MS);
    const tasks = `/agent/${load.worker.agentId}/task`;
    const task = { prompt: "work", ttl_ms: 2 * HOUR_MS };
    expect(await callAs(load.payer, leader, tasks, task)).toMatchObject({
      status: 201,
    });
    // Enough time for both processes to look for such tasks.
    await sleep(3_000);
    const [row] = await runStatement(url, "SELECT bring_at - submitted_at AS wait FROM tasks");
    expect(Number(row?.["wait"])).toBeLessThan(60_000);
  });

  test("processes go on serving while all their clocks differ from that of the database", async () => {
    offsets = { leader: STEP_MS, other: STEP_MS };
    const leads = async () =>
      (await call(leader, "GET", "/health/ready", { token: OPERATOR_TOKEN })).text.includes(
        "leads",
      );
    await expect.poll(leads, { timeout: 8_000 }).toBe(false);
    for (const member of [leader, other]) {
      const answer = () => callAs(load.payer, member, balanceOf(load.payer));
      await expect.poll(async () => (await answer()).status, { timeout: 8_000 }).toBe(200);
    }
  });

  test("a process whose clock differs by less than two seconds serves", async () => {
    offsets.other = 1_500;
    expect(await callAs(load.payer, other, balanceOf(load.payer))).toMatchObject({ status: 200 });
  });
});
