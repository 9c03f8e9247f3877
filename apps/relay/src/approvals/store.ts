import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { ApprovalRow, ApprovalVoteRow } from "../storage/tables/approvals.ts";

export type ApprovalKey = Pick<ApprovalRow, "agent_id" | "approval_id">;

const approvalByKey = prepare<ApprovalKey>()(
  db
    .selectFrom("approvals")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("approval_id", "=", p("approval_id")),
);

export function findApproval(read: Reader, key: ApprovalKey): Promise<ApprovalRow | undefined> {
  return read.get(approvalByKey, key);
}

const votesByKey = prepare<ApprovalKey>()(
  db
    .selectFrom("approval_votes")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("approval_id", "=", p("approval_id"))
    .orderBy("approver_id"),
);

/** One row for each approver, whether or not it has voted. */
export function votesOn(read: Reader, key: ApprovalKey): Promise<ApprovalVoteRow[]> {
  return read.all(votesByKey, key);
}

const addApproval = prepare<ApprovalRow>()(
  db.insertInto("approvals").values({
    agent_id: p("agent_id"),
    approval_id: p("approval_id"),
    sequence: p("sequence"),
    tool_name: p("tool_name"),
    args_hash: p("args_hash"),
    quorum_required: p("quorum_required"),
    status: p("status"),
    created_at: p("created_at"),
    resolved_at: p("resolved_at"),
  }),
);

const addApprover = prepare<Pick<ApprovalVoteRow, "approver_id" | "sequence"> & ApprovalKey>()(
  db.insertInto("approval_votes").values({
    agent_id: p("agent_id"),
    approval_id: p("approval_id"),
    approver_id: p("approver_id"),
    sequence: p("sequence"),
  }),
);

export async function insertApproval(
  tx: Tx,
  approval: ApprovalRow,
  approvers: Iterable<string>,
): Promise<void> {
  await tx.run(addApproval, approval);
  for (const approver_id of approvers) await tx.run(addApprover, { ...approval, approver_id });
}

type Vote = ApprovalKey & {
  approver_id: string;
  decision: "approve" | "deny";
  signature: string;
  now: number;
};

const castVote = prepare<Vote>()(
  db
    .updateTable("approval_votes")
    .set({ decision: p("decision"), signature: p("signature"), voted_at: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("approval_id", "=", p("approval_id"))
    .where("approver_id", "=", p("approver_id"))
    .where("decision", "is", null),
);

/** False when the approver has voted before. */
export async function markVote(tx: Tx, vote: Vote): Promise<boolean> {
  return (await tx.run(castVote, vote)) === 1;
}

type Change = ApprovalKey & Pick<ApprovalRow, "status" | "resolved_at"> & { from: string };

const changeStatus = prepare<Change>()(
  db
    .updateTable("approvals")
    .set({ status: p("status"), resolved_at: p("resolved_at") })
    .where("agent_id", "=", p("agent_id"))
    .where("approval_id", "=", p("approval_id"))
    .where("status", "=", p("from")),
);

/** False when it was not in the state `from`. */
export async function changeApproval(tx: Tx, change: Change): Promise<boolean> {
  return (await tx.run(changeStatus, change)) === 1;
}

export interface ApprovalQuery {
  readonly agent_id: string;
  /** Empty: any. */
  readonly status: string;
  readonly before: string;
  readonly limit: number;
}

const statusIs = sql<boolean>`(${p("status")} = '' or status = ${p("status")})`;

const approvalsByAgent = prepare<ApprovalQuery>()(
  db
    .selectFrom("approvals")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("sequence", "<", p("before"))
    .where(statusIs)
    .orderBy("sequence", "desc")
    .limit(p("limit")),
);

const approvalsByApprover = prepare<ApprovalQuery>()(
  db
    .selectFrom("approval_votes as vote")
    .innerJoin("approvals", (join) =>
      join
        .onRef("approvals.agent_id", "=", "vote.agent_id")
        .onRef("approvals.approval_id", "=", "vote.approval_id"),
    )
    .selectAll("approvals")
    .where("vote.approver_id", "=", p("agent_id"))
    .where("vote.sequence", "<", p("before"))
    .where(statusIs)
    .orderBy("vote.sequence", "desc")
    .limit(p("limit")),
);

/** Newest first: those that an agent asked for. */
export function approvalsOf(read: Reader, query: ApprovalQuery): Promise<ApprovalRow[]> {
  return read.all(approvalsByAgent, query);
}

/** Newest first: those that an agent may vote on. */
export function approvalsFor(read: Reader, query: ApprovalQuery): Promise<ApprovalRow[]> {
  return read.all(approvalsByApprover, query);
}
