import type { Approval } from "@agent/wire";
import { useCallback } from "preact/hooks";
import { usePageContext } from "../shared/relay/page-context.ts";
import { useLoaded, type LoadedAnswer } from "../shared/relay/use-answer.ts";
import { useOwnerContext } from "./owner-context.ts";
import { describeVote } from "./views/describe-vote.ts";

/** The relay counts 60 reads a minute of one address, which the agent itself may share. */
const EVERY_MS = 15_000;

export type ShownApproval = Omit<Approval, "status" | "votes"> & {
  readonly status: string;
  readonly votes: readonly { readonly approver_id: string; readonly decision: string }[];
};

/** Reads the approvals that wait for this approver's vote, and again every 15 seconds. */
export function useVotableApprovals(): LoadedAnswer<readonly ShownApproval[]> {
  const { relay } = usePageContext();
  const { agentId } = useOwnerContext().device;
  const load = useCallback(async () => {
    const query = { as: "approver", status: "pending", limit: 50 } as const;
    const answer = await relay.call("listApprovals", { params: { agentId }, query });
    if (!answer.ok) return answer;
    const body = answer.body.approvals.filter((each) => describeVote(each, agentId).mayVote);
    return { ok: true as const, body };
  }, [relay, agentId]);
  return useLoaded(load, { everyMs: EVERY_MS });
}
