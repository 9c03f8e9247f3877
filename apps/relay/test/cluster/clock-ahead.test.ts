import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createToken } from "@agent/testkit";
import { runStatement } from "@agent/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabaseOf } from "../engine/database-of-path.ts";
import { onlyOn } from "../engine/engine.ts";
import { createLoadAgents, requestJson, type LoadAgents } from "../load.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { startMember, type Member } from "./start-cluster.ts";

/** A step that a process follows at once, because it is below a minute, but nearly as long as a claim. */
const AHEAD_MS = 55_000;
/** Enough time for the leader to check twice for expired claims. */
const WATCHED_MS = 12_000;

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

describe.runIf(onlyOn("postgres"))("a leader whose clock goes ahead", () => {
  let databaseUrl: string;
  let ahead: number;
  let leader: Member;
  let load: LoadAgents;
  const members: Member[] = [];
  beforeEach(async () => {
    ahead = 0;
    databaseUrl = await openDatabaseOf(randomUUID());
    leader = await startMember(databaseUrl, {}, { aheadBy: () => ahead });
    members.push(leader);
    load = await createLoadAgents(leader.url);
    const account = `${leader.url}/api/v1/agents/${load.payer.agentId}/deposit`;
    await requestJson(account, OPERATOR_TOKEN, "POST", { amount: 100 });
  });
  afterEach(async () => {
    for (const member of members.splice(0)) await member.stop();
  });

  const query = (text: string, values: readonly unknown[] = []) =>
    runStatement(databaseUrl, text, values);

  async function submit({ url }: Member): Promise<string> {
    const token = await createToken(load.payer, load.did, { now: Date.now, randomBytes });
    const path = `${url}/agent/${load.worker.agentId}/task`;
    const { status, body } = await requestJson(path, token, "POST", { prompt: "work" });
    expect(status).toBe(201);
    return String(body["task_id"]);
  }

  async function claim({ url }: Member, taskId: string): Promise<void> {
    const token = await createToken(load.worker, load.did, { now: Date.now, randomBytes });
    const path = `${url}/agent/${load.worker.agentId}/task/${taskId}/claim`;
    expect((await requestJson(path, token, "POST", {})).status).toBe(200);
  }

  const findStatus = async (taskId: string) =>
    (await query("SELECT status FROM tasks WHERE task_id = $1", [taskId]))[0]?.["status"];

  const countLeaders = () =>
    query(
      `SELECT 1 FROM leases JOIN processes ON process_id = holder
       WHERE leases.until > extract(epoch FROM clock_timestamp()) * 1000`,
    );

  const leads = async ({ url }: Member) => {
    const { body } = await requestJson(`${url}/health/ready`, "");
    return JSON.stringify(body).includes(" leads");
  };

  test(
    "H31: a leader whose clock goes ahead ends no claim early, and another process leads",
    { timeout: 60_000 },
    async () => {
      const other = await startMember(databaseUrl);
      members.push(other);
      const taskId = await submit(other);
      await claim(other, taskId);
      ahead = AHEAD_MS;
      await sleep(WATCHED_MS);
      expect(await findStatus(taskId)).toBe("claimed");
      expect(await query("SELECT 1 FROM no_shows")).toEqual([]);
      expect(await leads(other)).toBe(true);
      const due = await submit(other);
      await query("UPDATE tasks SET expires_at = submitted_at WHERE task_id = $1", [due]);
      await expect.poll(() => findStatus(due), { timeout: 5_000 }).toBeUndefined();
    },
  );

  test(
    "a leader without other processes goes on by its own clock",
    { timeout: 60_000 },
    async () => {
      ahead = AHEAD_MS;
      await sleep(5_000);
      expect(await countLeaders()).toHaveLength(1);
      const due = await submit(leader);
      await query("UPDATE tasks SET expires_at = submitted_at WHERE task_id = $1", [due]);
      await expect.poll(() => findStatus(due), { timeout: 5_000 }).toBeUndefined();
    },
  );
});
