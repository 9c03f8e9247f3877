import type {
  ClientMessage,
  Code,
  ListedTask as ListedTaskAnswer,
  Received,
  ServerMessage,
} from "@agent/wire";
import type { NewWork, Work } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import type { SendMessage } from "../delivery/paced-send.ts";
import { createFaultLog } from "../fault-log.ts";
import type { RejectionLog } from "./rejection-log.ts";
import { createTaskQueue } from "./task-queue.ts";

export type ListedTask = Received<typeof ListedTaskAnswer>;

export interface TaskReceiver {
  /** Receives a task that the relay has for this agent; a known task is not added again. */
  receiveTask(task: ListedTask): void;
  onMessage(message: ServerMessage): void;
  stop(): void;
}

const RETRY_DELAY_MS = 1_000;

/** The relay's refusal of a task on which another process with this agent's key works. */
const OTHER_PROCESS = "task.other_process" satisfies Code;
const STOP_OTHER_PROCESS =
  "another process uses this agent's key, perhaps on a copy of its data folder: stop one of them";

interface TaskReceiverParts {
  readonly agentId: string;
  readonly relayId: () => string;
  /** Announced on each connection, so that the relay knows which tasks this device accepts. */
  readonly capabilities: readonly string[];
  readonly work: Work;
  readonly send: SendMessage;
  /** Only the owner can contest, so the deadline must be logged. */
  readonly rejections: Pick<RejectionLog, "note">;
  readonly runtime: Runtime;
}

/** Creates the receiver of the relay's tasks, which claims each one and runs several at a time. */
export function createTaskReceiver(parts: TaskReceiverParts): TaskReceiver {
  const { work, send, runtime } = parts;
  const queue = createTaskQueue({ ...parts, run: runClaimedTask });
  const otherProcess = createFaultLog(runtime.log, "error", "agent.runs_twice");

  async function runClaimedTask(task: ListedTask): Promise<void> {
    const { task_id: id } = task;
    try {
      const caller = { kind: "relay", relayId: parts.relayId() } as const;
      const answer = await work.accept(toWork(task), { caller });
      if (!answer.ok && answer.code === "work.withdrawn") release(id);
      else if (!answer.ok) refuse(id, answer.error);
    } catch (cause) {
      runtime.log("error", "task.failed", { correlationId: id, cause: String(cause) });
      refuse(id, "The task could not be run");
    }
  }

  function noteError({ code }: Extract<ServerMessage, { type: "error" }>): void {
    if (code !== OTHER_PROCESS) return runtime.log("warn", "socket.error", { code });
    otherProcess.note({ code }, { remedy: STOP_OTHER_PROCESS });
  }

  /** Gives a task back; repeated until it is sent, because the relay waits for it while the socket is open. */
  function giveBack(message: Extract<ClientMessage, { type: "release" | "refuse" }>): void {
    const sent = send(message);
    if (!sent.ok && sent.code !== "socket.not_ready" && !queue.stopped) {
      runtime.schedule(RETRY_DELAY_MS, () => giveBack(message));
    }
  }

  /** Confirms the cancel of a task. */
  const release = (id: string) => giveBack({ type: "release", task_id: id });
  const refuse = (id: string, reason: string) => giveBack({ type: "refuse", task_id: id, reason });

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
          // A signed receipt is delivered anyway, and running work is released once it has stopped.
          if (work.withdraw(message.task_id) === "unknown") release(message.task_id);
          queue.startNext();
          return;
        case "task_rejected":
          return parts.rejections.note(message);
        case "error":
          if (message.task_id !== undefined) queue.refused(message.task_id);
          noteError(message);
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
        case "task_inspecting":
        case "task_disputed":
        case "task_settled":
          return;
      }
    },
    stop: () => queue.stop(),
  };
}

function toWork(task: ListedTask): NewWork {
  return {
    prompt: task.prompt,
    requiredCapabilities: task.required_capabilities,
    relayTaskId: task.task_id,
    targetAgentId: task.agent_id,
    submittedAt: task.submitted_at,
    ...(task.submitted_by !== null && { submittedBy: task.submitted_by }),
    estimatedCost: task.estimated_cost,
    ...(task.wall_clock_ms !== null && { wallClockMs: task.wall_clock_ms }),
    delegationToken: task.delegation_token,
  };
}
