import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyArtifact } from "@agent/verify";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import {
  beginRealCase,
  createCallerOf,
  createRealParties,
  expectSettledOnce,
  type RelayCaller,
  realActs,
  waitUntilClosed,
} from "../../test/processes/inspection-process.ts";
import type { Case } from "../../test/inspections.ts";
import { readLogEntries } from "../../test/stored/log-entries.ts";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN, type TestRelay } from "../../test/test-relay.ts";

vi.setConfig({ testTimeout: 300_000 });

const folder = mkdtempSync(join(tmpdir(), "relay-inspection-storm-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  ...minimalEnv,
  AGENT_DB_PATH: join(folder, "relay.db"),
  AGENT_LOG_INTERVAL_MS: "200",
  AGENT_DISPUTE_WINDOW_MIN_MS: "100",
  AGENT_DISPUTE_ANSWER_MS: "1000",
  AGENT_DISPUTE_DECISION_MS: "1000",
};

const CASES = 6;
const KILLS = 3;

type Act = (caller: RelayCaller, given: Case) => Promise<{ readonly status: number }>;

const readEvidence = async (baseUrl: string, { task }: Case): Promise<string> => {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const answer = await fetch(`${baseUrl}${task.path}/evidence`, { headers });
  expect(answer.status).toBe(200);
  return answer.text();
};

const storm: readonly Act[] = [
  realActs.reject,
  realActs.contest,
  realActs.accept,
  realActs.concede,
  realActs.decide,
  ({ asOperator }, { task }) =>
    asOperator("POST", `${task.path}/decision`, { share: 0.3, reason: "Some of it is there." }),
];

/** Returns the outcomes in the log of a relay, once it has as many as expected. */
async function listLoggedOutcomes(baseUrl: string, expected: number): Promise<string[]> {
  const served = {
    transparencyLog: { integrate: () => Promise.resolve() },
    fetch: (request: Request) => fetch(`${baseUrl}${new URL(request.url).pathname}`),
  } as unknown as TestRelay["relay"];
  const outcomes = async () =>
    (await readLogEntries({ relay: served })).filter(({ kind }) => kind === "outcome");
  await vi.waitUntil(async () => (await outcomes()).length >= expected, { timeout: 30_000 });
  return (await outcomes()).map(({ artifactHash }) => artifactHash);
}

test("IS8: all acts at once, with kill -9 among them, leave one outcome, settlement and log entry for each case", async () => {
  let relay = startRelay(env);
  let baseUrl = await relay.baseUrl;
  let caller = await createCallerOf(baseUrl);
  const cases: Case[] = [];
  const failures: number[] = [];
  for (let round = 0; round <= KILLS; round += 1) {
    // A submitter that concedes so often is suspended, so each round has other parties.
    const parties = await createRealParties(caller, 1_000);
    const begun = await Promise.all(
      Array.from({ length: CASES }, () => beginRealCase(caller, parties)),
    );
    cases.push(...begun);
    // Half of the cases are disputed already, so that all acts can win.
    await Promise.all(begun.slice(CASES / 2).map((given) => realActs.reject(caller, given)));
    await Promise.all(begun.slice(CASES / 2).map((given) => realActs.contest(caller, given)));
    let answered = 0;
    const sent = begun.flatMap((given, at) =>
      storm.flatMap((_, turn) =>
        [0, 1, 2].map(async (again) => {
          const act = storm[(turn + at + again) % storm.length]!;
          const answer = await act(caller, given).catch(() => undefined);
          if (answer !== undefined && answer.status >= 500) failures.push(answer.status);
          answered += 1;
        }),
      ),
    );
    if (round < KILLS) {
      const enough = (round + 1) * 20;
      await vi.waitUntil(() => answered >= enough, { interval: 1, timeout: 60_000 });
      relay.kill("SIGKILL");
    }
    await Promise.all(sent);
    if (round === KILLS) break;
    await relay.ended;
    relay = startRelay(env);
    baseUrl = await relay.baseUrl;
    caller = await createCallerOf(baseUrl);
  }
  const closed = await waitUntilClosed(caller, cases);
  expect(failures).toEqual([]);
  for (let first = 0; first < cases.length; first += CASES) {
    await expectSettledOnce(caller, cases[first]!, CASES);
  }
  const logged = await listLoggedOutcomes(baseUrl, cases.length);
  expect(logged).toHaveLength(cases.length);
  expect(new Set(logged).size).toBe(cases.length);
  for (const given of cases) {
    expect(verifyArtifact(await readEvidence(baseUrl, given))).toMatchObject({ valid: true });
  }
  // Which acts win depends on the storm, but it is not always the same one.
  expect(new Set(closed.map(({ outcome }) => outcome?.outcome)).size).toBeGreaterThan(1);
  relay.kill("SIGTERM");
  await relay.ended;
});
