import { readFileIfPresent } from "@agent/crypto/private-file";
import * as v from "valibot";
import { createStateFile, type WriteStateFile } from "../../files/state-file.ts";
import type { Runtime } from "../../runtime.ts";

export interface Attempt {
  /** The number of times that the task was begun. */
  readonly attempts: number;
  /** Milliseconds since the Unix epoch. */
  readonly begunAt: number;
}

export interface AttemptsFileOptions {
  readonly path: string;
  readonly relayUrl: string;
  readonly agentId: string;
}

/** A task lives 7 days at most, so an older count is of no use. */
const MAX_AGE_MS = 7 * 24 * 60 * 60_000;

const AttemptsFile = v.object({
  relay_url: v.string(),
  agent_id: v.string(),
  tasks: v.array(
    v.object({
      task_id: v.string(),
      attempts: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
      begun_at: v.number(),
    }),
  ),
});

/** Opens the file of attempts. The counts of another relay or agent, which no task here has, are left out. */
export async function openAttemptsFile(
  { path, relayUrl, agentId }: AttemptsFileOptions,
  { now, log }: Pick<Runtime, "now" | "log">,
): Promise<{ readonly counts: Map<string, Attempt>; readonly write: WriteStateFile }> {
  const counts = new Map<string, Attempt>();
  try {
    const text = await readFileIfPresent(path);
    const file = text === undefined ? undefined : v.parse(AttemptsFile, JSON.parse(text));
    if (file?.relay_url === relayUrl && file.agent_id === agentId) {
      for (const { task_id, attempts, begun_at: begunAt } of file.tasks) {
        if (now() - begunAt < MAX_AGE_MS) counts.set(task_id, { attempts, begunAt });
      }
    }
  } catch (cause) {
    log("warn", "attempts.unreadable", { cause: String(cause) });
  }
  const write = createStateFile({
    path,
    getContent: () => ({
      relay_url: relayUrl,
      agent_id: agentId,
      tasks: [...counts].map(([task_id, { attempts, begunAt }]) => {
        return { task_id, attempts, begun_at: begunAt };
      }),
    }),
    onFault: (cause) => log("error", "attempts.not_kept", { cause: String(cause) }),
  });
  return { counts, write };
}
