import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { attenuateToken, issueToken } from "../../../test/agents/delegation-tokens.ts";
import { openEditedRelay, createRevocationSql } from "../../../test/stored/edited-relay.ts";
import { startNetwork } from "../../../test/network/network.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  submitTask,
  countStatuses,
  getTaskAt,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  boss = await createBuyer(t, 1_000);
  worker = await createSeller(t, 2);
});
afterEach(() => t.close());

const folder = mkdtempSync(join(tmpdir(), "relay-delegation-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function reopen(env: Record<string, string>): Promise<void> {
  await t.close();
  t = await startTestRelay(env);
  [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 2)];
}

/**
 * Expects the submission with a token for this delegate to be refused, without a hold or a task.
 */
async function expectNoDelegate(
  site: TestRelay,
  [payer, delegatee]: readonly [TestAgent, Pick<TestAgent, "agentId">],
  refusal: { readonly status: number; readonly code: string },
): Promise<void> {
  const before = await getAgentStates(site, [payer]);
  const delegation_token = issueToken(site, payer, delegatee);
  const { status, body } = await submitTask(site, payer, delegatee, { delegation_token });
  expect({ status, code: body["code"] }).toEqual(refusal);
  expect(await getAgentStates(site, [payer])).toEqual(before);
  const submitted = `/agent/${payer.agentId}/tasks?submitted_by=me`;
  expect((await site.as(payer, "GET", submitted)).body["tasks"]).toEqual([]);
}

const exceeded = { status: 402, body: { code: "delegation.budget_exceeded" } };

describe("a task with a delegation token", () => {
  test.each<[string, (token: object) => unknown]>([
    ["an object", (token) => token],
    ["its JSON text", (token) => JSON.stringify(token)],
  ])("a task passes on a token that was submitted as %s", async (_, form) => {
    const token = issueToken(t, boss, worker);
    const { path } = await submitAcceptedTask(t, boss, worker, { delegation_token: form(token) });
    expect(await getTaskAt(t, path)).toMatchObject({ delegation_token: token });
  });

  test("a task with a token is assigned to its delegate alone, even if other agents rank higher", async () => {
    await createSeller(t, 1);
    const answer = await submitTask(t, boss, worker, {
      delegation_token: issueToken(t, boss, worker),
      required_capabilities: ["summarise"],
    });
    expect(answer.body).toMatchObject({ routing_choice: null, estimated_cost: 2 });
  });

  test.each<[string, string[], object]>([
    ["within the token's scope is accepted", ["read", "count"], { status: 200 }],
    [
      "outside the token's scope is refused",
      ["read", "write"],
      { status: 403, body: { code: "receipt.out_of_scope" } },
    ],
  ])("a result with tools %s", async (_, tools_used, expected) => {
    const task = await submitAcceptedTask(t, boss, worker, {
      delegation_token: issueToken(t, boss, worker),
    });
    const answer = await t.as(
      worker,
      "POST",
      `${task.path}/result`,
      createReceipt(worker, task, { tools_used }),
    );
    expect(answer).toMatchObject(expected);
  });

  test("a task is refused when its token is signed by a key that is not its issuer's", async () => {
    const { secretKey, publicKey } = t.createUnknownAgent();
    const token = issueToken(t, { ...boss, secretKey, publicKey }, worker);
    expect(await submitTask(t, boss, worker, { delegation_token: token })).toMatchObject({
      status: 403,
      body: { code: "delegation.key_unbound" },
    });
  });
});

test("a delegation token of an issuer that was revoked is refused", async () => {
  const edited = await openEditedRelay(createRevocationSql);
  const { t: again, agent } = edited;
  const delegate = await again.createAgent();
  const answer = await again.asOperator("POST", `/agent/${delegate.agentId}/task`, {
    prompt: "work",
    submitted_by: agent.agentId,
    delegation_token: issueToken(again, agent, delegate),
  });
  expect(answer).toMatchObject({ status: 403, body: { code: "delegation.key_unbound" } });
  await edited.close();
});

describe("the budget of a delegation token", () => {
  test.each([
    [1.999999, exceeded],
    [2, { status: 201, body: { amount_locked: 2 } }],
    [2.1, { status: 201, body: { amount_locked: 2.1 } }],
    [3, { status: 201, body: { amount_locked: 2.4 } }],
  ])("a budget of %f limits the price of 2 and its hold", async (max_budget, expected) => {
    const delegation_token = issueToken(t, boss, worker, { max_budget });
    expect(await submitTask(t, boss, worker, { delegation_token })).toMatchObject(expected);
  });

  test.each([
    ["in memory", {}],
    ["in a file", { AGENT_DB_PATH: join(folder, "relay.db") }],
  ])("the budget of a token is never exceeded by 64 submissions at once, %s", async (_, env) => {
    await reopen(env);
    const delegation_token = issueToken(t, boss, worker, { max_budget: 24 });
    const token = await t.token(boss);
    const request = { token, body: { prompt: "work", delegation_token } };
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => t.request("POST", `/agent/${worker.agentId}/task`, request)),
    );
    expect(countStatuses(answers)).toEqual({ 201: 10, 402: 54 });
    expect(await t.getBalance(boss)).toBe(976);
    await expectConsistentBooks(t, { holds: 24 });
  });

  test("the budget of a token limits the sum of all its children", async () => {
    const root = issueToken(t, worker, boss, { max_budget: 5 });
    const submitChild = (token_id: string) =>
      submitTask(t, boss, worker, {
        delegation_token: attenuateToken(root, boss, worker, { token_id }),
      });
    const statuses = [];
    for (const id of ["a", "b", "c"]) statuses.push((await submitChild(id)).status);
    expect(statuses).toEqual([201, 201, 402]);
  });

  const finish = (task: Delegation, status: "completed" | "failed") =>
    t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task, { status }));

  test.each<[string, (task: Delegation) => Promise<unknown>, left: number]>([
    ["settlement", (task) => finish(task, "completed"), 2],
    ["a refund", (task) => finish(task, "failed"), 4],
    ["cancelling", ({ path }) => t.as(boss, "POST", `${path}/cancel`), 4],
    [
      "expiry",
      async () => {
        await t.clock.advance(900_001);
        await t.relay.tick();
      },
      4,
    ],
  ])(
    "the budget of a token and of its parents is reduced, after %s, by the charge only",
    async (_, end, left) => {
      const root = issueToken(t, worker, boss, { max_budget: 4 });
      const delegation_token = attenuateToken(root, boss, worker);
      await end(await submitAcceptedTask(t, boss, worker, { delegation_token }));
      const sibling = attenuateToken(root, boss, worker, { token_id: "sibling" });
      for (const next of [delegation_token, sibling]) {
        const { path } = await submitAcceptedTask(t, boss, worker, { delegation_token: next });
        const { amount_locked } = await getTaskAt(t, path);
        expect(amount_locked).toBe(Math.min(left, 2.4));
        await t.as(boss, "POST", `${path}/cancel`);
      }
    },
  );

  /** A token with a fixed name, issued now for an hour. */
  const budgetOf = (max_budget: number) => issueToken(t, boss, worker, { max_budget });

  const pass = async (ms: number) => {
    await t.clock.advance(ms);
    await t.relay.tick();
  };
  const hour = 3_600_000;

  describe("the sum of a delegation token that has ended", () => {
    test("a token with the name of an ended one begins a new sum only after a minute for submissions in progress", async () => {
      await finish(
        await submitAcceptedTask(t, boss, worker, { delegation_token: budgetOf(3) }),
        "completed",
      );
      await pass(hour + 59_999);
      expect(await submitTask(t, boss, worker, { delegation_token: budgetOf(3) })).toMatchObject(
        exceeded,
      );
      await pass(hour + 60_000);
      expect(await submitTask(t, boss, worker, { delegation_token: budgetOf(3) })).toMatchObject({
        status: 201,
        body: { amount_locked: 2.4 },
      });
    });

    test("a token with the name of an ended one begins no new sum while a task under the ended one is open", async () => {
      await reopen({ AGENT_TASK_TTL_MS: String(3 * hour) });
      const task = await submitAcceptedTask(t, boss, worker, { delegation_token: budgetOf(3) });
      await pass(2 * hour);
      expect(await submitTask(t, boss, worker, { delegation_token: budgetOf(3) })).toMatchObject(
        exceeded,
      );
      await finish(task, "completed");
      await pass(2 * hour);
      expect(await submitTask(t, boss, worker, { delegation_token: budgetOf(3) })).toMatchObject({
        status: 201,
        body: { amount_locked: 2.4 },
      });
    });

    test("the sum of an ended token is kept as long as the last token of its name", async () => {
      const delegation_token = issueToken(t, boss, worker, {
        max_budget: 5,
        expires_at: t.clock.now() + 5 * hour,
      });
      await finish(
        await submitAcceptedTask(t, boss, worker, { delegation_token: budgetOf(5) }),
        "completed",
      );
      await finish(await submitAcceptedTask(t, boss, worker, { delegation_token }), "completed");
      await pass(4 * hour);
      expect(await submitTask(t, boss, worker, { delegation_token })).toMatchObject(exceeded);
    });
  });
});

describe("B4: the delegate of a token", () => {
  test("B4: the delegate must be known, because otherwise the task would wait until it expires", async () => {
    const refusal = { status: 404, code: "agent.not_found" };
    await expectNoDelegate(t, [boss, t.createUnknownAgent()], refusal);
    expect((await submitTask(t, boss, t.createUnknownAgent())).status).toBe(201);
  });

  test("B4: an invalid token does not reveal whether its delegate is known", async () => {
    const delegation_token = { ...issueToken(t, boss, t.createUnknownAgent()), scope: "all" };
    const target = { agentId: delegation_token.delegate_agent_id };
    expect(await submitTask(t, boss, target, { delegation_token })).toMatchObject({
      status: 403,
      body: { code: "delegation.signature_invalid" },
    });
  });

  test("B4: the delegate must be an agent of this relay, because tokens do not cross relays", async () => {
    const network = await startNetwork(["alpha", "beta"], [[0, 1]]);
    try {
      const [here, there] = network.sites;
      if (here === undefined || there === undefined) throw new Error("no network");
      const payer = await createBuyer(here, 10);
      const [remote, local] = [await there.createWorker(2), await here.createWorker(2)];
      const refusal = { status: 400, code: "delegation.remote_delegate" };
      await expectNoDelegate(here, [payer, remote], refusal);
      const unknown = { status: 404, code: "agent.not_found" };
      await expectNoDelegate(here, [payer, here.createUnknownAgent()], unknown);
      expect((await submitTask(here, payer, remote)).status).toBe(201);
      const delegation_token = issueToken(here, payer, local);
      expect((await submitTask(here, payer, local, { delegation_token })).status).toBe(201);
    } finally {
      await network.close();
    }
  });
});
