import type { ListedTask as ListedTaskAnswer, Received, ServerMessage } from "@agent/wire";
import type { Work } from "../../execution/work.ts";
import type { Runtime } from "../../runtime.ts";
import type { SendMessage } from "../delivery/paced-send.ts";

type ListedTask = Received<typeof ListedTaskAnswer>;

export interface TaskReceiver {
  /** Takes a task that the relay has for this agent; one that is already taken is not taken twice. */
  receiveTask(task: ListedTask): void;
  onMessage(message: ServerMessage): void;
  stop(): void;
}

const MAX_RUNNING = 8;
/** A claim that was not answered by then is given up; the relay offers the task again. */
const CLAIM_TIMEOUT_MS = 10_000;
/** Within the 20 s after which the relay misses a sign of work; it renews only what this socket claimed. */
const PROGRESS_INTERVAL_MS = 15_000;
const RETRY_DELAY_MS = 1_000;

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
  const { agentId, work, send, runtime } = parts;
  const queued = new Map<string, ListedTask>();
  const claiming = new Map<string, { task: ListedTask; cancel: () => void }>();
  const running = new Set<string>();
  let stopped = false;
  let cancelProgress = () => {};

  function startNext(): void {
    for (const [id, task] of queued) {
      if (stopped || claiming.size + running.size >= MAX_RUNNING) return;
      queued.delete(id);
      claim(task);
    }
  }

  /** Several devices may be offered one task; without a socket there is nobody to ask. */
  function claim(task: ListedTask): void {
    const { task_id: id } = task;
    const sent = send({ type: "claim", task_id: id });
    if (!sent.ok && sent.code === "socket.not_ready") {
      void runClaimedTask(task);
      return;
    }
    const cancel = runtime.schedule(sent.ok ? CLAIM_TIMEOUT_MS : RETRY_DELAY_MS, () => {
      claiming.delete(id);
      if (!sent.ok) queued.set(id, task);
      startNext();
    });
    claiming.set(id, { task, cancel });
  }

  function endClaim(id: string): ListedTask | undefined {
    const claim = claiming.get(id);
    claim?.cancel();
    claiming.delete(id);
    return claim?.task;
  }

  async function runClaimedTask(task: ListedTask): Promise<void> {
    const { task_id: id, delegation_token: delegationToken } = task;
    running.add(id);
    if (running.size === 1) renewLeases();
    try {
      const answer = await work.accept(
        {
          prompt: task.prompt,
          requiredCapabilities: task.required_capabilities,
          relayTaskId: id,
          targetAgentId: task.agent_id,
          submittedAt: task.submitted_at,
          ...(task.submitted_by !== null && { submittedBy: task.submitted_by }),
          ...(task.wall_clock_ms !== null && { wallClockMs: task.wall_clock_ms }),
          delegationToken,
        },
        { caller: { kind: "relay", relayId: parts.relayId() } },
      );
      if (!answer.ok && answer.code === "work.withdrawn") release(id);
      else if (!answer.ok) refuse(id, answer.error);
    } catch (cause) {
      runtime.log("error", "task.failed", { correlationId: id, cause: String(cause) });
      refuse(id, "The task could not be run");
    } finally {
      running.delete(id);
      startNext();
    }
  }

  function renewLeases(): void {
    cancelProgress();
    cancelProgress = runtime.schedule(PROGRESS_INTERVAL_MS, () => {
      for (const id of running) send({ type: "progress", task_id: id });
      if (running.size > 0) renewLeases();
    });
  }

  /** Agrees that the task is cancelled; repeated until it is sent, for the relay waits for it. */
  function release(id: string): void {
    const sent = send({ type: "release", task_id: id });
    if (!sent.ok && sent.code !== "socket.not_ready" && !stopped) {
      runtime.schedule(RETRY_DELAY_MS, () => release(id));
    }
  }

  function refuse(id: string, reason: string): void {
    send({ type: "refuse", task_id: id, reason });
  }

  function receiveTask(task: ListedTask): void {
    const { task_id: id, assigned_to: assignee } = task;
    if (stopped || (assignee !== null && assignee !== agentId)) return;
    if (queued.has(id) || claiming.has(id)) return;
    if (running.has(id)) {
      // Offered again after a lost connection: the lease has to be taken anew, the work goes on.
      send({ type: "claim", task_id: id });
      return;
    }
    queued.set(id, task);
    startNext();
  }

  return {
    receiveTask,
    onMessage(message) {
      switch (message.type) {
        case "task_assigned":
          receiveTask(message.task);
          return;
        case "claimed": {
          const task = endClaim(message.task_id);
          if (task !== undefined) void runClaimedTask(task);
          return;
        }
        case "task_cancelled":
          queued.delete(message.task_id);
          endClaim(message.task_id);
          work.cancel(message.task_id);
          startNext();
          return;
        case "cancel_requested":
          queued.delete(message.task_id);
          endClaim(message.task_id);
          // A signed receipt is on its way, and work that stops is released when it has.
          if (work.withdraw(message.task_id) === "unknown") release(message.task_id);
          startNext();
          return;
        case "error":
          if (message.task_id !== undefined) endClaim(message.task_id);
          runtime.log("warn", "socket.error", { code: message.code });
          startNext();
          return;
        case "ready":
          send({ type: "capabilities", capabilities: [...parts.capabilities] });
          for (const id of running) send({ type: "progress", task_id: id });
          return;
        case "draining":
        case "pong":
        case "result_accepted":
        case "result_refused":
          return;
      }
    },
    stop() {
      stopped = true;
      cancelProgress();
      queued.clear();
      for (const id of claiming.keys()) endClaim(id);
    },
  };
}
