import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import {
  builtMain,
  endRelays,
  isBuilt,
  parseLogLines,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../test/processes/relay-process.ts";
import { variables } from "./config/config-variables.ts";
import { findIdentity } from "./identity/store.ts";
import { migrations } from "./storage/migrations/index.ts";
import { onlyOn } from "../test/engine/engine.ts";
import { openMigrated } from "../test/stored/migrated-storage.ts";
import { version } from "./version.ts";

// A start takes half a second of CPU, and the machine may be busy.
const folder = mkdtempSync(join(tmpdir(), "relay-main-"));
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

async function stop(relay: RelayProcess): Promise<void> {
  await relay.baseUrl;
  relay.kill("SIGTERM");
  expect(await relay.ended).toEqual({ code: 0, signal: null });
}

/** Does not start: exit 1, nothing about its start on stdout, one JSON line for each reason. */
async function refusedStart(env: Record<string, string>, args: readonly string[] = []) {
  const relay = startRelay(env, { args });
  expect(await relay.ended).toEqual({ code: 1, signal: null });
  expect(listMessages(relay.stdout())).toEqual([]);
  return parseLogLines(relay.stderr());
}

/** Lists the messages of log lines but those that each start on PostgreSQL writes. */
function listMessages(text: string): string[] {
  return parseLogLines(text)
    .map(({ msg }) => String(msg))
    .filter((msg) => !/^(processes|storage)\./.test(msg));
}

describe("a relay that starts from its environment alone", () => {
  async function expectReadyAndStopped(main?: string): Promise<void> {
    const relay = startRelay(minimalEnv, main === undefined ? {} : { main });
    const url = await relay.baseUrl;
    for (const probe of ["/health", "/health/live", "/health/ready"]) {
      expect((await fetch(url + probe)).status).toBe(200);
    }
    await stop(relay);
    expect(relay.stderr()).toBe("");
    expect(listMessages(relay.stdout())).toEqual([
      "relay.listening",
      "relay.draining",
      "relay.stopped",
    ]);
    await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  }

  test("a relay from source is ready when it reports so and exits with 0 on SIGTERM", async () => {
    expect(await expectReadyAndStopped()).toBeUndefined();
  });

  if (!isBuilt) console.warn(`SKIPPED: ${builtMain} is not there, run pnpm build`);
  test.skipIf(!isBuilt)("a built relay is ready when it reports so and exits with 0", async () => {
    expect(await expectReadyAndStopped(builtMain)).toBeUndefined();
  });
});

describe("the command", () => {
  async function output(args: readonly string[], env: Record<string, string> = {}) {
    const relay = startRelay(env, { args });
    const { code } = await relay.ended;
    return { code, stdout: relay.stdout(), stderr: relay.stderr() };
  }

  test("--help names every variable and starts nothing", async () => {
    const { code, stdout, stderr } = await output(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of Object.keys(variables)) expect(stdout).toContain(name);
  });

  test("--version prints the version", async () => {
    expect(await output(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test("--check-config reports whether the configuration is valid and starts nothing", async () => {
    const path = join(folder, "never.db");
    const checked = await output(["--check-config"], { ...minimalEnv, AGENT_DB_PATH: path });
    expect(checked).toEqual({ code: 0, stdout: "configuration is valid\n", stderr: "" });
    expect(readdirSync(folder)).not.toContain("never.db");
  });

  test("--check-config names each variable that the relay does not have, and passes", async () => {
    const mistyped = { AGENT_FEDERATION_ALLOWED_PEER: "no-relay", X402_NETWROK: "eip155:1" };
    const others = { AGENT_RELAY_URL: "http://127.0.0.1:1", HOME: folder };
    const env = { ...minimalEnv, ...mistyped, ...others };
    const { code, stdout } = await output(["--check-config"], env);
    expect(code).toBe(0);
    const [result, ...warnings] = stdout.trimEnd().split("\n");
    expect(result).toBe("configuration is valid");
    expect(parseLogLines(warnings.join("\n"))).toMatchObject(
      Object.keys(mistyped).map((variable) => ({
        level: "warn",
        msg: "config.unknown_variable",
        variable,
      })),
    );
    expect(stdout).not.toContain("no-relay");
  });

  test("the command refuses an unknown argument with one line and a hint", async () => {
    expect(await output(["--listen"], minimalEnv)).toEqual({
      code: 2,
      stdout: "",
      stderr: "agent-relay: Unknown option '--listen'\ntry agent-relay --help\n",
    });
    expect(await output(["lisst"], minimalEnv)).toMatchObject({
      code: 2,
      stderr: 'agent-relay: there is no command "lisst"\ntry agent-relay --help\n',
    });
  });

  test.each([
    [["--stolen"], "--stolen needs a command"],
    [["--status"], "--status needs a command"],
    [["dev", "--stolen"], "dev takes no --stolen"],
    [["freeze", "--check-config", "an audit"], "freeze takes no --check-config"],
    [["deposit", "a", "1", "--reference", "r", "--status"], "deposit takes no --status"],
  ])(
    "the command refuses the flag of another command in %j, and does nothing",
    async (args, message) => {
      expect(await output(args, minimalEnv)).toEqual({
        code: 2,
        stdout: "",
        stderr: `agent-relay: ${message}\ntry agent-relay --help\n`,
      });
    },
  );

  test("--check-config names an address that this machine does not have, and fails", async () => {
    // The range is for documentation (RFC 5737).
    const env = { ...minimalEnv, AGENT_HOST: "203.0.113.5" };
    const { code, stdout, stderr } = await output(["--check-config"], env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(parseLogLines(stderr)).toMatchObject([
      { msg: "config.unusable", variable: "AGENT_HOST" },
    ]);
  });

  test.runIf(onlyOn("sqlite"))(
    "--check-config also reports a folder that cannot be used",
    async () => {
      const path = join(folder, "missing", "relay.db");
      const { code, stdout, stderr } = await output(["--check-config"], {
        ...minimalEnv,
        AGENT_DB_PATH: path,
      });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(parseLogLines(stderr).map(({ variable }) => variable)).toEqual(["AGENT_DB_PATH"]);
    },
  );

  test("--check-config names a port that is in use and passes, because a relay may be running", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => taken.once("listening", listening));
    const { port } = taken.address() as { port: number };
    const env = { ...minimalEnv, PORT: String(port) };
    const { code, stdout, stderr } = await output(["--check-config"], env);
    expect(code).toBe(0);
    expect(stdout + stderr).toContain(`PORT ${port} cannot be used: EADDRINUSE`);
    expect(stdout).toContain("configuration is valid\n");
    taken.close();
  });
});

describe("HO14 a start is refused", () => {
  test.each([[[]], [["--check-config"]]])(
    "a start is refused with every configuration fault named at once, and no value quoted (%j)",
    async (args) => {
      const faulty = {
        PORT: "eighty",
        LOG_LEVEL: "loud",
        X402_PAY_TO_ADDRESS: "0xWALLET",
        AGENT_DATABASE_URL: "postgres://user:hunter2@db/relay",
        AGENT_PLATFORM_FEE_RATE: "-1",
      };
      const lines = await refusedStart({ ...faulty, AGENT_DB_PATH: join(folder, "no.db") }, args);
      expect(new Set(lines.map(({ variable }) => variable))).toEqual(
        new Set(["AGENT_API_TOKEN", ...Object.keys(faulty)]),
      );
      for (const line of lines)
        expect(line).toMatchObject({ level: "error", msg: "config.invalid" });
      const text = JSON.stringify(lines);
      for (const value of ["eighty", "loud", "WALLET", "hunter2"])
        expect(text).not.toContain(value);
    },
  );

  test("the relay refuses to start when its port is in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => taken.once("listening", listening));
    const { port } = taken.address() as { port: number };
    const lines = await refusedStart({ ...minimalEnv, PORT: String(port) });
    expect(lines).toMatchObject([{ level: "error", msg: "relay.listen_failed", variable: "PORT" }]);
    taken.close();
  });

  test.runIf(onlyOn("sqlite")).each<[what: string, code: string, path: () => Promise<string>]>([
    ["in a folder that is not there", "database.unusable", async () => join(folder, "no", "it.db")],
    ["that is cut short", "database.damaged", () => spoilt((whole) => whole.subarray(0, 20_000))],
    [
      "that is overwritten in part",
      "database.damaged",
      () => spoilt((whole) => whole.fill(7, 4_096, 9_000)),
    ],
  ])(
    "the relay refuses to start with a database %s and does not change its file",
    async (_, code, make) => {
      const path = await make();
      const before = bytesOf(path);
      const lines = await refusedStart({ ...minimalEnv, AGENT_DB_PATH: path });
      expect(lines).toMatchObject([{ level: "error", msg: "relay.start_refused", code }]);
      expect(lines[0]?.["detail"]).toContain(path);
      expect(bytesOf(path)).toEqual(before);
    },
  );

  test.runIf(onlyOn("sqlite"))(
    "the relay refuses to start with the database of a running relay",
    async () => {
      const env = { ...minimalEnv, AGENT_DB_PATH: join(folder, "shared.db") };
      const first = startRelay(env);
      const url = await first.baseUrl;
      expect(await refusedStart(env)).toMatchObject([
        { msg: "relay.start_refused", code: "database.locked" },
      ]);
      expect((await fetch(`${url}/health/ready`)).status).toBe(200);
    },
  );

  test.runIf(onlyOn("sqlite"))(
    "a relay that starts waits for another program that recovers the database",
    async () => {
      const path = join(mkdtempSync(join(folder, "recovered-")), "relay.db");
      const opened = await openMigrated({ path, migrations });
      if (opened.ok) await opened.storage.close();
      const other = new Sqlite(path);
      other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
      const relay = startRelay({ ...minimalEnv, AGENT_DB_PATH: path });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      other.close();
      expect((await fetch(`${await relay.baseUrl}/health/ready`)).status).toBe(200);
    },
  );

  const bytesOf = (path: string) => (existsSync(path) ? readFileSync(path) : undefined);

  async function spoilt(spoil: (whole: Buffer) => Buffer): Promise<string> {
    const path = join(mkdtempSync(join(folder, "spoilt-")), "relay.db");
    const opened = await openMigrated({ path, migrations });
    if (opened.ok) await opened.storage.close();
    writeFileSync(path, spoil(readFileSync(path)));
    return path;
  }
});

describe.runIf(onlyOn("sqlite"))("HO13 the relay's key", () => {
  const passphrase = "correct horse battery staple";

  const filesOf = (name: string) => readdirSync(folder).filter((file) => file.startsWith(name));

  async function relayIdOf(relay: RelayProcess): Promise<unknown> {
    await stop(relay);
    return parseLogLines(relay.stdout())[0]?.["relay_id"];
  }

  async function storedKey(path: string): Promise<string> {
    const opened = await openMigrated({ path, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    const identity = await findIdentity(opened.storage.read);
    await opened.storage.close();
    return identity!.secret_key;
  }

  function expectPrivate(files: readonly string[]): void {
    expect(files).toEqual(expect.arrayContaining(["sealed.db", "sealed.db-shm", "sealed.db-wal"]));
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  }

  test("the relay's key is readable by its owner only, and is sealed once there is a passphrase", async () => {
    const path = join(folder, "sealed.db");
    const plain = { ...minimalEnv, AGENT_DB_PATH: path };
    const first = startRelay(plain);
    await first.baseUrl;
    expectPrivate(filesOf("sealed.db"));
    const relayId = await relayIdOf(first);
    const key = await storedKey(path);
    expect(key).toMatch(/^[0-9a-f]{64}$/);

    const sealed = { ...plain, AGENT_RELAY_KEY_PASSPHRASE: passphrase };
    const relay = startRelay(sealed);
    await relay.baseUrl;
    expectPrivate(filesOf("sealed.db"));
    for (const file of filesOf("sealed.db")) {
      expect(readFileSync(join(folder, file)).includes(key)).toBe(false);
      expect(readFileSync(join(folder, file)).includes(Buffer.from(key, "hex"))).toBe(false);
    }
    expect(await relayIdOf(relay)).toBe(relayId);
    expect(await storedKey(path)).toContain("600000");

    const before = readFileSync(path);
    const wrong = { ...sealed, AGENT_RELAY_KEY_PASSPHRASE: `${passphrase} ` };
    for (const env of [wrong, plain]) {
      const lines = await refusedStart(env);
      expect(lines).toMatchObject([{ msg: "relay.start_refused", code: "identity.unreadable" }]);
      expect(JSON.stringify(lines)).not.toContain(passphrase);
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe("D9: the operator's tokens in a file", () => {
  const tokens = { old: "operator-token-old", new: "operator-token-new" };

  test("D9: SIGHUP makes the relay read the file again, and an invalid file does not change the valid tokens", async () => {
    const file = join(folder, "operator-tokens");
    writeFileSync(file, `${tokens.old}\n`);
    const { AGENT_API_TOKEN: _, ...env } = minimalEnv;
    const relay = startRelay({ ...env, AGENT_API_TOKEN_FILE: file });
    const url = await relay.baseUrl;
    const statusOf = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${url}/api/v1/admin/accounts`, { headers })).status;
    };
    const reload = async (text: string, msg: string) => {
      const before = listMessages(relay.stdout() + relay.stderr()).length;
      writeFileSync(file, text);
      relay.kill("SIGHUP");
      await vi.waitFor(() => {
        const messages = listMessages(relay.stdout() + relay.stderr());
        expect(messages).toHaveLength(before + 1);
        expect(messages).toContain(msg);
      });
    };
    expect([await statusOf(tokens.old), await statusOf(tokens.new)]).toEqual([200, 403]);
    await reload(`${tokens.old},${tokens.new}`, "config.reloaded");
    expect([await statusOf(tokens.old), await statusOf(tokens.new)]).toEqual([200, 200]);
    await reload(`${tokens.new},`, "config.reload_refused");
    expect([await statusOf(tokens.old), await statusOf(tokens.new)]).toEqual([200, 200]);
    await reload(tokens.new, "config.reloaded");
    expect([await statusOf(tokens.old), await statusOf(tokens.new)]).toEqual([403, 200]);
    await stop(relay);
    const written = relay.stdout() + relay.stderr();
    for (const token of Object.values(tokens)) expect(written).not.toContain(token);
  });
});
