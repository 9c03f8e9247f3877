import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { toPlace } from "../../agents/discovery/places/place.ts";
import { migrate } from "../database/migrate.ts";
import { discoveryPlaces } from "./059-discovery-places.ts";
import { migrations } from "./index.ts";

test.runIf(onlyOn("sqlite"))(
  "E20: an upgrade gives agents the places that belong to their fees",
  () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, migrations.indexOf(discoveryPlaces)));
    const fees = { a: undefined, b: 0, c: 1, d: 9, e: 10, f: 123_456_789 };
    for (const [agent, kept] of Object.entries(fees)) {
      db.prepare(
        "INSERT INTO agents VALUES (?, NULL, NULL, '[]', '{}', NULL, 1, 0, 0, NULL, NULL)",
      ).run(agent);
      db.prepare("INSERT INTO agent_capabilities VALUES ('x', ?)").run(agent);
      if (kept === undefined) continue;
      db.prepare(
        "INSERT INTO agent_histories (agent_id, successful_tasks, failed_tasks, latency_total_ms, fees_kept) VALUES (?, 0, 0, 0, ?)",
      ).run(agent, kept);
    }
    migrate(db, migrations);
    const expected = Object.entries(fees).map(([agent, kept]) => [
      agent,
      toPlace(agent, kept ?? 0),
    ]);
    for (const table of ["agents", "agent_capabilities"]) {
      const places = db
        .prepare(`SELECT agent_id, place FROM ${table} ORDER BY agent_id`)
        .raw()
        .all();
      expect(places).toEqual(expected);
    }
    db.close();
  },
);
