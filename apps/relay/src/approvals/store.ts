import { limits } from "@agent/wire";
import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import { jsonTexts } from "../storage/queries/fragments.ts";
import { matchesIfGiven } from "../storage/queries/matches-if-given.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { BLOCKED } from "../trust/levels.ts";
import type { ApprovalRow, ApprovalVoteRow } from "../storage/tables/approvals.ts";

export type ApprovalKey = Pick<ApprovalRow, "agent_id" | "approval_id">;

const approvalByKey = compile<ApprovalKey>()(
  queryBuilder
    .selectFrom("approvals")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("approval_id", "=", param("approval_id")),
);

export function findApproval(read: Reader, key: ApprovalKey): Promise<ApprovalRow | undefined> {
  return read.get(approvalByKey, key);
}

const votesByKey = compile<ApprovalKey>()(
  queryBuilder
    .selectFrom("approval_votes")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("approval_id", "=", param("approval_id"))
    .orderBy("approver_id"),
);

/** Lists one row for each approver, whether or not it has voted. */
export function listVotes(read: Reader, key: ApprovalKey): Promise<ApprovalVoteRow[]> {
  return read.all(votesByKey, key);
}

const insertApprovalQuery = compile<ApprovalRow>()(
  queryBuilder
    .insertInto("approvals")
    .values(
      params(
        "agent_id",
        "approval_id",
        "sequence",
        "tool_name",
        "args_hash",
        "quorum_required",
        "status",
        "created_at",
        "resolved_at",
        "arguments",
      ),
    ),
);

const insertApproverQuery = compile<
  Pick<ApprovalVoteRow, "approver_id" | "sequence"> & ApprovalKey
>()(
  queryBuilder
    .insertInto("approval_votes")
    .values(params("agent_id", "approval_id", "approver_id", "sequence")),
);

export async function insertApproval(
  tx: Tx,
  approval: ApprovalRow,
  approvers: Iterable<string>,
): Promise<void> {
  await tx.run(insertApprovalQuery, approval);
  for (const approver_id of approvers)
    await tx.run(insertApproverQuery, { ...approval, approver_id });
}

/** The requests of an agent that wait for the vote of one approver. */
export interface PendingCount {
  readonly approver_id: string;
  readonly count: number;
}

/** Whether a `vote` is still asked for. */
export const isWaiting = sql<boolean>`vote.decision is null and vote.closed is null`;

/** Reads no more of each approver's votes than refuse a request. */
export const pendingByApprover = compile<{ agent_id: string; after: string; approvers: string }>()(
  sql<PendingCount>`
    select approver.value as approver_id, (select count(*) from (
      select 1 from approval_votes as vote
      where vote.approver_id = approver.value and vote.agent_id = ${param("agent_id")}
        and vote.sequence > ${param("after")} and ${isWaiting}
      limit ${sql.lit(limits.pendingApprovals)}) as waiting) as count
    from ${jsonTexts(param("approvers"))} as approver`,
);

/** Counts the requests of an agent after a sequence that wait for these approvers, up to the limit. */
export function countPendingByApprover(
  read: Reader,
  { approvers, ...query }: { agent_id: string; after: string; approvers: Iterable<string> },
): Promise<PendingCount[]> {
  return read.all(pendingByApprover, { ...query, approvers: JSON.stringify([...approvers]) });
}

type Vote = ApprovalKey & {
  approver_id: string;
  decision: "approve" | "deny";
  signature: string;
  public_key: string;
  now: number;
};

/** Whether the key that signed a vote is in force; votes of earlier versions do not name it. */
const isInForce = sql<boolean>`(approval_votes.public_key is null
  or exists (select 1 from agents
    where agents.agent_id = approval_votes.approver_id
      and agents.public_key = approval_votes.public_key and agents.revoked_at is null)
  or exists (select 1 from devices
    where devices.agent_id = approval_votes.approver_id
      and devices.public_key = approval_votes.public_key and devices.revoked_at is null))`;

const recordVoteQuery = compile<Vote>()(
  queryBuilder
    .updateTable("approval_votes")
    .set({ ...params("decision", "signature", "public_key"), voted_at: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("approval_id", "=", param("approval_id"))
    .where("approver_id", "=", param("approver_id"))
    .where(sql<boolean>`(decision is null or not ${isInForce})`),
);

/** Replaces a vote whose key has ended; returns false when the approver has voted before with one in force. */
export async function recordVote(tx: Tx, vote: Vote): Promise<boolean> {
  return (await tx.run(recordVoteQuery, vote)) === 1;
}

const inFavourQuery = compile<ApprovalKey>()(
  sql<{ count: number }>`
    select count(*) as count from approval_votes
      where agent_id = ${param("agent_id")} and approval_id = ${param("approval_id")}
        and decision = 'approve' and ${isInForce}`,
);

/** Counts the votes for an approval whose keys are in force. */
export async function countVotesInFavour(read: Reader, key: ApprovalKey): Promise<number> {
  return (await read.get(inFavourQuery, key))?.count ?? 0;
}

type StatusChange = ApprovalKey & Pick<ApprovalRow, "status" | "resolved_at"> & { from: string };

const updateStatusQuery = compile<StatusChange>()(
  queryBuilder
    .updateTable("approvals")
    .set({ ...params("status", "resolved_at"), arguments: null })
    .where("agent_id", "=", param("agent_id"))
    .where("approval_id", "=", param("approval_id"))
    .where("status", "=", param("from")),
);

/** Returns false when the approval was not in the state `from`. */
export async function updateApprovalStatus(tx: Tx, change: StatusChange): Promise<boolean> {
  return (await tx.run(updateStatusQuery, change)) === 1;
}

const dropArgumentsQuery = compile<{ until: number; limit: number }>()(
  sql<never>`
    update approvals set arguments = null where (agent_id, approval_id) in (
      select agent_id, approval_id from approvals
      where arguments is not null and created_at <= ${param("until")} limit ${param("limit")})`,
);

/** Deletes the arguments of old approvals; returns their number. */
export function dropOldArguments(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(dropArgumentsQuery, old);
}

const closeVotesQuery = compile<ApprovalKey>()(
  queryBuilder
    .updateTable("approval_votes")
    .set({ closed: 1 })
    .where("agent_id", "=", param("agent_id"))
    .where("approval_id", "=", param("approval_id"))
    .where("decision", "is", null),
);

/** Ends the wait for the votes that a decided call no longer needs. */
export async function closeVotes(tx: Tx, key: ApprovalKey): Promise<void> {
  await tx.run(closeVotesQuery, key);
}

export interface ApprovalQuery {
  readonly agent_id: string;
  /** An empty text matches any status. */
  readonly status: string;
  readonly before: string;
  readonly limit: number;
}

/** Whether an approval is in the state that a list asks for. */
export const matchesStatus = matchesIfGiven("status");

const approvalsByAgent = compile<ApprovalQuery>()(
  queryBuilder
    .selectFrom("approvals")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("sequence", "<", param("before"))
    .where(matchesStatus)
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

const mayBeShown = sql<boolean>`(approvals.status != 'pending' or not exists (
  select 1 from trust_records as own
  where own.agent_id = vote.approver_id and own.remote_agent_id = approvals.agent_id
    and own.trust_level = ${sql.lit(BLOCKED)}))`;

const approvalsByApprover = compile<ApprovalQuery>()(
  queryBuilder
    .selectFrom("approval_votes as vote")
    .innerJoin("approvals", (join) =>
      join
        .onRef("approvals.agent_id", "=", "vote.agent_id")
        .onRef("approvals.approval_id", "=", "vote.approval_id"),
    )
    .selectAll("approvals")
    .where("vote.approver_id", "=", param("agent_id"))
    .where("vote.sequence", "<", param("before"))
    .where(matchesStatus)
    .where(mayBeShown)
    .orderBy("vote.sequence", "desc")
    .limit(param("limit")),
);

const approvalsOfAll = compile<Omit<ApprovalQuery, "agent_id">>()(
  queryBuilder
    .selectFrom("approvals")
    .selectAll()
    .where("sequence", "<", param("before"))
    .where(matchesStatus)
    .orderBy("sequence", "desc")
    .limit(param("limit")),
);

/** Lists the approvals of all agents, newest first. */
export function listApprovalsOfAll(
  read: Reader,
  query: Omit<ApprovalQuery, "agent_id">,
): Promise<ApprovalRow[]> {
  return read.all(approvalsOfAll, query);
}

/** Lists the approvals that an agent requested, newest first. */
export function listApprovalsByAgent(read: Reader, query: ApprovalQuery): Promise<ApprovalRow[]> {
  return read.all(approvalsByAgent, query);
}

/**
 * Lists the approvals that an agent may vote on, newest first, without pending ones of agents that it
 * has blocked.
 */
export function listApprovalsByApprover(
  read: Reader,
  query: ApprovalQuery,
): Promise<ApprovalRow[]> {
  return read.all(approvalsByApprover, query);
}
