import Sqlite from "better-sqlite3";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { APPLICATION_ID } from "../database/create-database.ts";
import { inspectDatabase } from "../database/inspect-database.ts";
import { migrate } from "../database/migrate.ts";
import { migrations } from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-oldest-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const known: readonly { readonly id: string; readonly oldest?: string }[] = migrations;
const named = known.flatMap(({ id, oldest }, at) =>
  oldest === undefined ? [] : { id, oldest, at },
);

describe("a database on which an older program may run", () => {
  test.each(named)("with $id it has all that a program of $oldest demands", ({ oldest, at }) => {
    const path = join(folder, "relay.db");
    const db = new Sqlite(":memory:");
    db.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(db, migrations.slice(0, at + 1));
    writeFileSync(path, db.serialize());
    db.close();
    const ofProgram = migrations.slice(0, known.findIndex(({ id }) => id === oldest) + 1);
    expect(inspectDatabase({ path, migrations: ofProgram })).toMatchObject({ ok: true });
  });
});
