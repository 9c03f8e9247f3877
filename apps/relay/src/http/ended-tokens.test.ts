import { mintToken } from "@agent/client";
import type { TestAgent } from "@agent/testkit";
import { limits, scopes } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../test/devices.ts";
import { createSeller, submitAcceptedTask, type Delegation } from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { createReceipt, type Reply } from "../../test/test-relay.ts";

let t: ServedRelay;
let owner: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  owner = await t.createAgent();
  await t.deposit(owner, 10);
});
afterEach(() => t.close());

const pathOf = (rest: string) => `/api/v1/agents/${owner.agentId}/${rest}`;

/** Creates a token with a known id. */
const createNamedToken = (of: TestAgent, jti: string) =>
  mintToken({ ...of, audience: t.did, scope: scopes, now: t.clock.now(), jti });

/** The ways in which an owner ends the right of a token, and the answer to the token's next request. */
const endings: Record<string, { status: number; end: () => Promise<Reply> }> = {
  "its key is rotated": {
    status: 401,
    end() {
      const { succession } = createRotation(t, owner);
      return t.as(owner, "POST", pathOf("rotate-key"), { succession });
    },
  },
  "its agent is revoked": {
    status: 403,
    end: () => t.asOperator("POST", pathOf("revoke"), {}),
  },
  "it is revoked itself": {
    status: 401,
    end: () => t.as(owner, "POST", pathOf("revoke-tokens"), { jtis: ["stolen"] }),
  },
};
const ways = Object.keys(endings);
const endingOf = (way: string) => endings[way] as (typeof endings)[string];

/** Begins a withdrawal; its body ends when the returned function is called. */
function beginWithdrawal(token: string) {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  const answer = t.request("POST", pathOf("withdrawals"), {
    token,
    raw: readable,
    headers: { "content-type": "application/json" },
  });
  const text = JSON.stringify({ amount: 10, destination: "a thief" });
  const send = (part: string) => writer.write(new TextEncoder().encode(part));
  const begun = send(text.slice(0, 1));
  return async () => {
    await begun;
    await send(text.slice(1));
    await writer.close();
    return answer;
  };
}

describe("a body that arrives after its token has ended", () => {
  test.each(ways)("D10: a withdrawal under a token is refused when %s", async (way) => {
    const { status, end } = endingOf(way);
    const finish = beginWithdrawal(await createNamedToken(owner, "stolen"));
    await settleEventLoop();
    expect(await end()).toMatchObject({ status: 200 });
    expect(await finish()).toMatchObject({ status });
    expect(await t.getBalance(owner)).toBe(10);
  });

  test("D10: a withdrawal by a device that is revoked meanwhile is refused", async () => {
    const device = await createPairedDevice(t, owner, ["account:write"]);
    const finish = beginWithdrawal(await createNamedToken(device, "one"));
    await settleEventLoop();
    await t.as(owner, "DELETE", pathOf(`devices/${device.deviceId}`));
    expect(await finish()).toMatchObject({ status: 403 });
    expect(await t.getBalance(owner)).toBe(10);
  });

  test("D10: a withdrawal under another token of the agent is made", async () => {
    const finish = beginWithdrawal(await createNamedToken(owner, "kept"));
    await settleEventLoop();
    await endingOf("it is revoked itself").end();
    expect(await finish()).toMatchObject({ status: 201 });
    expect(await t.getBalance(owner)).toBe(0);
  });
});

describe("a response for which a token that has ended still waits", () => {
  let worker: TestAgent;
  let task: Delegation;
  beforeEach(async () => {
    worker = await createSeller(t, 0);
    task = await submitAcceptedTask(t, owner, worker);
  });

  /** A task that its executor has claimed outlives the revocation of its submitter. */
  const claim = async () =>
    expect(await t.as(worker, "POST", `${task.path}/claim`)).toMatchObject({ status: 200 });

  const complete = async () => {
    const receipt = createReceipt(worker, task, { result: "a secret" });
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  };

  /** Sends a message that waits for the end of its task. */
  const sendMessage = (token: string) =>
    t.request("POST", `/a2a/${worker.agentId}`, {
      token,
      headers: { "a2a-version": "1.0" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: "one", role: "ROLE_USER", parts: [{ text: "work" }] } },
      },
    });

  /** Finds the task of a message once it exists. */
  async function findSentTask(): Promise<Delegation> {
    const list = () => t.as(worker, "GET", `/agent/${worker.agentId}/tasks`);
    await vi.waitFor(async () => expect((await list()).body["tasks"]).toHaveLength(2));
    await settleEventLoop();
    const tasks = (await list()).body["tasks"] as Delegation[];
    const { task_id = "" } = tasks.find((each) => each.task_id !== task.task_id) ?? {};
    return { ...task, task_id, path: `/agent/${worker.agentId}/task/${task_id}` };
  }

  test.each(ways)("D10: a stream of a task shows no further event when %s", async (way) => {
    await claim();
    const authorization = `Bearer ${await createNamedToken(owner, "stolen")}`;
    const answer = await fetch(`${t.baseUrl}${task.path}/events`, { headers: { authorization } });
    const text = answer.text();
    await settleEventLoop();
    await endingOf(way).end();
    await complete();
    expect(await text).toContain("event: submitted");
    expect(await text).not.toContain("event: completed");
  });

  test.each(ways)("D10: a long poll shows no result when %s", async (way) => {
    const { status, end } = endingOf(way);
    await claim();
    const token = await createNamedToken(owner, "stolen");
    const poll = t.request("GET", `${task.path}?wait=30`, { token });
    await settleEventLoop();
    await end();
    await complete();
    const { text, ...answer } = await poll;
    expect(answer).toMatchObject({ status });
    expect(text).not.toContain("a secret");
  });

  test.each(ways)("D10: an A2A message that waits shows no result when %s", async (way) => {
    const sent = sendMessage(await createNamedToken(owner, "stolen"));
    task = await findSentTask();
    await claim();
    await endingOf(way).end();
    await complete();
    const { status, text } = await sent;
    expect(status).toBe(200);
    expect(text).toContain("TASK_STATE_WORKING");
    expect(text).not.toContain("a secret");
  });

  test("D10: an A2A message under another token of the agent shows the result", async () => {
    const sent = sendMessage(await createNamedToken(owner, "kept"));
    task = await findSentTask();
    await endingOf("it is revoked itself").end();
    await complete();
    expect((await sent).text).toContain("a secret");
  });

  test("D10: a long poll whose token merely expires while another token is revoked shows the result", async () => {
    const token = await createNamedToken(owner, "kept");
    await t.clock.advance(limits.tokenLifetimeMs - 1_000);
    const poll = t.request("GET", `${task.path}?wait=60`, { token });
    await settleEventLoop();
    await endingOf("it is revoked itself").end();
    await t.clock.advance(2_000);
    await complete();
    expect(await poll).toMatchObject({ status: 200, body: { task: { status: "completed" } } });
    expect(await t.request("GET", task.path, { token })).toMatchObject({ status: 401 });
  });

  test("D10: a long poll under another token of the agent shows the result", async () => {
    const token = await createNamedToken(owner, "kept");
    const poll = t.request("GET", `${task.path}?wait=30`, { token });
    await settleEventLoop();
    await endingOf("it is revoked itself").end();
    await complete();
    expect(await poll).toMatchObject({ status: 200, body: { task: { status: "completed" } } });
  });
});
