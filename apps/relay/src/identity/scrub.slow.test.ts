import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { endRelays, startRelay } from "../../test/processes/relay-process.ts";
import { startTestRelay } from "../../test/test-relay.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "relay-scrub-"));
  path = join(folder, "relay.db");
});
afterEach(async () => {
  await endRelays();
  rmSync(folder, { recursive: true });
});

const start = (seed: number, env: Record<string, string> = {}) =>
  startTestRelay({ AGENT_DB_PATH: path, ...env }, seed);

const passphrase = { AGENT_RELAY_KEY_PASSPHRASE: "correct horse battery staple" };

/** A program of its own, because the locks of a file belong to the whole process. */
const READER = `
  import Sqlite from "better-sqlite3";
  const db = new Sqlite(process.argv[1], { readonly: true });
  db.exec("BEGIN");
  db.prepare("SELECT count(*) FROM relay_identity").get();
  console.log("reading");
  process.stdin.resume();`;

/** Starts a program that reads the database; the returned function ends it. */
async function startReader(): Promise<() => Promise<void>> {
  const reader = spawn(process.execPath, ["--input-type=module", "-e", READER, path], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(reader, "close");
  await once(reader.stdout, "data");
  return async () => {
    reader.stdin.end();
    await ended;
  };
}

async function check(): Promise<string> {
  const command = startRelay({ AGENT_DB_PATH: path }, { args: ["check"] });
  expect((await command.ended).code).toBe(0);
  return command.stdout();
}

/** Another process reads the files, because closing them here would end the locks of this process on them. */
function isInFiles(text: string): boolean {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  try {
    execFileSync("grep", ["-q", "-a", "-F", text, ...files]);
    return true;
  } catch {
    return false;
  }
}

/** Creates a relay with a plain key and returns the key. */
async function createPlainKey(): Promise<string> {
  await (await start(1)).close();
  const db = new Sqlite(path, { readonly: true });
  const key = db.prepare("SELECT secret_key FROM relay_identity").pluck().get() as string;
  db.close();
  return key;
}

test.runIf(onlyOn("sqlite"))(
  "H10: a plain key is gone from the files once no program reads them, and until then check reports it",
  async () => {
    const key = await createPlainKey();
    const stopReading = await startReader();
    const t = await start(2, passphrase);
    await t.relay.tick();
    expect(t.listLogged("identity.scrub_pending")).toHaveLength(1);
    expect(isInFiles(key)).toBe(true);
    expect(await check()).toContain("identity.scrub_pending");
    await stopReading();
    await t.clock.advance(15_000);
    await t.relay.tick();
    expect(isInFiles(key)).toBe(false);
    expect(await check()).not.toContain("scrub_pending");
    await t.close();
  },
);

test.runIf(onlyOn("sqlite"))(
  "H10: a plain key is gone from the files at once if no other program reads them",
  async () => {
    const key = await createPlainKey();
    const t = await start(2, passphrase);
    expect(isInFiles(key)).toBe(false);
    expect(await check()).not.toContain("scrub_pending");
    await t.relay.tick();
    expect(t.listLogged("identity.scrub_pending")).toEqual([]);
    await t.close();
  },
);
