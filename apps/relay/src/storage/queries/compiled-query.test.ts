import { ZERO, type Micro } from "@agent/budget";
import Sqlite from "better-sqlite3";
import { describe, expect, expectTypeOf, test } from "vitest";
import { queryBuilder, param, params, compile, either, sql } from "./compiled-query.ts";
import type { Reader, Tx } from "../storage.ts";
import type { ManagedTaskRow } from "../tables/tasks.ts";

const taskById = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("tasks").selectAll().where("task_id", "=", param("task_id")),
);

const take = compile<{ account: string; amount: number }>()(
  queryBuilder
    .updateTable("accounts")
    .set((eb) => ({ balance: eb("balance", "-", param("amount")) }))
    .where("account", "=", param("account"))
    .where("balance", ">=", param("amount"))
    .where("pending_withdrawals", "=", ZERO)
    .returning("balance"),
);

describe("prepared queries", () => {
  test("a prepared query compiles to text with one placeholder for each value", () => {
    expect(taskById.text).toBe('select * from "tasks" where "task_id" = +?');
    expect(taskById.names).toEqual(["task_id"]);
  });

  test("a prepared query binds parameters by name, in order, as often as they are used", () => {
    expect(take.names).toEqual(["amount", "account", "amount"]);
    expect(take.values({ account: "a", amount: 7 })).toEqual([7, "a", 7]);
  });

  test("a prepared query numbers its placeholders for Postgres", () => {
    expect(taskById.postgres.text).toBe('select * from "tasks" where "task_id" = $1');
    expect(take.postgres.text).toContain('"balance" - $1 where "account" = $2 and "balance" >= $3');
    expect(take.postgres.values({ account: "a", amount: 7 })).toEqual([7, "a", 7]);
  });

  test("a prepared query may have a different fragment for each dialect, and binds the parameters named in it", () => {
    const larger = compile<{ a: number; b: number; c: string }>()(
      sql<{ larger: number }>`select ${either({
        sqlite: sql<number>`max(${param("a")}, ${param("b")})`,
        postgres: sql<number>`greatest(${param("b")}, ${param("a")}, ${sql.lit(0)})`,
      })} as larger, ${param("c")} as c`,
    );
    expect(larger.text).toBe("select max(+?, +?) as larger, +? as c");
    expect(larger.names).toEqual(["a", "b", "c"]);
    expect(larger.postgres.text).toBe("select greatest($1, $2, 0) as larger, $3 as c");
    expect(larger.postgres.names).toEqual(["b", "a", "c"]);
  });

  test("a prepared query keeps its constants in the text, quoted", () => {
    const named = compile()(
      queryBuilder.selectFrom("agents").selectAll().where("agent_id", "=", "o'neill?").limit(1),
    );
    expect(named.text).toContain(`"agent_id" = 'o''neill?' limit 1`);
    expect(named.names).toEqual([]);
  });

  test("a prepared query uses the indexes on its columns, the partial ones too", () => {
    const memory = new Sqlite(":memory:");
    memory.exec(`CREATE TABLE tasks (task_id TEXT PRIMARY KEY, status TEXT, expires_at INTEGER);
                 CREATE INDEX open_tasks ON tasks (expires_at) WHERE status = 'pending'`);
    const due = compile<{ now: number; limit: number }>()(
      queryBuilder
        .selectFrom("tasks")
        .select("task_id")
        .where("status", "=", "pending")
        .where("expires_at", "<", param("now"))
        .orderBy("expires_at")
        .limit(param("limit")),
    );
    const plan = memory
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${due.text}`)
      .all(due.values({ now: 1, limit: 1 }));
    expect(plan.map(({ detail }) => detail)).toEqual([
      "SEARCH tasks USING INDEX open_tasks (expires_at<?)",
    ]);
  });

  test.each([
    [
      "ORDER BY",
      queryBuilder
        .selectFrom("tasks")
        .select("task_id")
        .where("agent_id", "=", param("a"))
        .orderBy("task_id"),
    ],
    ["LIMIT", queryBuilder.selectFrom("tasks").select("task_id").limit(param("a"))],
  ])("a prepared query is planned once for all bound values: %s", (_, builder) => {
    const memory = new Sqlite(":memory:");
    memory.exec("CREATE TABLE tasks (task_id TEXT, agent_id TEXT)");
    const query = compile<{ a: number }>()(builder);
    const values = query.values({ a: 1 });
    const bound = memory.prepare(query.text).bind(values);
    const rebound = memory.prepare(query.text);
    // Planning again takes seven times as long.
    expect(fastest(() => rebound.all(values))).toBeLessThan(3 * fastest(() => bound.all()));
  });

  test("a prepared query has a parameter for each column that is named", () => {
    const rename = compile<{ pairing_id: string; code: string }>()(
      queryBuilder.updateTable("pairings").set(params("pairing_id", "code")),
    );
    expect(rename.text).toBe('update "pairings" set "pairing_id" = +?, "code" = +?');
    expect(rename.names).toEqual(["pairing_id", "code"]);
  });

  test("a prepared query compiles a sql fragment as well", () => {
    const raw = compile<{ n: number }>()(sql<{ m: number }>`select ${param("n")} + ${1} as m`);
    expect(raw.text).toBe("select +? + 1 as m");
    expect(raw.values({ n: 2 })).toEqual([2]);
  });

  test("a prepared query accepts NULL as a value but no missing value", () => {
    const set = compile<{ key: string | null }>()(
      queryBuilder.updateTable("agents").set({ public_key: param("key") }),
    );
    expect(set.values({ key: null })).toEqual([null]);
    expect(() => set.values({} as { key: null })).toThrow('no value for "key"');
  });

  test.each([undefined, {}, [1]])("a prepared query refuses the constant %o", (value) => {
    expect(() => compile()(sql`select ${sql.val(value)}`)).toThrow("invalid immediate value");
  });
});

/** The least time that a hundred runs took. */
function fastest(run: () => unknown): number {
  let best = Infinity;
  for (let round = 0; round < 200; round++) {
    const start = performance.now();
    for (let i = 0; i < 100; i++) run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** This is only compiled; each line that must not compile is marked. */
async function typeChecks(read: Reader, tx: Tx) {
  expectTypeOf(await read.get(taskById, { task_id: "t" })).toEqualTypeOf<
    ManagedTaskRow | undefined
  >();
  expectTypeOf(await tx.all(take, { account: "a", amount: 1 })).toEqualTypeOf<
    { balance: Micro }[]
  >();
  const drop = compile<ManagedTaskRow>()(
    queryBuilder.deleteFrom("tasks").where("task_id", "=", param("task_id")),
  );
  expectTypeOf(await read.get(drop, {} as ManagedTaskRow)).toEqualTypeOf<undefined>();

  // @ts-expect-error a parameter of another type
  await read.get(taskById, { task_id: 1 });
  // @ts-expect-error a parameter that the query does not have
  await read.get(taskById, { task_id: "t", other: 1 });
  // @ts-expect-error a statement with RETURNING answers rows, not a number
  await tx.run(take, { account: "a", amount: 1 });
  // @ts-expect-error a column that no table has
  params("no_such_column");
  // @ts-expect-error a boolean is not stored
  compile<{ flag: boolean }>();
  // @ts-expect-error a typed marker must fit its column
  queryBuilder.selectFrom("tasks").where("task_id", "=", param<number>("task_id"));
}

test("the compiler checks parameters and rows", () => {
  expectTypeOf(typeChecks).parameters.toEqualTypeOf<[Reader, Tx]>();
});
