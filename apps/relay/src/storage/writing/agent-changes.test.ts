import { expect, test } from "vitest";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { migrations } from "../migrations/index.ts";
import { compile, param, params, queryBuilder, sql } from "../queries/compiled-query.ts";
import { findAgentParameter, type ChangedAgents } from "./agent-changes.ts";

const one = param("agent_id");
const update = queryBuilder.updateTable("agents").set({ endpoint_url: null });
const trust = queryBuilder.deleteFrom("trust_records");

test.each([
  [
    "an insert of an agent's row",
    queryBuilder.insertInto("agent_capabilities").values(params("agent_id", "capability", "place")),
    "agent_id",
  ],
  ["an update of one agent", update.where("agent_id", "=", one), "agent_id"],
  ["an update of one agent by another name", update.where("agent_id", "=", param("id")), "id"],
  [
    "an update of one agent under conditions",
    update.where("agent_id", "=", one).where(sql<boolean>`(revoked_at is null or registered = 1)`),
    "agent_id",
  ],
  [
    "a change of the trust in an executor",
    trust.where("remote_agent_id", "=", param("remote_agent_id")),
    "remote_agent_id",
  ],
  ["a raw statement", sql<never>`delete from listings where agent_id = ${one}`, "agent_id"],
  [
    "a raw statement with two conditions",
    sql<never>`update agents set public_key = ${param("key")} where agent_id = ${one} and registered = 1`,
    "agent_id",
  ],
])("the changed agent is found in the parameters of %s", (_, builder, expected) => {
  expect(findAgentParameter(compile()(builder as never))).toBe(expected);
});

test.each([
  ["an update of all agents", update],
  ["an update of all other agents", update.where("agent_id", "!=", one)],
  [
    "an update of an agent and others",
    update.where(sql<boolean>`agent_id = ${one} or registered = 1`),
  ],
  ["a change of the trust of a delegator", trust.where("agent_id", "=", one)],
  [
    "an insert of many rows",
    sql<never>`insert into listings select * from listings where agent_id = ${one}`,
  ],
  [
    "a deletion by another column",
    sql<never>`delete from listings where agent_id in (select agent_id from agents where public_key = ${param("key")})`,
  ],
])("the changed agents cannot be found in the parameters of %s", (_, builder) => {
  expect(findAgentParameter(compile()(builder as never))).toBeNull();
});

test.each([
  ["a read", queryBuilder.selectFrom("agents").selectAll().where("agent_id", "=", one)],
  ["a write to another table", queryBuilder.deleteFrom("devices").where("agent_id", "=", one)],
])("no agent counts as changed after %s", (_, builder) => {
  expect(findAgentParameter(compile()(builder as never))).toBeUndefined();
});

const addCapability = compile<{ agent_id: string; capability: string; place: string }>()(
  queryBuilder.insertInto("agent_capabilities").values(params("agent_id", "capability", "place")),
);
const clear = compile()(queryBuilder.deleteFrom("agent_capabilities"));
const capabilities = compile()(queryBuilder.selectFrom("agent_capabilities").selectAll());

test("changed agents are published after the commit and before it is acknowledged", async () => {
  const opened = await openMigrated({ migrations });
  if (!opened.ok) throw new Error(opened.code);
  const { storage } = opened;
  const published: ChangedAgents[] = [];
  const order: string[] = [];
  storage.onAgentsChanged((changed) => {
    published.push(changed);
    order.push("published");
  });
  const add = (agent_id: string) =>
    storage.transaction(async (tx) => {
      await tx.run(addCapability, { agent_id, capability: "x", place: "" });
      order.push("written");
    });
  await add("a").then(() => order.push("acknowledged"));
  expect(order).toEqual(["written", "published", "acknowledged"]);
  expect(published).toEqual([new Set(["a"])]);
  await Promise.all([add("b"), add("c")]);
  expect(published.slice(1)).toEqual([new Set(["b", "c"])]);
  await storage.transaction((tx) => tx.run(clear, {}));
  expect(published.at(-1)).toBe("all");
  await storage.transaction((tx) => tx.all(capabilities, {}));
  expect(published).toHaveLength(3);
  await storage.close();
});
