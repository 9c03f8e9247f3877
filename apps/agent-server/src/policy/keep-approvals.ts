import * as v from "valibot";
import type { ApprovalsFile } from "./approvals-file.ts";
import { createApprovals, type Approval, type Approvals, type Taken } from "./approvals.ts";
import type { Runtime } from "../runtime.ts";

/** What JSON reads as infinite could not be written again. */
const Time = v.pipe(v.number(), v.safeInteger());

const Kept = v.array(
  v.tuple([
    v.string(),
    v.object({
      approvalId: v.string(),
      tool: v.string(),
      risk: v.number(),
      caller: v.string(),
      argsHash: v.string(),
      args: v.nullable(v.looseObject({})),
      requestedAt: Time,
      expiresAt: Time,
      status: v.picklist(["pending", "approved", "denied"]),
    }),
  ]),
);

/**
 * The owner's approvals, which outlive the process. What was used up is written down before the call runs,
 * so that no approval counts twice, even after a crash.
 */
export function keepApprovals(
  file: ApprovalsFile,
  runtime: Pick<Runtime, "now" | "randomBytes">,
): Approvals {
  const book = createApprovals(runtime, keptIn(file));
  /** Approvals that the disk holds, so that they would be there again after a crash. */
  const onDisk = new Set(book.list().map(({ approvalId }) => approvalId));

  const save = () => file.write({ owner: book.entries() });

  return {
    list: () => book.list(),
    async decide(approvalId, status) {
      const decided = book.decide(approvalId, status);
      if (decided.ok && (await save())) onDisk.add(approvalId);
      return decided;
    },
    async take(call): Promise<Taken> {
      const taken = book.take(call);
      // The caller is told an id, which the owner must find after a crash as well.
      if (taken.status === "pending" && !onDisk.has(taken.approvalId) && (await save())) {
        onDisk.add(taken.approvalId);
      }
      if (taken.status !== "approved") return taken;
      const { approvalId } = taken;
      if ((await save()) || !onDisk.has(approvalId)) {
        onDisk.delete(approvalId);
        return taken;
      }
      const reason = "the use of its approval cannot be written down (approval.not_kept)";
      return { status: "refused", reason, approvalId };
    },
  };
}

function keptIn(file: ApprovalsFile): readonly (readonly [string, Approval])[] {
  const kept = v.safeParse(Kept, file.read["owner"] ?? []);
  if (kept.success) return kept.output;
  file.unreadable("the owner's approvals are not what was written");
  return [];
}
