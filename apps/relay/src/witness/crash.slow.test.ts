import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sha256Hex } from "@agent/crypto";
import { formatAddCheckpoint, parseCheckpoint, proveConsistency } from "@agent/transparency";
import type { ModelLog } from "@agent/transparency/model-log";
import { afterAll, afterEach, expect, test } from "vitest";
import { endRelays, minimalEnv, startRelay } from "../../test/processes/relay-process.ts";
import { createModelLog, witnessEnv } from "../../test/agents/witness.ts";

const killed = fileURLToPath(
  new URL("../../test/processes/killed-witness-process.ts", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "witness-crash-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

const log = createModelLog(40);
const liar = createModelLog(40, 7);
const { origin } = log.keys;

async function ask(baseUrl: string, of: ModelLog, old: number, size: number) {
  const proof = old === 0 || old === size ? [] : await proveConsistency(old, size, of.readTile);
  const answer = await fetch(`${baseUrl}/witness/v1/add-checkpoint`, {
    method: "POST",
    body: formatAddCheckpoint(old, proof, of.sign([], size)),
  });
  return { status: answer.status, text: await answer.text() };
}

async function getWitnessedSize(baseUrl: string): Promise<number> {
  const answer = await fetch(`${baseUrl}/witness/v1/${sha256Hex(origin)}/checkpoint`);
  const parsed = parseCheckpoint(await answer.text());
  return parsed.ok ? parsed.head.size : 0;
}

test("TL6 a witness that was killed between storing a head and answering does not return to an older head", async () => {
  const env = {
    ...minimalEnv,
    ...witnessEnv(log),
    AGENT_DB_PATH: join(folder, "witness.db"),
    WITNESSED_ORIGIN: origin,
    WITNESSED_SIZE: "17",
  };
  const exact = { isExact: true };
  const first = startRelay(env, { ...exact, main: killed });
  const firstUrl = await first.baseUrl;
  expect(await ask(firstUrl, log, 0, 10)).toMatchObject({ status: 200 });
  await expect(ask(firstUrl, log, 10, 17)).rejects.toThrow("fetch failed");
  expect(await first.ended).toMatchObject({ signal: "SIGKILL" });

  const second = startRelay(env, exact);
  const url = await second.baseUrl;
  expect(await getWitnessedSize(url)).toBe(17);
  // The log does not know that its head was stored; another history from the old size gets no cosignature.
  expect(await ask(url, liar, 10, 12)).toMatchObject({ status: 409, text: "17\n" });
  expect(await ask(url, liar, 17, 40)).toMatchObject({ status: 422 });
  expect(await ask(url, log, 10, 17)).toMatchObject({ status: 409, text: "17\n" });
  expect(await ask(url, log, 17, 17)).toMatchObject({ status: 200 });
  expect(await ask(url, log, 17, 40)).toMatchObject({ status: 200 });
  expect(await getWitnessedSize(url)).toBe(40);
});
