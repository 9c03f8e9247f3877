import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";
import type { ApprovalRow } from "../storage/tables/approvals.ts";
import { BLOCKED, UNKNOWN } from "../trust/levels.ts";
import { isWaiting, matchesStatus, type ApprovalQuery } from "./store.ts";

/** A query of the calls that wait for an approver, `agent_id`, by who requested them. */
export interface WaitingQuery extends ApprovalQuery {
  readonly requester: "known" | "unknown";
}

/** A call and its place in the list, which sorts in descending order. */
export type WaitingRow = ApprovalRow & { readonly place: string };

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

/**
 * The decimal digits of the fees that the relay kept on the requester's tasks. Only the number of digits
 * counts, because the place is in the cursor, and the approver must not learn the sum.
 */
const digitsOfFees = sql<number>`coalesce((
  select length(cast(history.fees_kept + history.fees_paid as text))
  from agent_histories as history where history.agent_id = asking.agent_id), 1)`;

/** Walks from requester to requester by the index, so that it does not read all calls of strangers. */
export const waitingByRequester = compile<WaitingQuery>()(
  sql<WaitingRow>`
    with recursive asking(agent_id) as (
      select min(vote.agent_id) from approval_votes as vote where ${waitsForApprover}
      union all
      select (select min(vote.agent_id) from approval_votes as vote
        where ${waitsForApprover} and vote.agent_id > asking.agent_id)
      from asking where asking.agent_id is not null),
    chosen(agent_id, since, rank) as (
      select asking.agent_id,
        case when ${param("requester")} = 'known' then '' else ${newestPending} end,
        case when ${param("requester")} = 'known' then '' else (10 + ${digitsOfFees}) || '-' end
      from asking where asking.agent_id is not null and not ${isBlocked}
        and ${param("requester")} = case when ${isKnown} then 'known' else 'unknown' end)
    select approvals.*, chosen.rank || vote.sequence as place
    from chosen cross join approval_votes as vote cross join approvals
    where ${waitsForApprover} and vote.agent_id = chosen.agent_id
      and vote.sequence >= chosen.since and chosen.rank || vote.sequence < ${param("before")}
      and approvals.agent_id = vote.agent_id and approvals.approval_id = vote.approval_id
      and approvals.status = 'pending' and ${matchesStatus}
    order by place desc
    limit ${param("limit")}`,
);

/**
 * Lists the calls that wait for an approver: all calls of agents that it knows, newest first, or the newest
 * call of each other agent, so that a stranger with many calls does not hide those of another. Strangers
 * are ordered by the fees that their tasks paid to the relay, in powers of ten, because an identity is
 * free.
 */
export function listWaitingApprovals(read: Reader, query: WaitingQuery): Promise<WaitingRow[]> {
  return read.all(waitingByRequester, query);
}
