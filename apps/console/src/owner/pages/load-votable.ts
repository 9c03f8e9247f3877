import { limits, type Approval } from "@agent/wire";
import type { PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";
import { describeVote, type VotedApproval } from "../views/describe-vote.ts";

export type ShownApproval = Omit<Approval, keyof VotedApproval> & VotedApproval;

/** The calls that wait for an approver's vote. */
export interface VotableApprovals {
  /** The calls of agents that the approver knows, newest first. */
  readonly known: readonly ShownApproval[];
  /** Whether more calls of known agents are waiting than were read. */
  readonly isCut: boolean;
  /** One page of the other agents' newest calls, one each, so that no agent's calls hide those of another. */
  readonly unknown: readonly ShownApproval[];
  /** The cursor of the next page of unknown agents; null after the last. */
  readonly next: string | null;
}

/** The relay allows 60 reads a minute per address, which the agent itself may share. */
const MAX_PAGES = 3;

/**
 * Reads the calls of known and unknown agents separately, so that neither hide the other: all of known agents
 * up to a limit, and one page of unknown agents, because anyone can create many of these.
 */
export async function loadVotable(
  relay: Pick<RelayCaller, "call">,
  agentId: string,
  cursor?: string,
): Promise<PageAnswer<VotableApprovals>> {
  const known: ShownApproval[] = [];
  let isCut = true;
  for (let page = 0, from: string | undefined; page < MAX_PAGES && isCut; page += 1) {
    const answer = await loadPage(relay, { agentId, requester: "known", cursor: from });
    if (!answer.ok) return answer;
    known.push(...answer.body.approvals);
    from = answer.body.next ?? undefined;
    isCut = from !== undefined;
  }
  const unknown = await loadPage(relay, { agentId, requester: "unknown", cursor });
  if (!unknown.ok) return unknown;
  const { approvals, next } = unknown.body;
  return { ok: true, body: { known, isCut, unknown: approvals, next } };
}

interface WaitingPage {
  readonly agentId: string;
  readonly requester: "known" | "unknown";
  readonly cursor: string | undefined;
}

async function loadPage(
  relay: Pick<RelayCaller, "call">,
  { agentId, requester, cursor }: WaitingPage,
): Promise<PageAnswer<{ readonly approvals: ShownApproval[]; readonly next: string | null }>> {
  const wanted = { as: "approver", status: "pending", requester } as const;
  const query = { ...wanted, limit: limits.maxPageSize, ...(cursor !== undefined && { cursor }) };
  const answer = await relay.call("listApprovals", { params: { agentId }, query });
  if (!answer.ok) return answer;
  const approvals = answer.body.approvals.filter((each) => describeVote(each, agentId).mayVote);
  return { ok: true, body: { approvals, next: answer.body.next_cursor } };
}
