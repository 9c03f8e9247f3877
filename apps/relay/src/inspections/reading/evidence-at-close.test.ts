import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readBesideRelay } from "../../../test/engine/stored.ts";
import { beginCase, type Case, createParties, giveVerdict } from "../../../test/inspections.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";
import { operatorCaller } from "../../identity/caller.ts";
import { loadRelayIdentity } from "../../identity/relay-identity.ts";
import type { Reader, Storage } from "../../storage/storage.ts";
import { getEvidence } from "../../tasks/receipts/evidence.ts";

let folder: string;
let t: TestRelay;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-evidence-"));
  t = await startTestRelay({ AGENT_DB_PATH: join(folder, "relay.db") });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

/** Reads the database of the relay, each time as it is then. */
function createReader(beforeRead: () => Promise<void>): Reader {
  const path = join(folder, "relay.db");
  return {
    async get(query, params) {
      await beforeRead();
      return readBesideRelay(path, (read) => read.get(query, params));
    },
    async all(query, params) {
      await beforeRead();
      return readBesideRelay(path, (read) => read.all(query, params));
    },
  };
}

/** Reads the evidence of a case that is accepted before one of its reads; null if it has fewer. */
async function readWhileClosing(given: Case, closedBefore: number): Promise<string | null> {
  let count = 0;
  let closed: Promise<unknown> | undefined;
  const read = createReader(async () => {
    count += 1;
    if (count === closedBefore) closed = giveVerdict(t, given, "accepted");
    await closed;
  });
  const storage = { read } as Storage;
  const runtime = { now: t.clock.now };
  const loaded = await loadRelayIdentity(
    { read: createReader(async () => {}) } as Storage,
    runtime as Parameters<typeof loadRelayIdentity>[1],
    undefined,
  );
  if (!loaded.ok) throw new Error(loaded.code);
  const services = {
    storage,
    runtime,
    identity: loaded.identity,
    freezer: { taskTime: t.clock.now },
    relayLog: { isOn: false },
    trustGraph: { isBlocked: () => false },
  } as unknown as Parameters<typeof getEvidence>[0];
  const { task, worker } = given;
  const query = { agentId: worker.agentId, taskId: task.task_id, caller: operatorCaller };
  const answer = await getEvidence(services, query);
  if (closed === undefined) return null;
  await closed;
  if (!("body" in answer)) throw new Error(answer.code);
  return answer.body as string;
}

test("IS18: evidence is valid and shows one moment, before whichever of its reads the case closes", async () => {
  const parties = await createParties(t);
  await t.deposit(parties.boss, 1_000);
  const states: string[] = [];
  for (let closedBefore = 1; ; closedBefore += 1) {
    const text = await readWhileClosing(await beginCase(t, parties), closedBefore);
    if (text === null) break;
    const verdict = verifyArtifact(text);
    expect({ closedBefore, ...verdict }).toMatchObject({ closedBefore, valid: true });
    const { inspection } = JSON.parse(text) as { inspection: { state: string } };
    states.push(inspection.state);
  }
  expect(new Set(states)).toEqual(new Set(["closed", "inspecting"]));
});
