import { limits, type Statement } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openEditedRelay, type EditedRelay } from "../../../test/stored/edited-relay.ts";

const MOVEMENTS = 10_000;

let state: EditedRelay;
/** Opens a relay with an agent whose account has many movements of one micro-unit, all of one time. */
beforeEach(async () => {
  state = await openEditedRelay(
    ({ agentId }) => `
      INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
        VALUES ('agent:${agentId}', ${MOVEMENTS}, 0, 0, ${MOVEMENTS});
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MOVEMENTS})
      INSERT INTO postings
        (account, sequence, transaction_id, type, amount, balance_after, reference_id, created_at)
        SELECT 'agent:${agentId}', i, '01999999-9999-7999-8999-' || substr(cast(1000000000000 + i as text), 2), 'deposit', 1, i,
          'task-' || '01999999-9999-7999-8999-' || substr(cast(1000000000000 + i as text), 2), 1000 FROM n;`,
    { AGENT_RATE_LIMIT_SCALE: "0" },
  );
});
afterEach(() => state.close());

const read = (query = "") =>
  state.t.as(state.agent, "GET", `/api/v1/agents/${state.agent.agentId}/statement${query}`);

test("H33: the pages of a long statement fit clients, adjoin each other and lead through all movements", async () => {
  const ids: string[] = [];
  let balance = 0;
  let cursor: string | null | undefined;
  do {
    const { status, text, body } = await read(cursor ? `?cursor=${cursor}` : "");
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.outboundBytes);
    const page = body as unknown as Statement;
    const { opening_balance, transactions, closing_balance } = page;
    expect(Math.round(opening_balance * 1e6)).toBe(balance);
    balance += transactions.reduce((sum, { amount }) => sum + Math.round(amount * 1e6), 0);
    expect(Math.round(closing_balance * 1e6)).toBe(balance);
    ids.push(...transactions.map(({ transaction_id }) => transaction_id));
    cursor = page.next_cursor;
  } while (cursor);
  expect(balance).toBe(MOVEMENTS);
  expect(new Set(ids).size).toBe(MOVEMENTS);
  expect(ids).toEqual(ids.toSorted());
});

test("H33: a statement of 10,000 movements as comma-separated values, which has no pages, fits clients", async () => {
  const { status, text } = await read("?format=csv");
  expect(status).toBe(200);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limits.outboundBytes);
  // The names of the columns and the two balances are lines as well.
  expect(text.trimEnd().split("\r\n")).toHaveLength(MOVEMENTS + 3);
});
