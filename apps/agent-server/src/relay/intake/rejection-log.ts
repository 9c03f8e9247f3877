import type { RelayClient } from "@agent/client";
import type { Inspection, Received } from "@agent/wire";
import type { Runtime } from "../../runtime.ts";
import { findInPages } from "../find-in-pages.ts";

type Rejection = Pick<Received<typeof Inspection>, "task_id" | "deadline">;

/** Logs rejected results, with the time until which the owner may contest. */
export interface RejectionLog {
  /** Logs a rejection, once. */
  note(rejection: Rejection): void;
  /**
   * Logs the rejections that arrived while this agent had no connection. A submitter sees when that is, and without an
   * answer in time only its offer is paid.
   */
  noteMissed(client: RelayClient): Promise<void>;
}

export function createRejectionLog(agentId: string, { log }: Pick<Runtime, "log">): RejectionLog {
  const noted = new Set<string>();

  function note({ task_id, deadline }: Rejection): void {
    if (noted.has(task_id)) return;
    noted.add(task_id);
    log("warn", "inspection.rejected", { task_id, deadline });
  }

  return {
    note,
    async noteMissed(client) {
      const open = new Set<string>();
      const query = { role: "executor", state: "rejected" } as const;
      const before = [...noted];
      const listed = await findInPages(
        (page) => client.listInspections({ params: { agentId }, query: { ...query, ...page } }),
        ({ inspections }) => {
          for (const each of inspections) {
            open.add(each.task_id);
            note(each);
          }
          return undefined;
        },
      );
      // A result is rejected only once, so results that are no longer listed are not logged again.
      if (!listed.ok) return;
      for (const id of before) if (!open.has(id)) noted.delete(id);
    },
  };
}
