import { createReceipt, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueToken } from "../../../test/agents/delegation-tokens.ts";
import {
  beginCase,
  beginDispute,
  createArbiter,
  createParties,
  deliver,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  putOffer,
  submitInspected,
} from "../../../test/inspections.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getAgentStates,
  getTaskAt,
  submitTask,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

const summarise = { required_capabilities: ["summarise"] };

const block = (by: TestAgent, whom: TestAgent) =>
  t.as(by, "PUT", `/api/v1/agents/${by.agentId}/trust/${whom.agentId}`, { trust_level: "blocked" });

describe("a submission that asks for an inspection", () => {
  test("a submission with an inspection is answered with terms that a later listing cannot change", async () => {
    const { boss, worker, arbiter } = parties;
    const acceptance = { window_ms: 60_000, arbiter_id: arbiter.agentId };
    const { status, body } = await submitTask(t, boss, worker, { acceptance });
    const terms = {
      window_ms: 60_000,
      answer_ms: 259_200_000,
      decision_ms: 604_800_000,
      arbiter_id: arbiter.agentId,
      fee_rate: 0.05,
      fee_min: 0.01,
      platform_fee_rate: 0.05,
    };
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { acceptance: terms, amount_locked: 2.4 },
    });
    await putOffer(t, worker, { window_ms: 70_000 });
    const path = `/agent/${worker.agentId}/task/${String(body["task_id"])}`;
    expect(await getTaskAt(t, path)).toMatchObject({
      acceptance: terms,
      submitter_inspections: { closed: 0, rejected: 0, lost: 0 },
    });
  });

  test("a submission makes the operator its arbiter by naming the relay's id, or by naming no arbiter", async () => {
    const { body: info } = await t.request("GET", "/.well-known/agent-relay.json");
    const arbiter_id = info["relay_id"];
    for (const acceptance of [{}, { arbiter_id }]) {
      const { body } = await submitTask(t, parties.boss, parties.worker, { acceptance });
      expect(body).toMatchObject({ acceptance: { window_ms: 60_000, arbiter_id } });
    }
  });

  test.each<[string, string, () => Promise<[TestAgent, TestAgent, object]>]>([
    [
      "a longer window than is offered",
      "acceptance.not_offered",
      async () => [parties.boss, parties.worker, { window_ms: 60_001 }],
    ],
    [
      "a window below the relay's",
      "request.invalid",
      async () => [parties.boss, parties.worker, { window_ms: 59_999 }],
    ],
    [
      "an agent without an offer",
      "acceptance.not_offered",
      async () => [parties.boss, await createSeller(t, 2), {}],
    ],
    ["itself", "acceptance.not_offered", async () => [parties.worker, parties.worker, {}]],
    [
      "an arbiter that the executor does not accept",
      "acceptance.arbiter_invalid",
      async () => [parties.boss, parties.worker, { arbiter_id: (await createArbiter(t)).agentId }],
    ],
    [
      "an arbiter that takes no cases any more",
      "acceptance.arbiter_invalid",
      async () => {
        const { arbiter } = parties;
        const path = `/api/v1/agents/${arbiter.agentId}/listing`;
        await t.as(arbiter, "POST", path, { capabilities: [] });
        return [parties.boss, parties.worker, { arbiter_id: arbiter.agentId }];
      },
    ],
    [
      "an arbiter that is revoked",
      "acceptance.arbiter_invalid",
      async () => {
        await t.asOperator("POST", `/api/v1/agents/${parties.arbiter.agentId}/revoke`, {});
        return [parties.boss, parties.worker, { arbiter_id: parties.arbiter.agentId }];
      },
    ],
    [
      "an arbiter that it blocks",
      "acceptance.arbiter_invalid",
      async () => {
        await block(parties.boss, parties.arbiter);
        return [parties.boss, parties.worker, { arbiter_id: parties.arbiter.agentId }];
      },
    ],
    [
      "an arbiter that the executor blocks",
      "acceptance.arbiter_invalid",
      async () => {
        await block(parties.worker, parties.arbiter);
        return [parties.boss, parties.worker, { arbiter_id: parties.arbiter.agentId }];
      },
    ],
    [
      "itself as its arbiter",
      "acceptance.arbiter_invalid",
      async () => {
        const { boss, worker } = parties;
        await t.as(boss, "POST", `/api/v1/agents/${boss.agentId}/listing`, {
          capabilities: [],
          arbitrates: true,
        });
        await putOffer(t, worker, { arbiters: [boss.agentId] });
        return [boss, worker, { arbiter_id: boss.agentId }];
      },
    ],
  ])("a submission with an inspection is refused for %s: %s", async (_, code, make) => {
    const [boss, worker, acceptance] = await make();
    const before = await getAgentStates(t, [boss]);
    const { body } = await submitTask(t, boss, worker, { acceptance });
    expect(body["code"]).toBe(code);
    expect(await getAgentStates(t, [boss])).toEqual(before);
  });

  test("a submission is refused if the target is the arbiter or blocks it, although another agent is chosen", async () => {
    const { boss, worker, arbiter } = parties;
    await putOffer(t, worker, { price: 1, arbiters: [arbiter.agentId] });
    const target = await t.createAgent();
    await block(target, arbiter);
    const body = { ...summarise, acceptance: { arbiter_id: arbiter.agentId } };
    for (const agent of [arbiter, target]) {
      const answer = await submitTask(t, boss, agent, body);
      expect(answer.body["code"]).toBe("acceptance.arbiter_invalid");
    }
    const { body: chosen } = await submitTask(t, boss, worker, body);
    expect(chosen).toMatchObject({ routing_choice: { selected_agent: worker.agentId } });
  });

  test("a submission with an inspection is refused for a submitter that has no key here", async () => {
    const { agentId: submitted_by } = t.createUnknownAgent();
    const { worker } = parties;
    const body = { prompt: "work", submitted_by, acceptance: {} };
    const answer = await t.asOperator("POST", `/agent/${worker.agentId}/task`, body);
    expect(answer.body["code"]).toBe("acceptance.not_offered");
    const unnamed = { prompt: "work", acceptance: {} };
    const other = await t.asOperator("POST", `/agent/${worker.agentId}/task`, unnamed);
    expect(other.body["code"]).toBe("acceptance.not_offered");
  });

  test("the account must cover the price and the arbitration fee of an inspected task", async () => {
    const short = await createBuyer(t, 2.099999);
    const refused = await submitTask(t, short, parties.worker, { acceptance: {} });
    expect(refused).toMatchObject({
      status: 402,
      body: { code: "budget.insufficient", estimated_cost: 2.1 },
    });
    expect(await t.getBalance(short)).toBe(2.099999);
    const enough = await createBuyer(t, 2.1);
    expect(await submitTask(t, enough, parties.worker, { acceptance: {} })).toMatchObject({
      body: { amount_locked: 2.1 },
    });
  });

  test.each([
    [2.099999, 402],
    [2.1, 201],
  ])("max_budget %f must cover an inspected task: %i", async (max_budget, status) => {
    const answer = await submitTask(t, parties.boss, parties.worker, {
      max_budget,
      acceptance: {},
    });
    expect(answer.status).toBe(status);
  });

  test("a delegation token must cover an inspected task, and its budget gets back all but the charge and the fee", async () => {
    const { boss, worker } = parties;
    const short = issueToken(t, boss, worker, { max_budget: 2.099999 });
    const refused = await submitTask(t, boss, worker, { delegation_token: short, acceptance: {} });
    expect(refused.body["code"]).toBe("delegation.budget_exceeded");
    const token = issueToken(t, boss, worker, { max_budget: 2.4, token_id: "sum" });
    const next = () => submitTask(t, boss, worker, { delegation_token: token, acceptance: {} });
    const { body } = await next();
    const path = `/agent/${worker.agentId}/task/${String(body["task_id"])}`;
    const submitted = {
      ...parties,
      task: {
        task_id: body["task_id"] as string,
        prompt: "work",
        submitted_at: t.clock.now(),
        path,
      },
      receiptHash: "",
    };
    const given = await deliver(t, submitted);
    // 2.1 of 2.4 are still held.
    expect((await next()).body["code"]).toBe("delegation.budget_exceeded");
    await giveVerdict(t, given, "rejected");
    await giveVerdict(t, given, "conceded");
    expect((await next()).status).toBe(201);
    await expectConsistentBooks(t);
  });

  test("a submission with an inspection is refused for the first rule that it breaks, and for lack of money last", async () => {
    const { boss, worker, arbiter } = parties;
    await t.deposit(boss, 200);
    const ask = async (acceptance: object, more: object = {}) =>
      (await submitTask(t, boss, worker, { acceptance, ...more })).body["code"];
    const foreign = { arbiter_id: (await createArbiter(t)).agentId };
    const poor = { max_budget: 0.000001 };
    const begun = [];
    for (let count = 0; count < 25; count += 1) begun.push(await beginCase(t, parties));
    for (const given of begun.slice(0, 20)) await giveVerdict(t, given, "rejected");
    expect(await ask({ ...foreign, window_ms: 60_001 }, poor)).toBe("acceptance.not_offered");
    expect(await ask(foreign, poor)).toBe("acceptance.arbiter_invalid");
    expect(await ask({}, poor)).toBe("dispute.too_many");
    await t.deposit(worker, 10);
    for (const given of begun.slice(15, 20)) {
      await giveVerdict(t, given, "contested");
      await giveVerdict(t, given, "accepted");
    }
    for (const given of begun.slice(20)) await giveVerdict(t, given, "rejected");
    expect(await ask({ ...foreign, window_ms: 60_001 })).toBe("acceptance.not_offered");
    expect(await ask(foreign)).toBe("acceptance.arbiter_invalid");
    expect(await ask({ arbiter_id: arbiter.agentId }, poor)).toBe("acceptance.suspended");
    const other = await createBuyer(t, 1);
    const { body } = await submitTask(t, other, worker, { acceptance: {} });
    expect(body["code"]).toBe("budget.insufficient");
  }, 30_000);

  test("a submission of a free task with an inspection is refused before its arbiter is checked", async () => {
    const worker = await t.createAgent();
    await putOffer(t, worker, { price: 0 });
    const { agentId: arbiter_id } = t.createUnknownAgent();
    const { body } = await submitTask(t, parties.boss, worker, { acceptance: { arbiter_id } });
    expect(body["code"]).toBe("acceptance.free_task");
  });
});

describe("scored routing for an inspected task", () => {
  test("scored routing drops cheaper agents that do not offer an inspection, and the arbiter itself", async () => {
    const { boss, worker, arbiter } = parties;
    await createSeller(t, 0.5);
    const shorter = await createSeller(t, 0.5);
    await putOffer(t, shorter, { price: 0.5, arbiters: [] });
    await t.as(arbiter, "POST", `/api/v1/agents/${arbiter.agentId}/listing`, {
      capabilities: ["summarise"],
      pricing: [{ capability: "summarise", unit_cost: 0.1 }],
      arbitrates: true,
      acceptance: { window_ms: 60_000 },
    });
    const { body } = await submitTask(t, boss, t.createUnknownAgent(), {
      ...summarise,
      acceptance: { arbiter_id: arbiter.agentId },
    });
    expect(body).toMatchObject({ routing_choice: { selected_agent: worker.agentId } });
  });

  test("IS10: routing skips an agent with as many open inspections as it offers, even for concurrent submissions", async () => {
    const { boss, worker } = parties;
    await t.deposit(boss, 100);
    await putOffer(t, worker, { price: 1, max_open: 2 });
    const other = await t.createAgent();
    await putOffer(t, other, { price: 3 });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        submitTask(t, boss, worker, { ...summarise, acceptance: {} }),
      ),
    );
    const chosen = answers.map(
      ({ body }) => (body["routing_choice"] as { selected_agent: string } | null)?.selected_agent,
    );
    expect(chosen.filter((id) => id === worker.agentId)).toHaveLength(2);
    expect(chosen.filter((id) => id === other.agentId)).toHaveLength(3);
    const direct = await submitTask(t, boss, worker, { acceptance: {} });
    expect(direct.body["code"]).toBe("acceptance.not_offered");
  });
});

test("IS10: routing finds an agent that can take an inspection behind 60 cheaper ones that cannot", async () => {
  const { boss, worker } = parties;
  await t.deposit(boss, 100);
  await putOffer(t, worker, { price: 1 });
  const full = await Promise.all(Array.from({ length: 60 }, () => t.createAgent()));
  for (const agent of full) {
    await putOffer(t, agent, { price: 0.01, max_open: 1 });
    expect((await submitTask(t, boss, agent, { acceptance: {} })).status).toBe(201);
  }
  const { body } = await submitTask(t, boss, worker, { ...summarise, acceptance: {} });
  expect(body).toMatchObject({ routing_choice: { selected_agent: worker.agentId } });
}, 60_000);

describe("routing of inspected tasks by price", () => {
  const choose = async (max_budget?: number) => {
    const { boss, worker } = parties;
    const cap = max_budget === undefined ? {} : { max_budget };
    const { body } = await submitTask(t, boss, worker, { ...summarise, ...cap, acceptance: {} });
    const { code, routing_choice: choice } = body;
    return code ?? (choice as { selected_agent: string } | null)?.selected_agent;
  };

  test("IS40: an agent that offers inspections of free work does not displace the agents that can be inspected", async () => {
    const free = await t.createAgent();
    await putOffer(t, free, { price: 0 });
    expect(await choose()).toBe(parties.worker.agentId);
    const direct = await submitTask(t, parties.boss, free, { acceptance: {} });
    expect(direct.body["code"]).toBe("acceptance.free_task");
  });

  test("an agent whose price and arbitration fee exceed max_budget is left out for one that fits", async () => {
    const cheaper = await t.createAgent();
    await putOffer(t, cheaper, { price: 1.9 });
    // A success makes the worker the first in the ranking.
    await giveVerdict(t, await beginCase(t, parties), "accepted");
    expect(await choose(2.1)).toBe(parties.worker.agentId);
    expect(await choose(2.099999)).toBe(cheaper.agentId);
    expect(await choose(1.995)).toBe(cheaper.agentId);
    expect(await choose(1.994999)).toBe("budget.max_exceeded");
  });
});

describe("limits against abuse", () => {
  test("IS4: a submitter with 20 rejected results may still reject, but may not request another inspection", async () => {
    const { boss } = parties;
    await t.deposit(boss, 100);
    for (let count = 0; count < 20; count += 1) {
      await giveVerdict(t, await beginCase(t, parties), "rejected");
    }
    const refused = await submitTask(t, boss, parties.worker, { acceptance: {} });
    expect(refused).toMatchObject({ status: 429, body: { code: "dispute.too_many" } });
    expect((await submitTask(t, boss, parties.worker)).status).toBe(201);
  });

  test("IS5: a submitter that lost 5 of its last cases is suspended for 7 days", async () => {
    const { boss } = parties;
    await t.deposit(boss, 100);
    for (let count = 0; count < 5; count += 1) {
      await giveVerdict(t, await beginDispute(t, parties, { named: false }), "accepted");
    }
    const ask = () => submitTask(t, boss, parties.worker, { acceptance: {} });
    expect(await ask()).toMatchObject({ status: 403, body: { code: "acceptance.suspended" } });
    const shown = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}`);
    expect(shown.body["inspections"]).toMatchObject({
      as_delegator: { closed: 5, rejected: 5, lost: 5 },
      as_executor: { closed: 0, rejected: 0, lost: 0 },
    });
    await t.clock.advance(7 * 86_400_000);
    expect(await ask()).toMatchObject({
      status: 201,
    });
  });

  test("IS6: an arbiter that left 3 cases in a row undecided cannot be named for 7 days", async () => {
    const { boss, worker, arbiter } = parties;
    await t.deposit(boss, 100);
    const cases = [];
    for (let count = 0; count < 3; count += 1) cases.push(await beginDispute(t, parties));
    await passDeadline(t, cases[2]!);
    for (const given of cases) {
      expect((await getCase(t, given)).arbiter_id).not.toBe(arbiter.agentId);
    }
    const shown = await t.as(boss, "GET", `/api/v1/agents/${arbiter.agentId}`);
    expect(shown.body["inspections"]).toMatchObject({ as_arbiter: { decided: 0, passed: 3 } });
    const ask = () => submitTask(t, boss, worker, { acceptance: { arbiter_id: arbiter.agentId } });
    expect((await ask()).body["code"]).toBe("acceptance.arbiter_invalid");
    await t.clock.advance(7 * 86_400_000);
    expect((await ask()).status).toBe(201);
  });

  test("an executor is warned when it cannot afford to contest all its open inspections", async () => {
    const { boss, worker } = parties;
    const read = async () => {
      const path = `/api/v1/agents/${worker.agentId}/visibility`;
      const { body } = await t.as(worker, "GET", path);
      return (body["checks"] as { check: string; ok: boolean; detail: string }[]).find(
        ({ check }) => check === "balance",
      );
    };
    expect(await read()).toBeUndefined();
    const open = [await beginCase(t, { ...parties, boss }), await beginCase(t, parties)];
    expect(await read()).toMatchObject({ ok: true });
    await submitTask(t, worker, await createSeller(t, 0.7));
    // The risk buffer leaves 0.16, which is enough for one contest and not for two.
    expect(await read()).toMatchObject({
      ok: false,
      detail: expect.stringContaining("0.2 USD to contest 2 open inspections") as string,
    });
    for (const given of open) await giveVerdict(t, given, "rejected");
    expect((await giveVerdict(t, open[0]!, "contested")).status).toBe(200);
    expect(await read()).toMatchObject({
      ok: false,
      detail: expect.stringContaining("0.1 USD to contest 1 open inspection,") as string,
    });
    await t.deposit(worker, 0.04);
    expect(await read()).toMatchObject({ ok: true });
  });
});

test.each(["failed", "denied"] as const)(
  "a task whose receipt says %s is refunded at once",
  async (status) => {
    const submitted = await submitInspected(t, parties);
    const { worker, boss, task } = submitted;
    const receipt = createReceipt(worker, task, { status });
    expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
    expect(await t.getBalance(boss)).toBe(10);
    expect((await t.as(boss, "GET", `${task.path}/inspection`)).body["code"]).toBe(
      "inspection.not_found",
    );
    await expectConsistentBooks(t, { holds: 0 });
  },
);
