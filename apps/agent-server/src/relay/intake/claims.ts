import { BoundedMap } from "@agent/crypto";
import type { Runtime } from "../../runtime.ts";
import type { ListedTask } from "./task-receiver.ts";
import type { SendMessage } from "../delivery/paced-send.ts";

/** A claim without an answer by then no longer counts as open, so that other tasks are claimed. */
const ANSWER_TIMEOUT_MS = 10_000;
/**
 * The claims that may still be granted late. The relay keeps the lease of a granted claim as long as the
 * socket is open, so a task that was dropped in the meantime would stay undone until it expires.
 */
const MAX_LATE_CLAIMS = 100;
/** The delay before a claim that could not be sent is tried again. */
const RETRY_DELAY_MS = 1_000;

/**
 * The claims that the relay has not answered yet; the same task may be offered to several devices.
 */
export interface Claims {
  /** Sends a claim; returns false without a socket, because then no relay can be asked. */
  send(task: ListedTask): boolean;
  /** Ends the claim of this task, also a late one, and returns the task if there was one. */
  end(taskId: string): ListedTask | undefined;
  has(taskId: string): boolean;
  stop(): void;
  readonly size: number;
}

export function createClaims(parts: {
  send: SendMessage;
  /** Receives each expired claim; `task` is given when the claim was never sent. */
  onExpired: (task: ListedTask | undefined) => void;
  runtime: Pick<Runtime, "schedule">;
}): Claims {
  const { send, onExpired, runtime } = parts;
  const open = new Map<string, { readonly task: ListedTask; readonly cancel: () => void }>();
  const late = new BoundedMap<string, ListedTask>(MAX_LATE_CLAIMS);

  function end(taskId: string): ListedTask | undefined {
    const claim = open.get(taskId);
    const task = claim?.task ?? late.get(taskId);
    claim?.cancel();
    open.delete(taskId);
    late.delete(taskId);
    return task;
  }

  return {
    send(task) {
      const { task_id: id } = task;
      const sent = send({ type: "claim", task_id: id });
      if (!sent.ok && sent.code === "socket.not_ready") return false;
      const cancel = runtime.schedule(sent.ok ? ANSWER_TIMEOUT_MS : RETRY_DELAY_MS, () => {
        open.delete(id);
        if (sent.ok) late.set(id, task);
        onExpired(sent.ok ? undefined : task);
      });
      open.set(id, { task, cancel });
      return true;
    },
    end,
    has: (taskId) => open.has(taskId),
    stop() {
      for (const id of open.keys()) end(id);
      for (const [id] of late) end(id);
    },
    get size() {
      return open.size;
    },
  };
}
