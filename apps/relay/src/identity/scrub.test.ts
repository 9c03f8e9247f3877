import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onlyOn } from "../../test/engine/engine.ts";
import { endRelays, minimalEnv, parseLogLines, startRelay } from "../../test/relay-process.ts";

vi.setConfig({ testTimeout: 60_000 });

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

const start = (env: Record<string, string> = {}) =>
  startRelay({ ...minimalEnv, AGENT_DB_PATH: path, ...env });

async function stop(relay: ReturnType<typeof start>): Promise<void> {
  await relay.baseUrl;
  relay.kill("SIGTERM");
  expect(await relay.ended).toEqual({ code: 0, signal: null });
}

async function check(): Promise<string> {
  const command = startRelay({ AGENT_DB_PATH: path }, { args: ["check"] });
  expect((await command.ended).code).toBe(0);
  return command.stdout();
}

/** Another process reads, because closing a file would end this process's locks on it. */
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
  await stop(start());
  const db = new Sqlite(path, { readonly: true });
  const key = db.prepare("SELECT secret_key FROM relay_identity").pluck().get() as string;
  db.close();
  return key;
}

test.runIf(onlyOn("sqlite"))(
  "H10: a plain key leaves the files once the program that read them has ended, and check says so",
  async () => {
    const key = await createPlainKey();
    const reader = new Sqlite(path, { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM relay_identity").get();
    const relay = start({ AGENT_RELAY_KEY_PASSPHRASE: "correct horse battery staple" });
    await relay.baseUrl;
    await vi.waitFor(() =>
      expect(parseLogLines(relay.stderr() + relay.stdout()).map(({ msg }) => msg)).toContain(
        "identity.scrub_pending",
      ),
    );
    expect(isInFiles(key)).toBe(true);
    expect(await check()).toContain("identity.scrub_pending");
    reader.close();
    await vi.waitFor(() => expect(isInFiles(key)).toBe(false), { timeout: 40_000, interval: 500 });
    await vi.waitFor(async () => expect(await check()).not.toContain("scrub_pending"), {
      timeout: 20_000,
      interval: 500,
    });
    await stop(relay);
  },
);

test.runIf(onlyOn("sqlite"))(
  "H10: a plain key leaves the files at once where no other program reads them",
  async () => {
    const key = await createPlainKey();
    const relay = start({ AGENT_RELAY_KEY_PASSPHRASE: "correct horse battery staple" });
    await relay.baseUrl;
    expect(isInFiles(key)).toBe(false);
    expect(await check()).not.toContain("scrub_pending");
    await stop(relay);
    expect(relay.stdout() + relay.stderr()).not.toContain("scrub_pending");
  },
);
