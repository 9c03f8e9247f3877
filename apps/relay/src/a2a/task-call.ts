import { limits, type Refusal } from "@agent/wire";
import type { RequestContext } from "../http/mount.ts";
import type { Services } from "../services.ts";
import { poll } from "../tasks/poll.ts";
import { followEvents } from "../tasks/stream-events.ts";
import { a2aTask, artifactsOf, statusUpdate, type FoundTask } from "./a2a-task.ts";

/** A call about one task of the path's agent. */
export interface TaskCall {
  readonly agentId: string;
  readonly taskId: string;
  readonly context: RequestContext;
}

type Found = ({ readonly ok: true } & FoundTask) | Refusal;

export async function findTask(
  services: Services,
  { agentId, taskId, context: { caller, signal } }: TaskCall,
  { waitSeconds, after }: { waitSeconds: number; after?: number } = { waitSeconds: 0 },
): Promise<Found> {
  const answer = await poll(services, { agentId, taskId, waitSeconds, after, caller, signal });
  return "ok" in answer ? answer : { ok: true, ...answer.body };
}

/** The task when it has ended, or as it is once the caller has waited as long as a poll may. */
export async function awaitEnd(services: Services, call: TaskCall): Promise<Found> {
  const { runtime, waiters } = services;
  const until = runtime.now() + limits.pollWaitSeconds * 1_000;
  let found = await findTask(services, call);
  while (found.ok && isOpen(found) && !waiters.released() && !call.context.signal.aborted) {
    const waitSeconds = (until - runtime.now()) / 1_000;
    if (waitSeconds <= 0) return found;
    found = await findTask(services, call, { waitSeconds, after: found.task.event_id ?? 0 });
  }
  return found;
}

export function isOpen({ task }: FoundTask): boolean {
  return task.status === "pending" || task.status === "claimed";
}

/**
 * A stream of A2A: the task as it is, then what happens to it, null now and then while nothing does;
 * artifacts come before the end that they belong to, and expiry is a refusal.
 */
export async function* followTask(
  services: Services,
  call: TaskCall,
  found: FoundTask,
): AsyncGenerator<Record<string, unknown> | Refusal | null> {
  yield { task: a2aTask(found) };
  const { agentId, taskId, context } = call;
  const after = found.task.event_id ?? 0;
  const listening = { agentId, taskId, after, caller: context.caller, signal: context.signal };
  for await (const event of followEvents(services, listening)) {
    if (event === null) {
      yield null;
      continue;
    }
    const { type } = event;
    const isEnd = type === "completed" || type === "failed" || type === "denied";
    const now = isEnd || type === "expired" ? await findTask(services, call) : undefined;
    if (now?.ok === false) return yield now;
    if (type === "expired") return;
    for (const artifact of now === undefined ? [] : artifactsOf(now)) {
      yield { artifactUpdate: { taskId, contextId: taskId, artifact, lastChunk: true } };
    }
    yield { statusUpdate: statusUpdate({ ...event, type }) };
  }
}
