import { limits } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEditedRelay, type EditedRelay } from "../../test/stored/edited-relay.ts";

const count = 2 * limits.searchedAgents + 10;
const idAt = (number: number) => `10000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
const first = idAt(limits.searchedAgents / 2 - 1);
const found = idAt(limits.searchedAgents + 5);
const last = idAt(count - 1);

let edited: EditedRelay;
beforeAll(async () => {
  edited = await openEditedRelay(
    ({ agentId }) => `
      with recursive n(value) as (select 0 union all select value + 1 from n where value < ${count - 1})
      insert into agents
        select '10000000-0000-7000-8000-' || substr(cast(1000000000000 + n.value as text), 2), public_key, endpoint_url,
          capabilities, metadata, federation_visible, 1, created_at, last_seen_at, revoked_at, null,
          '50-10000000-0000-7000-8000-' || substr(cast(1000000000000 + n.value as text), 2)
        from n, agents where agent_id = '${agentId}';
      insert into agent_capabilities select 'x', agent_id, place from agents where registered = 1;
      delete from agents where agent_id = '${agentId}';
      update agents set metadata = '{"name":"needle"}' where agent_id in ('${found}', '${last}');`,
  );
});
afterAll(() => edited.close());

async function page(query: string): Promise<{ ids: string[]; cursor: string | null }> {
  const { status, body } = await edited.t.asOperator("GET", `/api/v1/agents/discover?${query}`);
  expect(status).toBe(200);
  const { agents, next_cursor } = body as {
    agents: { agent_id: string }[];
    next_cursor: string | null;
  };
  return { ids: agents.map(({ agent_id }) => agent_id), cursor: next_cursor };
}

async function walk(query: string): Promise<string[][]> {
  const pages: string[][] = [];
  let from = "";
  for (;;) {
    const { ids, cursor } = await page(`${query}${from}`);
    pages.push(ids);
    if (cursor === null) return pages;
    from = `&cursor=${cursor}`;
  }
}

describe("Discovery among more agents than one page scans", () => {
  test.each(["q=needle", "q=needle&capability=x"])(
    "a search finds all matches of %s over pages that each scan a limited number of agents",
    async (query) => {
      expect(await walk(query)).toEqual([[], [], [found], [], [last]]);
    },
  );

  test("the next page continues after the last agent that the page before it scanned", async () => {
    const { cursor } = await page("q=needle");
    expect(Buffer.from(cursor ?? "", "base64url").toString()).toBe(`.|50-${first}`);
  });

  test("B10: a forged cursor does not make a page scan more agents", async () => {
    const cursor = Buffer.from("/~/99/|/~/99/").toString("base64url");
    const { ids, cursor: next } = await page(`q=needle&cursor=${cursor}`);
    expect(ids).toEqual([]);
    expect(Buffer.from(next ?? "", "base64url").toString()).toBe(`.|50-${first}`);
  });

  test("a page is full when it finds enough agents", async () => {
    const { ids, cursor } = await page("q=&limit=2");
    expect(ids).toEqual([idAt(0), idAt(1)]);
    expect(cursor).not.toBeNull();
  });

  test("a page reads on to the end when the search contains no text", async () => {
    const after = Buffer.from(`.|50-${idAt(count - 3)}`).toString("base64url");
    expect(await page(`capability=x&cursor=${after}`)).toEqual({
      ids: [idAt(count - 2), last],
      cursor: null,
    });
  });
});
