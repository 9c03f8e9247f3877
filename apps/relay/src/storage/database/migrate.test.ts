import Sqlite, { type Database } from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { onlyOn } from "../../../test/engine/engine.ts";
import { listAppliedMigrations, migrate, toMigrationStatus, type Migration } from "./migrate.ts";

const migrations: Migration[] = [
  { id: "001-owners", sql: "CREATE TABLE owners (name TEXT PRIMARY KEY) STRICT" },
  {
    id: "002-notes",
    sql: `CREATE TABLE notes (id INTEGER PRIMARY KEY, owner TEXT REFERENCES owners (name)) STRICT;
          CREATE INDEX notes_by_owner ON notes (owner)`,
  },
  {
    id: "003-owner-age",
    sql: `CREATE TABLE owners_2 (name TEXT PRIMARY KEY, age INTEGER) STRICT;
          INSERT INTO owners_2 (name) SELECT name FROM owners;
          DROP TABLE owners;
          ALTER TABLE owners_2 RENAME TO owners`,
  },
];

const ids = migrations.map(({ id }) => id);

function schemaOf(db: Database): unknown[] {
  return db.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
}

describe.runIf(onlyOn("sqlite"))("migrate", () => {
  test("migrate applies each missing migration once and in order", () => {
    const db = new Sqlite(":memory:");
    expect(migrate(db, migrations.slice(0, 1))).toEqual(ids.slice(0, 1));
    expect(migrate(db, migrations)).toEqual(ids.slice(1));
    expect(migrate(db, migrations)).toEqual([]);
    expect(listAppliedMigrations(db).map(({ id }) => id)).toEqual(ids);
  });

  test.each([0, 1, 2, 3])(
    "a database of version %i is migrated to the schema of a new one",
    (version) => {
      const fresh = new Sqlite(":memory:");
      migrate(fresh, migrations);
      const old = new Sqlite(":memory:");
      migrate(old, migrations.slice(0, version));
      migrate(old, migrations);
      expect(schemaOf(old)).toEqual(schemaOf(fresh));
    },
  );

  test("rows that refer to a rebuilt table are kept, and references are enforced afterwards", () => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations.slice(0, 2));
    db.exec("INSERT INTO owners VALUES ('ada'); INSERT INTO notes VALUES (1, 'ada')");
    migrate(db, migrations);
    expect(db.prepare("SELECT owner FROM notes").pluck().all()).toEqual(["ada"]);
    expect(() => db.exec("INSERT INTO notes VALUES (2, 'nobody')")).toThrow("FOREIGN KEY");
  });

  test.each([
    ["fails half-way", "CREATE TABLE half (a INTEGER) STRICT; SELECT nonsense", "nonsense"],
    ["breaks a reference", "INSERT INTO notes VALUES (1, 'nobody')", "broken references"],
  ])("a migration stops before a step that %s", (_, sql, message) => {
    const db = new Sqlite(":memory:");
    migrate(db, migrations);
    const before = schemaOf(db);
    expect(() => migrate(db, [...migrations, { id: "004-bad", sql }])).toThrow(message);
    expect(schemaOf(db)).toEqual(before);
    expect(listAppliedMigrations(db).map(({ id }) => id)).toEqual(ids);
    expect(db.pragma("foreign_keys", { simple: true })).toBe(1);
  });

  test("status lists the applied and the missing migrations", () => {
    const first = [{ id: "001-owners", oldest: 1 }];
    const applied = toMigrationStatus(first, migrations).map((step) => step.applied);
    expect(applied).toEqual([true, false, false]);
  });
});
