import { refuse, type Answer, type Operations } from "@agent/wire";
import type { Services } from "../services.ts";
import { migrations } from "../storage/migrations/index.ts";
import { StorageUnavailable } from "../storage/storage.ts";
import { countMigrations, ping } from "./store.ts";

/** Whether work may be sent here: what an orchestrator and an operator look at. */
export async function readiness(
  { storage, jobBoard, freezer }: Pick<Services, "storage" | "jobBoard" | "freezer">,
  draining: boolean,
): Promise<Answer<Operations["ready"]>> {
  try {
    await ping(storage.read);
    const applied = await countMigrations(storage.read);
    // While the relay is frozen its jobs wait, and that is as it should be.
    const jobs = freezer.frozen() === undefined ? jobBoard.states() : [];
    const checks = [
      { check: "database", ok: true, detail: "answers" },
      {
        check: "migrations",
        ok: applied === migrations.length,
        detail: `${applied} of ${migrations.length}`,
      },
      ...jobs.map(({ job, ageMs, late }) => ({
        check: `job ${job}`,
        ok: !late,
        detail: `${Math.floor(ageMs / 1_000)} s since it succeeded`,
      })),
    ];
    if (draining) return refuse("server.draining");
    const failing = checks.filter(({ ok }) => !ok);
    if (failing.length === 0) return { status: 200, body: { status: "ready", checks } };
    const names = failing.map(({ check }) => check).join(", ");
    return { ...refuse("server.not_ready", names), members: { checks } };
  } catch (error) {
    if (error instanceof StorageUnavailable) return refuse("server.unavailable");
    throw error;
  }
}
