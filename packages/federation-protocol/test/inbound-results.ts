import type { ReceiptStatus } from "@agent/budget";
import type { Delivery } from "../src/delivery/delivery.ts";
import { finishInbound, type InboundTask } from "../src/forwarding/inbound-task.ts";
import { endReturn } from "../src/forwarding/result-return.ts";
import { buildInboundTask, NOW, SCHEDULE } from "./messages.ts";

export function buildFinishedTask(status: ReceiptStatus = "completed"): InboundTask {
  return finishInbound(
    buildInboundTask(),
    { status, receiptHash: "ab" },
    { now: NOW, ...SCHEDULE },
  );
}

/** Applies the answer to a result that was sent too late, unless `sentAt` says otherwise. */
export function applyAnswer(
  task: InboundTask,
  delivery: Delivery,
  sentAt = task.expiresAt,
): InboundTask {
  return endReturn(task, delivery, { ...SCHEDULE, sentAt, now: NOW });
}

export function buildAnswer(
  status: number,
  code: string | undefined = status < 400 ? undefined : "request.invalid",
): Delivery {
  return { kind: "answered", status, code };
}
