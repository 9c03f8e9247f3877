import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabase } from "../database/create-database.ts";
import { inspectDatabase } from "../database/inspect-database.ts";
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
  test.each(named)(
    "a database after the step $id has all that a program of version $oldest requires",
    ({ oldest, at }) => {
      const path = join(folder, "relay.db");
      createDatabase(path, migrations.slice(0, at + 1));
      const ofProgram = migrations.slice(0, known.findIndex(({ id }) => id === oldest) + 1);
      expect(inspectDatabase({ path, migrations: ofProgram })).toMatchObject({ ok: true });
    },
  );
});
