import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import {
  requestJson,
  runLoad,
  listMissing,
  createLoadAgents,
  type LoadAgents,
} from "../test/load.ts";
import {
  builtMain,
  endRelays,
  isBuilt,
  parseLogLines,
  minimalEnv,
  startRelay,
} from "../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test/test-relay.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-crash-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

if (!isBuilt) console.warn(`NOT AS BUILT: ${builtMain} is not there, run pnpm build`);
const options = isBuilt ? { main: builtMain } : {};

test("MN13 RC2 a relay keeps every acknowledged task, receipt and posting after kill -9 under load", async () => {
  const env = { ...minimalEnv, AGENT_DB_PATH: join(folder, "relay.db") };
  let relay = startRelay(env, options);
  const load = await createLoadAgents(await relay.baseUrl);
  const relayIds = new Set<unknown>();
  for (let round = 1; round <= 2; round += 1) {
    const driven = runLoad(await relay.baseUrl, load, () => false);
    await vi.waitFor(() => expect(load.acknowledged.receipts.size).toBeGreaterThan(round * 150), {
      timeout: 20_000,
      interval: 5,
    });
    relay.kill("SIGKILL");
    expect(await relay.ended).toEqual({ code: null, signal: "SIGKILL" });
    await driven;
    relayIds.add(findRelayId(relay.stdout()));

    relay = startRelay(env, options);
    expect(await listMissing(await relay.baseUrl, load)).toEqual([]);
  }
  relayIds.add(findRelayId(relay.stdout()));
  expect(relayIds.size).toBe(1);
  await expectRepeatsToBeKnown(await relay.baseUrl, load);
  expect(await listMissing(await relay.baseUrl, load)).toEqual([]);
  expect(load.acknowledged.receipts.size).toBeGreaterThan(300);
});

/** Other lines may come before the one that names the relay. */
const findRelayId = (log: string) =>
  parseLogLines(log).find((line) => "relay_id" in line)?.["relay_id"];

/** Repeats the requests that were answered before the crash; they must move nothing. */
async function expectRepeatsToBeKnown(baseUrl: string, load: LoadAgents): Promise<void> {
  const { payer, worker, acknowledged } = load;
  const [reference] = acknowledged.deposits;
  const account = `${baseUrl}/api/v1/agents/${payer.agentId}/deposit`;
  const again = { amount: 10, reference };
  expect(await requestJson(account, OPERATOR_TOKEN, "POST", again)).toMatchObject({
    status: 200,
    body: { idempotent: true, transaction_id: null },
  });
  for (const [taskId, receipt] of [...acknowledged.receipts].slice(0, 3)) {
    const result = `${baseUrl}/agent/${worker.agentId}/task/${taskId}/result`;
    expect(await requestJson(result, OPERATOR_TOKEN, "POST", receipt)).toEqual({
      status: 200,
      body: { status: "completed" },
    });
  }
}
