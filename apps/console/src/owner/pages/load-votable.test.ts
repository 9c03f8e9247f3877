import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import type { RelayCaller } from "../../shared/relay/call-relay.ts";
import { loadVotable, type ShownApproval } from "./load-votable.ts";

const OWN = "own agent";

const waiting = (agent_id: string, index: number): ShownApproval => ({
  approval_id: `${agent_id} ${index}`,
  agent_id,
  tool_name: "pay",
  args_hash: "",
  quorum_required: 1,
  quorum_approvers: [OWN],
  quorum_hash: "",
  status: "pending",
  votes: [],
  created_at: 0,
  resolved_at: null,
});

const many = (agentId: string, length: number) =>
  Array.from({ length }, (_, index) => waiting(agentId, index));

/** Answers with pages of these lists as a relay does, and records the queries. */
function newRelay(lists: { known: ShownApproval[]; unknown: ShownApproval[] }) {
  const asked: string[] = [];
  const call = async (_: string, request: { query: Record<string, string & number> }) => {
    const { requester, limit, cursor = "0", ...rest } = request.query;
    expect(rest).toEqual({ as: "approver", status: "pending" });
    asked.push(`${requester} ${cursor}`);
    const list = lists[requester as unknown as keyof typeof lists];
    const end = Number(cursor) + limit!;
    const next_cursor = end < list.length ? String(end) : null;
    return { ok: true, body: { approvals: list.slice(Number(cursor), end), next_cursor } };
  };
  return { relay: { call } as unknown as RelayCaller, asked };
}

async function load(lists: { known: ShownApproval[]; unknown: ShownApproval[] }, cursor?: string) {
  const { relay, asked } = newRelay(lists);
  const answer = await loadVotable(relay, OWN, cursor);
  if (!answer.ok) throw new Error(answer.code);
  return { ...answer.body, asked };
}

describe("the calls that wait for a vote", () => {
  test("the calls of known agents are read separately from those of strangers", async () => {
    const lists = { known: many("friend", 2), unknown: many("stranger", 1) };
    const { asked, ...body } = await load(lists);
    expect(body).toEqual({ ...lists, isCut: false, next: null });
    expect(asked).toEqual(["known 0", "unknown 0"]);
  });

  test("the calls of known agents are read page by page, up to the last one of three pages", async () => {
    const known = many("friend", 2 * limits.maxPageSize + 1);
    const { asked, ...body } = await load({ known, unknown: [] });
    expect(body).toEqual({ known, isCut: false, unknown: [], next: null });
    expect(asked).toEqual(["known 0", "known 200", "known 400", "unknown 0"]);
  });

  test("the calls of known agents beyond three pages are not read, and the page says so", async () => {
    const body = await load({ known: many("friend", 3 * limits.maxPageSize + 1), unknown: [] });
    expect(body.known).toHaveLength(3 * limits.maxPageSize);
    expect(body.isCut).toBe(true);
  });

  test("H21: however many calls strangers have, the owner sees every call of a known agent and can reach each of the others", async () => {
    const known = many("friend", 1);
    const unknown = Array.from({ length: 1_000 }, (_, index) => waiting(`stranger ${index}`, 0));
    const seen: ShownApproval[] = [];
    let cursor: string | undefined;
    do {
      const body = await load({ known, unknown }, cursor);
      expect(body).toMatchObject({ known, isCut: false });
      expect(body.asked).toEqual(["known 0", `unknown ${cursor ?? 0}`]);
      seen.push(...body.unknown);
      cursor = body.next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(unknown);
  });

  test("the calls that this approver has voted on are left out", async () => {
    const votes = [{ approver_id: OWN, decision: "approve" }];
    const known = [{ ...waiting("friend", 0), votes }, waiting("friend", 1)];
    expect((await load({ known, unknown: [] })).known).toEqual([known[1]]);
  });

  test("the calls that wait for a vote are not shown in part when the relay refuses", async () => {
    const refusal = { ok: false, code: "rate.exceeded", status: 429 };
    const relay = { call: async () => refusal } as unknown as RelayCaller;
    expect(await loadVotable(relay, OWN)).toEqual(refusal);
  });
});
