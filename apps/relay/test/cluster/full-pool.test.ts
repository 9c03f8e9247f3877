import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { openConnection } from "@agent/test-postgres";
import type { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../engine/engine.ts";
import { OPERATOR_TOKEN } from "../test-relay.ts";
import { call, startCluster, type Cluster } from "./start-cluster.ts";

const READERS = 60;
/** Longer than a process counts as alive without renewing its row. */
const DURATION_MS = 15_000;

describe.runIf(onlyOn("postgres"))("processes whose reading connections are all in use", () => {
  let cluster: Cluster;
  let locker: Client;
  beforeEach(async () => {
    cluster = await startCluster(2, { AGENT_RATE_LIMIT_SCALE: "0", AGENT_DATABASE_POOL: "2" });
    locker = await openConnection(cluster.databaseUrl);
  });
  afterEach(async () => {
    await locker.end();
    await cluster.stop();
  });

  test(
    "H29: a process stays alive, ready and measurable while its reads wait for a locked table",
    { timeout: 60_000 },
    async () => {
      const [first] = cluster.members;
      const agent = await cluster.createAgent();
      const token = await cluster.token(agent);
      const refused = new Set<number>();
      let isOver = false;
      const read = async () => {
        const path = `/agent/${agent.agentId}/task/${randomUUID()}`;
        while (!isOver) refused.add((await call(first, "GET", path, { token })).status);
      };
      await locker.query("BEGIN; LOCK TABLE tasks IN ACCESS EXCLUSIVE MODE");
      const reading = Array.from({ length: READERS }, (_, at) => sleep(at * 10).then(read));
      const probes = new Map<string, number[]>();
      const until = performance.now() + DURATION_MS;
      while (performance.now() < until) {
        for (const path of ["/health/ready", "/metrics"]) {
          const { status } = await call(first, "GET", path, { token: OPERATOR_TOKEN });
          probes.set(path, [...(probes.get(path) ?? []), status]);
        }
        await sleep(100);
      }
      isOver = true;
      await locker.query("COMMIT");
      await Promise.all(reading);
      expect(refused).toContain(503);
      // A busy machine is sometimes late; without reserved connections most of these requests would fail.
      for (const statuses of probes.values()) {
        const answered = statuses.filter((status) => status === 200).length;
        expect(answered / statuses.length).toBeGreaterThan(0.8);
      }
    },
  );
});
