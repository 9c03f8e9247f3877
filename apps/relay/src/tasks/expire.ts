import { releaseHold } from "../budget/hold.ts";
import { abandonTask } from "../federation/abandon-task.ts";
import type { Services } from "../services.ts";
import { leavePlace } from "./counters.ts";
import { returnToDelegation } from "./delegation-budget.ts";
import { expiredTasks, removeExpired } from "./store.ts";
import { executorOf } from "./view.ts";

const batch = 500;

/** Removes tasks whose time is over and returns their holds; what expired while the relay was down too. */
export async function expireTasks(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "connections" | "log">,
): Promise<void> {
  const { storage, runtime, waiters, connections, log } = services;
  for (;;) {
    const due = await expiredTasks(storage.read, runtime.now(), batch);
    await Promise.all(
      due.map(async ({ task_id }) => {
        const removed = await storage.transaction(async (tx) => {
          const row = await removeExpired(tx, task_id, runtime.now());
          if (row === undefined) return undefined;
          await releaseHold(tx, runtime, row, "expired");
          await returnToDelegation(tx, row);
          await abandonTask(tx, runtime, row);
          await leavePlace(tx, row.submitted_by);
          return row;
        });
        if (removed === undefined) return;
        log.info("task.expired", { correlationId: task_id });
        waiters.changed(task_id);
        for (const connection of connections.of(executorOf(removed))) {
          connection.send({ type: "task_cancelled", task_id });
        }
      }),
    );
    if (due.length < batch) return;
  }
}
