import type { Runtime } from "../../runtime.ts";
import type { ListedTask } from "./task-receiver.ts";
import type { SendMessage } from "../delivery/paced-send.ts";

/** A claim that was not answered by then is given up; the relay offers the task again. */
const ANSWER_MS = 10_000;
/** After which a claim that could not be sent is tried again. */
const LATER_MS = 1_000;

/** The claims that the relay has not answered yet: several devices may be offered one task. */
export interface Claims {
  /** False: there is no socket, so nobody can be asked. */
  send(task: ListedTask): boolean;
  /** Ends the claim of this task, and gives the task if there was one. */
  end(taskId: string): ListedTask | undefined;
  has(taskId: string): boolean;
  stop(): void;
  readonly size: number;
}

export function createClaims(parts: {
  send: SendMessage;
  /** Told of a claim whose time is over; `task` is there when it was never sent. */
  lapsed: (task: ListedTask | undefined) => void;
  runtime: Pick<Runtime, "schedule">;
}): Claims {
  const { send, lapsed, runtime } = parts;
  const open = new Map<string, { readonly task: ListedTask; readonly cancel: () => void }>();

  function end(taskId: string): ListedTask | undefined {
    const claim = open.get(taskId);
    claim?.cancel();
    open.delete(taskId);
    return claim?.task;
  }

  return {
    send(task) {
      const { task_id: id } = task;
      const sent = send({ type: "claim", task_id: id });
      if (!sent.ok && sent.code === "socket.not_ready") return false;
      const cancel = runtime.schedule(sent.ok ? ANSWER_MS : LATER_MS, () => {
        open.delete(id);
        lapsed(sent.ok ? undefined : task);
      });
      open.set(id, { task, cancel });
      return true;
    },
    end,
    has: (taskId) => open.has(taskId),
    stop() {
      for (const id of open.keys()) end(id);
    },
    get size() {
      return open.size;
    },
  };
}
