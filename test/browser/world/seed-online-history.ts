import { execFile } from "node:child_process";
import { promisify } from "node:util";

const HOUR = 60;
const DAY = 24 * HOUR;

/** The numbers of minutes ago at which the relay stopped and started again. */
export const STOPPED = [[3 * DAY, 3 * DAY - 9 * HOUR]] as const;
/** The numbers of minutes ago at which the agent went offline and came back. */
export const AWAY = [
  [6 * DAY, 5 * DAY - 2 * HOUR],
  [2 * DAY, 2 * DAY - 40],
  [15 * HOUR, 12 * HOUR],
  [4 * HOUR, 4 * HOUR - 20],
] as const;

const program = new URL(
  "../../../apps/relay/test/processes/seed-online-history.ts",
  import.meta.url,
);

/** Gives a new database a week in which an agent went offline several times. */
export async function seedOnlineHistory(path: string, agentId: string): Promise<void> {
  const seeded = { path, agentId, minutes: 7 * DAY + 5, stopped: STOPPED, away: AWAY };
  const args = ["--conditions=agent-source", program.pathname, JSON.stringify(seeded)];
  await promisify(execFile)(process.execPath, args);
}
