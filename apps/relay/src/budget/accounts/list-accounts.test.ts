import type { AccountSummary } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const deposit = (agentId: string, body: object = { amount: 1 }) =>
  t.asOperator("POST", `/api/v1/agents/${agentId}/deposit`, body);

const accounts = async (query = ""): Promise<AccountSummary[]> =>
  (await t.asOperator("GET", `/api/v1/admin/accounts${query}`)).body[
    "accounts"
  ] as AccountSummary[];

describe("Deposits to unknown accounts", () => {
  test("A14: a deposit to an unknown id is credited and marked as such", async () => {
    const { agentId } = t.createUnknownAgent();
    expect(await deposit(agentId)).toMatchObject({
      status: 200,
      body: { agent_id: agentId, balance: 1, agent_known: false },
    });
    expect(await accounts()).toEqual([
      {
        agent_id: agentId,
        balance: 1,
        held: 0,
        pending_withdrawals: 0,
        card_held: 0,
        agent_known: false,
        last_at: t.clock.now(),
      },
    ]);
    await expectConsistentBooks(t, { balances: 1 });
  });

  test("A14: a deposit to a known agent is credited and marked as known", async () => {
    const { agentId } = await t.createAgent();
    expect(await deposit(agentId)).toMatchObject({ body: { balance: 1, agent_known: true } });
    expect(await accounts()).toMatchObject([{ agent_id: agentId, agent_known: true }]);
  });

  test("A14: a repeated deposit shows that an agent has registered under the id", async () => {
    const agent = t.createUnknownAgent();
    const body = { amount: 1, reference: "r-1" };
    expect(await deposit(agent.agentId, body)).toMatchObject({ body: { agent_known: false } });
    const key = { agent_id: agent.agentId, public_key: agent.publicKey };
    await t.request("POST", "/api/v1/agents/bootstrap", { body: key });
    expect(await deposit(agent.agentId, body)).toMatchObject({
      body: { balance: 1, idempotent: true, agent_known: true },
    });
    expect(await accounts()).toMatchObject([{ balance: 1, agent_known: true }]);
  });
});

describe("The operator's list of accounts", () => {
  test("A14: the operator's list of accounts shows held money and pending withdrawals beside the balance", async () => {
    const boss = await createBuyer(t, 10);
    await submitAcceptedTask(t, boss, await createSeller(t, 2));
    const withdrawal = { amount: 3, destination: "IBAN 1" };
    await t.as(boss, "POST", `/api/v1/agents/${boss.agentId}/withdrawals`, withdrawal);
    expect(await accounts()).toEqual([
      {
        agent_id: boss.agentId,
        balance: 4.6,
        held: 2.4,
        pending_withdrawals: 3,
        card_held: 0,
        agent_known: true,
        last_at: t.clock.now(),
      },
    ]);
  });

  test("A14: the operator's list has the largest balances or holds first, page by page, and no empty accounts", async () => {
    const [small, large] = [await createBuyer(t, 1), await createBuyer(t, 100)];
    const holder = await createBuyer(t, 5);
    await submitAcceptedTask(t, holder, await createSeller(t, 2));
    const seller = t.createUnknownAgent();
    await deposit(seller.agentId);
    const list = async (query: string) => {
      const ids: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const path = `/api/v1/admin/accounts?limit=1&${query}${cursor}`;
        const { status, body } = await t.asOperator("GET", path);
        expect(status).toBe(200);
        ids.push(...(body["accounts"] as { agent_id: string }[]).map((row) => row.agent_id));
        const next = body["next_cursor"] as string | null;
        cursor = next === null ? null : `&cursor=${next}`;
      }
      return ids;
    };
    const [first, second] = await list("sort=balance&nonzero=1");
    expect([first, second]).toEqual([large.agentId, holder.agentId]);
    expect((await list("sort=held&nonzero=1"))[0]).toBe(holder.agentId);
    const all = await list("sort=balance");
    expect(all).toHaveLength(4);
    expect(all).toContain(small.agentId);
  });

  test("A14: the operator's list of accounts lists accounts page by page in the order of agent ids", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(t.createUnknownAgent().agentId);
    for (const id of ids) await deposit(id);
    const seen: string[] = [];
    let query = "?limit=2";
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await t.asOperator("GET", `/api/v1/admin/accounts${query}`);
      seen.push(...(body["accounts"] as AccountSummary[]).map(({ agent_id }) => agent_id));
      query = `?limit=2&cursor=${String(body["next_cursor"])}`;
    }
    expect(seen).toEqual([...ids].sort());
  });

  test("A14: the list of accounts is refused to an agent, and with an invalid cursor", async () => {
    const agent = await t.createAgent();
    expect(await t.as(agent, "GET", "/api/v1/admin/accounts")).toMatchObject({ status: 403 });
    expect(await t.asOperator("GET", "/api/v1/admin/accounts?cursor=")).toMatchObject({
      status: 400,
    });
  });
});
