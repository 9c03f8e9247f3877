import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";
import type { ApprovalRow } from "../storage/tables/approvals.ts";
import { BLOCKED, UNKNOWN } from "../trust/levels.ts";
import { isWaiting, matchesStatus, type ApprovalQuery } from "./store.ts";

/** A query of the calls that wait for an approver, `agent_id`, by who requested them. */
export interface WaitingQuery extends ApprovalQuery {
  readonly requester: "known" | "unknown";
}

const waitsForApprover = sql<boolean>`vote.approver_id = ${param("agent_id")} and ${isWaiting}`;

const ownTrust = sql`trust_records as own
  where own.agent_id = ${param("agent_id")} and own.remote_agent_id = asking.agent_id`;

const isKnown = sql<boolean>`(asking.agent_id = ${param("agent_id")}
  or exists (select 1 from approval_votes as earlier
    where earlier.approver_id = ${param("agent_id")} and earlier.agent_id = asking.agent_id
      and earlier.decision = 'approve')
  or exists (select 1 from ${ownTrust} and own.trust_level > ${sql.lit(UNKNOWN)}))`;

const isBlocked = sql<boolean>`exists (
  select 1 from ${ownTrust} and own.trust_level = ${sql.lit(BLOCKED)})`;

const newestPending = sql<string>`(
  select vote.sequence from approval_votes as vote
  where ${waitsForApprover} and vote.agent_id = asking.agent_id and exists (
    select 1 from approvals where approvals.agent_id = vote.agent_id
      and approvals.approval_id = vote.approval_id and approvals.status = 'pending')
  order by vote.sequence desc limit 1)`;

/** Walks from requester to requester by the index, so that it does not read all calls of strangers. */
export const waitingByRequester = compile<WaitingQuery>()(
  sql<ApprovalRow>`
    with recursive asking(agent_id) as (
      select min(vote.agent_id) from approval_votes as vote where ${waitsForApprover}
      union all
      select (select min(vote.agent_id) from approval_votes as vote
        where ${waitsForApprover} and vote.agent_id > asking.agent_id)
      from asking where asking.agent_id is not null),
    chosen(agent_id, since) as (
      select asking.agent_id,
        case when ${param("requester")} = 'known' then '' else ${newestPending} end
      from asking where asking.agent_id is not null and not ${isBlocked}
        and ${param("requester")} = case when ${isKnown} then 'known' else 'unknown' end)
    select approvals.* from chosen cross join approval_votes as vote cross join approvals
    where ${waitsForApprover} and vote.agent_id = chosen.agent_id
      and vote.sequence >= chosen.since and vote.sequence < ${param("before")}
      and approvals.agent_id = vote.agent_id and approvals.approval_id = vote.approval_id
      and approvals.status = 'pending' and ${matchesStatus}
    order by vote.sequence desc
    limit ${param("limit")}`,
);

/**
 * Lists the calls that wait for an approver, newest first: all of the agents that it knows, or the newest
 * one of each other agent, so that a stranger with many calls does not hide those of another.
 */
export function listWaitingApprovals(read: Reader, query: WaitingQuery): Promise<ApprovalRow[]> {
  return read.all(waitingByRequester, query);
}
