import { completeRelayed, releasePayable } from "@agent/federation-protocol/forwarding";
import type { SimRelay } from "./sim-relay.ts";

/** Applies the previous relay's answer about a result to the relay that sent it. */
export function completeRelayedTask(relay: SimRelay, taskId: string): void {
  const inbound = relay.store.inbound.get(taskId);
  const outbound = relay.store.outbound.get(taskId);
  if (inbound === undefined || outbound === undefined) return;
  if (inbound.task.state === "returning" || inbound.task.state === "running") return;
  const task = completeRelayed(outbound.task, inbound.task.state !== "void");
  const isOver = inbound.task.hold !== "open";
  relay.store.outbound.set(taskId, { ...outbound, task: isOver ? releasePayable(task) : task });
}
