import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { createToken } from "@agent/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { createLoadAgents, requestJson } from "../../test/load.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { choosePoolSize } from "./choose-pool-size.ts";

afterEach(endRelays);

test.each([
  [1, 2],
  [2, 2],
  [3, 3],
  [4, 4],
  [64, 4],
])("on %i cores the pool has %i threads", (cores, threads) => {
  expect(choosePoolSize(cores)).toBe(threads);
});

/** Counts the threads of a process that belong to the pool. */
function countPoolThreads(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).filter((id) =>
    readFileSync(`${tasks}/${id}/comm`, "utf8").startsWith("libuv-worker"),
  ).length;
}

describe.runIf(process.platform === "linux")("the pool of a started relay", () => {
  test.each([
    ["the pool of a started relay has the chosen size", {}, choosePoolSize(availableParallelism())],
    [
      "the pool of a started relay has the size that its operator sets",
      { UV_THREADPOOL_SIZE: "7" },
      7,
    ],
  ])("%s", async (_, env, threads) => {
    const relay = startRelay({ ...minimalEnv, ...env });
    const baseUrl = await relay.baseUrl;
    const { payer, did } = await createLoadAgents(baseUrl);
    // The whole pool is created at the first signature.
    const token = await createToken(payer, did, { now: Date.now, randomBytes });
    const path = `/api/v1/agents/${payer.agentId}/balance`;
    expect((await requestJson(`${baseUrl}${path}`, token)).status).toBe(200);
    expect(countPoolThreads(relay.pid)).toBe(threads);
  });
});
