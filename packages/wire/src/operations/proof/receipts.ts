import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  extensibleEnum,
  looseObject,
  nextCursor,
  pageQuery,
  wholeNumber,
} from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";
import { TaskStatus } from "../tasks/task.ts";

/** A receipt in the archive; `status` is present while its task is stored. */
export const ArchivedReceipt = v.object({
  task_id: v.string(),
  receipt_hash: v.string(),
  received_at: describeAs(
    wholeNumber,
    "The time at which the receipt arrived, in ms since the Unix epoch.",
  ),
  status: describeAs(
    v.exactOptional(extensibleEnum(TaskStatus.options)),
    "The state of the task; absent once the task is no longer stored.",
  ),
});
export type ArchivedReceipt = v.InferInput<typeof ArchivedReceipt>;

export const receipts = {
  listReceipts: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/receipts",
    summary: "List the accepted receipts that an agent signed, newest task first.",
    section: "Receipts",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    query: v.object(pageQuery),
    ok: {
      200: v.object({
        receipts: describeAs(v.array(ArchivedReceipt), "The receipts, newest task first."),
        next_cursor: nextCursor,
      }),
    },
    refusals: ["request.invalid"],
  }),
  getReceipt: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/receipts/:taskId",
    summary:
      "Get a receipt that the agent signed, byte for byte as received if verifiers accept that text.",
    section: "Receipts",
    auth: "bearer",
    ownerOnly: true,
    scope: "task:read",
    tier: "read",
    rawAnswer: true,
    ok: { 200: looseObject },
    refusals: ["receipt.not_found"],
  }),
} as const;
