import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { createDatabase, dropDatabase } from "@agent/test-postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import { engine, getServer } from "../../../test/engine/engine.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { openStorage, type DatabaseLocation } from "../../storage/open-storage.ts";
import { recordOnline } from "./record-online.ts";
import { listSpans, listWatches } from "./span-store.ts";

const MINUTE_MS = 60_000;
const PERIOD = 10;
/** The agent is online in the first minutes of each period. */
const ONLINE = 6;

const urlOf = (path: string) => JSON.stringify(new URL(path, import.meta.url));

/** Takes samples as fast as it can by its own clock, and prints the minute of each stored sample. */
const program = `
  import { openStorage } from ${urlOf("../../storage/open-storage.ts")};
  import { migrations } from ${urlOf("../../storage/migrations/index.ts")};
  import { recordOnline } from ${urlOf("record-online.ts")};
  const [place, first] = JSON.parse(process.argv[1]);
  const opened = await openStorage({ ...place, migrations });
  if (!opened.ok) throw new Error(opened.code);
  for (let minute = first; ; minute++) {
    const online = new Set(minute % ${PERIOD} < ${ONLINE} ? ["agent"] : []);
    await opened.storage.transaction((tx) => recordOnline(tx, online, minute * ${MINUTE_MS}));
    process.stdout.write(minute + "\\n");
  }
`;

let directory: string;
let place: DatabaseLocation;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "relay-online-"));
  place =
    engine === "postgres"
      ? { url: await createDatabase(getServer().serverUrl, basename(directory)) }
      : { path: join(directory, "relay.db") };
});
afterEach(async () => {
  if (engine === "postgres") await dropDatabase(getServer().serverUrl, basename(directory));
  rmSync(directory, { recursive: true });
});

/** Runs the program from a given minute, kills it after some samples and returns the last printed minute. */
async function sampleUntilKilled(first: number, count: number): Promise<number> {
  const args = ["--conditions=agent-source", "--input-type=module", "-e", program];
  const child = spawn(process.execPath, [...args, JSON.stringify([place, first])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = first - 1;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    if (last === first + count) child.kill("SIGKILL");
  }
  return last;
}

test("the spans after kill -9 are the same as if the program had not been killed", async () => {
  let next = 0;
  for (const count of [33, 21, 44]) next = (await sampleUntilKilled(next, count)) + 1;
  const opened = await openStorage({ ...place, migrations });
  if (!opened.ok) throw new Error(opened.detail);
  const { storage } = opened;
  const last = (Math.floor(next / PERIOD) + 2) * PERIOD - 1;
  for (let minute = next; minute <= last; minute += 1) {
    const online = new Set(minute % PERIOD < ONLINE ? ["agent"] : []);
    await storage.transaction((tx) => recordOnline(tx, online, minute * MINUTE_MS));
  }
  const spans = await listSpans(storage.read, { agent_id: "agent", from: -1 });
  const watched = await listWatches(storage.read, -1);
  await storage.close();
  expect(next).toBeGreaterThan(98);
  expect(watched).toEqual([{ since: 0, until: last * MINUTE_MS }]);
  expect(spans).toEqual(
    Array.from({ length: (last + 1) / PERIOD }, (_, period) => ({
      since: period * PERIOD * MINUTE_MS,
      until: (period * PERIOD + ONLINE) * MINUTE_MS,
    })),
  );
});
