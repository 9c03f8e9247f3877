import type { ListedTask as ListedTaskAnswer, Received, ServerMessage } from "@agent/wire";
import type { NewWork, Work } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import type { SendMessage } from "../delivery/paced-send.ts";
import { createTaskQueue } from "./task-queue.ts";

export type ListedTask = Received<typeof ListedTaskAnswer>;

export interface TaskReceiver {
  /** Takes a task that the relay has for this agent; one that is already taken is not taken twice. */
  receiveTask(task: ListedTask): void;
  onMessage(message: ServerMessage): void;
  stop(): void;
}

const LATER_MS = 1_000;

/** Work that the relay hands over, claimed one by one and run a few at a time. */
export function createTaskReceiver(parts: {
  agentId: string;
  relayId: () => string;
  /** Announced on each connection, so that the relay knows what this device may be given. */
  capabilities: readonly string[];
  work: Work;
  send: SendMessage;
  runtime: Runtime;
}): TaskReceiver {
  const { work, send, runtime } = parts;
  const queue = createTaskQueue({ ...parts, run: runClaimedTask });

  async function runClaimedTask(task: ListedTask): Promise<void> {
    const { task_id: id } = task;
    try {
      const caller = { kind: "relay", relayId: parts.relayId() } as const;
      const answer = await work.accept(workOf(task), { caller });
      if (!answer.ok && answer.code === "work.withdrawn") release(id);
      else if (!answer.ok) refuse(id, answer.error);
    } catch (cause) {
      runtime.log("error", "task.failed", { correlationId: id, cause: String(cause) });
      refuse(id, "The task could not be run");
    }
  }

  /** Agrees that the task is cancelled; repeated until it is sent, for the relay waits for it. */
  function release(id: string): void {
    const sent = send({ type: "release", task_id: id });
    if (!sent.ok && sent.code !== "socket.not_ready" && !queue.stopped) {
      runtime.schedule(LATER_MS, () => release(id));
    }
  }

  function refuse(id: string, reason: string): void {
    send({ type: "refuse", task_id: id, reason });
  }

  return {
    receiveTask: (task) => queue.take(task),
    onMessage(message) {
      switch (message.type) {
        case "task_assigned":
          queue.take(message.task);
          return;
        case "claimed":
          queue.claimed(message.task_id);
          return;
        case "task_cancelled":
          queue.drop(message.task_id);
          work.cancel(message.task_id);
          queue.startNext();
          return;
        case "cancel_requested":
          queue.drop(message.task_id);
          // A signed receipt is on its way, and work that stops is released when it has.
          if (work.withdraw(message.task_id) === "unknown") release(message.task_id);
          queue.startNext();
          return;
        case "error":
          if (message.task_id !== undefined) queue.refused(message.task_id);
          runtime.log("warn", "socket.error", { code: message.code });
          queue.startNext();
          return;
        case "ready":
          send({ type: "capabilities", capabilities: [...parts.capabilities] });
          queue.renewLeases();
          return;
        case "draining":
        case "pong":
        case "result_accepted":
        case "result_refused":
          return;
      }
    },
    stop: () => queue.stop(),
  };
}

function workOf(task: ListedTask): NewWork {
  return {
    prompt: task.prompt,
    requiredCapabilities: task.required_capabilities,
    relayTaskId: task.task_id,
    targetAgentId: task.agent_id,
    submittedAt: task.submitted_at,
    ...(task.submitted_by !== null && { submittedBy: task.submitted_by }),
    ...(task.wall_clock_ms !== null && { wallClockMs: task.wall_clock_ms }),
    delegationToken: task.delegation_token,
  };
}
