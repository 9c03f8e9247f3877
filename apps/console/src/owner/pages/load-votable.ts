import { limits, type Approval } from "@agent/wire";
import type { PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";
import { describeVote } from "../views/describe-vote.ts";

export type ShownApproval = Omit<Approval, "status" | "votes"> & {
  readonly status: string;
  readonly votes: readonly { readonly approver_id: string; readonly decision: string }[];
};

/** The calls that wait for an approver's vote. */
export interface VotableApprovals {
  /** Those of agents that the approver knows, newest first. */
  readonly known: readonly ShownApproval[];
  /** The newest one of each other agent, so that the calls of one do not hide those of another. */
  readonly unknown: readonly ShownApproval[];
  /** Whether more calls wait than were read. */
  readonly isCut: boolean;
}

/** The relay counts 60 reads a minute of one address, which the agent itself may share. */
const MAX_PAGES = 3;

/** Reads known and unknown agents apart, because those of one kind must not hide the other. */
export async function loadVotable(
  relay: Pick<RelayCaller, "call">,
  agentId: string,
): Promise<PageAnswer<VotableApprovals>> {
  const known = await loadPages(relay, agentId, "known");
  if (!known.ok) return known;
  const unknown = await loadPages(relay, agentId, "unknown");
  if (!unknown.ok) return unknown;
  const body = {
    known: known.body.approvals,
    unknown: unknown.body.approvals,
    isCut: known.body.isCut || unknown.body.isCut,
  };
  return { ok: true, body };
}

async function loadPages(
  relay: Pick<RelayCaller, "call">,
  agentId: string,
  requester: "known" | "unknown",
): Promise<PageAnswer<{ readonly approvals: ShownApproval[]; readonly isCut: boolean }>> {
  const listPage = (cursor: string | null) => {
    const wanted = { as: "approver", status: "pending", requester } as const;
    const query = { ...wanted, limit: limits.maxPageSize, ...(cursor !== null && { cursor }) };
    return relay.call("listApprovals", { params: { agentId }, query });
  };
  const approvals: ShownApproval[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await listPage(cursor);
    if (!answer.ok) return answer;
    approvals.push(...answer.body.approvals.filter((each) => describeVote(each, agentId).mayVote));
    cursor = answer.body.next_cursor;
    if (cursor === null) break;
  }
  return { ok: true, body: { approvals, isCut: cursor !== null } };
}
