import { useCallback } from "preact/hooks";
import { usePageContext } from "../shared/relay/page-context.ts";
import { useLoaded, type LoadedAnswer } from "../shared/relay/use-answer.ts";
import { useOwnerContext } from "./owner-context.ts";
import { loadVotable, type VotableApprovals } from "./pages/load-votable.ts";

const EVERY_MS = 15_000;

/**
 * Reads the approvals that wait for this approver's vote, and again every 15 seconds. Of the calls of unknown
 * agents, it reads the page at a cursor, or the first page.
 */
export function useVotableApprovals(cursor?: string): LoadedAnswer<VotableApprovals> {
  const { relay } = usePageContext();
  const { agentId } = useOwnerContext().device;
  const load = useCallback(() => loadVotable(relay, agentId, cursor), [relay, agentId, cursor]);
  return useLoaded(load, { everyMs: EVERY_MS });
}

/** Returns the number of calls that wait for this approver's vote, 0 until it is known. */
export function useVotableCount(): number {
  const { body } = useVotableApprovals();
  return body === undefined ? 0 : body.known.length + body.unknown.length;
}
