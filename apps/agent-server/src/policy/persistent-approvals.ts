import * as v from "valibot";
import type { ApprovalsFile } from "./approvals-file.ts";
import {
  createApprovals,
  type Approval,
  type Approvals,
  type ApprovalAnswer,
} from "./approvals.ts";
import { storedHolder, watchStoredEntries } from "./stored-entries.ts";
import type { Runtime } from "../runtime.ts";

/** JSON can parse a number as infinite, but cannot write it again. */
const Time = v.pipe(v.number(), v.safeInteger());

const StoredApprovals = v.array(
  v.tuple([
    v.string(),
    v.object({
      approvalId: v.string(),
      tool: v.string(),
      risk: v.number(),
      ...storedHolder,
      argsHash: v.string(),
      args: v.nullable(v.looseObject({})),
      requestedAt: Time,
      expiresAt: Time,
      status: v.picklist(["pending", "approved", "denied"]),
    }),
  ]),
);

/**
 * Creates approvals that outlive the process. A consumed approval is written before the call runs,
 * so that it is never used twice, even after a crash, and an old copy of the file grants nothing.
 */
export function createPersistentApprovals(
  file: ApprovalsFile,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): Approvals {
  const byKey = new Map(parseStoredApprovals(file));
  const approvals = createApprovals(runtime, byKey);
  const stored = watchStoredEntries(byKey, () => file.write({ owner: [...byKey] }));

  return {
    list: () => approvals.list(),
    async decide(approvalId, status) {
      const decided = approvals.decide(approvalId, status);
      if (decided.ok) await stored.save();
      return decided;
    },
    async requestApproval(call): Promise<ApprovalAnswer> {
      const answer = approvals.requestApproval(call);
      // The caller receives the id, so the owner must find it after a crash as well.
      if (answer.status === "pending" && !stored.has(answer.approvalId)) await stored.save();
      if (answer.status !== "approved") return answer;
      const { approvalId } = answer;
      if ((await stored.save()) || !stored.has(approvalId)) return answer;
      const reason = "the use of its approval cannot be stored (approval.not_kept)";
      return { status: "refused", reason, approvalId };
    },
  };
}

/** The use of a granted approval may be missing in an old copy, so the owner must decide again. */
function askAgain(approval: Approval): Approval {
  return approval.status === "approved" ? { ...approval, status: "pending" } : approval;
}

function parseStoredApprovals(file: ApprovalsFile): readonly (readonly [string, Approval])[] {
  const parsed = v.safeParse(StoredApprovals, file.initialContent["owner"] ?? []);
  if (parsed.success) {
    return file.isCopy ? parsed.output.map(([key, one]) => [key, askAgain(one)]) : parsed.output;
  }
  file.logUnreadable("the owner's approvals are malformed");
  return [];
}
