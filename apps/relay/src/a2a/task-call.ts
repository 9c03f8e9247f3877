import { limits, type Refusal } from "@agent/wire";
import type { RequestContext } from "../http/handler.ts";
import type { Services } from "../services.ts";
import { getTask } from "../tasks/reading/get-task.ts";
import { followEvents } from "../tasks/reading/stream-events.ts";
import { toA2aTask, toArtifacts, toStatusUpdate, type TaskSnapshot } from "./to-a2a-task.ts";

/** A call about one task of the path's agent. */
export interface TaskCall {
  readonly agentId: string;
  readonly taskId: string;
  readonly context: RequestContext;
}

type PollResult = ({ readonly ok: true } & TaskSnapshot) | Refusal;

export async function pollTask(
  services: Services,
  { agentId, taskId, context: { caller, signal } }: TaskCall,
  { waitSeconds, after }: { waitSeconds: number; after?: number } = { waitSeconds: 0 },
): Promise<PollResult> {
  const answer = await getTask(services, { agentId, taskId, waitSeconds, after, caller, signal });
  return answer.ok === false ? answer : { ok: true, ...answer.body };
}

/**
 * Returns the task once it has ended, or its state after the maximum poll time. A caller whose token ended
 * in the meantime gets the earlier state, because the message was sent.
 */
export async function waitForCompletion(services: Services, call: TaskCall): Promise<PollResult> {
  const { runtime, waiters } = services;
  const until = runtime.now() + limits.pollWaitSeconds * 1_000;
  let found = await pollTask(services, call);
  while (found.ok && isUnfinished(found) && !waiters.isReleased() && !call.context.signal.aborted) {
    const waitSeconds = (until - runtime.now()) / 1_000;
    if (waitSeconds <= 0) return found;
    const next = await pollTask(services, call, { waitSeconds, after: found.task.event_id ?? 0 });
    if (await call.context.hasTokenEnded()) return found;
    found = next;
  }
  return found;
}

export function isUnfinished({ task }: TaskSnapshot): boolean {
  return task.status === "pending" || task.status === "claimed";
}

/**
 * Streams the current task, then its events, with null as a keep-alive. Artifacts come before the end that
 * they belong to, and expiry is a refusal.
 */
export async function* streamTask(
  services: Services,
  call: TaskCall,
  found: TaskSnapshot,
): AsyncGenerator<Record<string, unknown> | Refusal | null> {
  yield { task: toA2aTask(found) };
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
    const now = isEnd || type === "expired" ? await pollTask(services, call) : undefined;
    if (now?.ok === false) return yield now;
    if (type === "expired") return;
    for (const artifact of now === undefined ? [] : toArtifacts(now)) {
      yield { artifactUpdate: { taskId, contextId: taskId, artifact, lastChunk: true } };
    }
    yield { statusUpdate: toStatusUpdate({ ...event, type }) };
  }
}
