import {
  getUndecidedAmount,
  isInboundClosed,
  type InboundTask,
} from "@agent/federation-protocol/forwarding";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { sumExposureOfPeer } from "../../federation/exposure/undecided-store.ts";
import { migrate } from "../database/migrate.ts";
import { undecidedResults } from "./061-undecided-results.ts";
import { migrations } from "./index.ts";

const states = ["running", "returning", "completed", "refused"];
const holds = ["open", "due", "released"];
const statuses = [null, "completed", "failed"];
const readings = [undefined, false, true];

const tasks = states.flatMap((state) =>
  holds.flatMap((hold) =>
    statuses.flatMap((receiptStatus) =>
      readings.map((wasRead) => {
        const task = { state, hold, receiptStatus, settlement: null, amount: 7 };
        return { ...task, ...(wasRead !== undefined && { wasRead }) } as unknown as InboundTask;
      }),
    ),
  ),
);

test.runIf(onlyOn("sqlite"))(
  "FE26: results of peers that were undecided before an upgrade are undecided after it",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(undecidedResults)));
    const add = db.prepare(
      "INSERT INTO federation_inbound (task_id, relay_id, version, body, ended_at) VALUES (?, 'peer', 1, ?, ?)",
    );
    for (const [at, task] of tasks.entries()) {
      add.run(`task-${at}`, JSON.stringify(task), isInboundClosed(task) ? 1 : null);
    }
    migrate(db, migrations);
    const read = db.prepare<[string], { undecided: number | null }>(
      "SELECT undecided FROM federation_inbound WHERE task_id = ?",
    );
    const found = tasks.map((_, at) => read.get(`task-${at}`)?.undecided ?? 0);
    expect(found).toEqual(tasks.map((task) => getUndecidedAmount(task)));
    expect(new Set(found)).toEqual(new Set([0, 7]));
    db.close();
  },
);

test.runIf(onlyOn("sqlite"))(
  "FE26: the exposure to a peer is read from the indexes for its two sums",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations);
    const { text, names } = sumExposureOfPeer;
    const plan = db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...names.map(() => "a"));
    const steps = plan.map(({ detail }) => detail).join("\n");
    expect(steps).toContain("COVERING INDEX federation_inbound_undecided");
    expect(steps).toContain("INDEX federation_inbound_defaulted");
    expect(steps).not.toMatch(/SCAN federation_inbound/);
    db.close();
  },
);
