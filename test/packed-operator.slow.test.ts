import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { installPacked, runCommand } from "./install-packed.ts";

const folder = mkdtempSync(join(tmpdir(), "packed-operator-"));
const bin = (name: string) => join(folder, "node_modules/.bin", name);
const TOKEN = "token-of-the-packed-operator-0123";
const settings = {
  AGENT_API_TOKEN: TOKEN,
  X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  AGENT_HOST: "127.0.0.1",
  PORT: "0",
};
const running = new Set<ChildProcess>();

const run = (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(bin(name), args, { cwd: folder, env });

/** Starts a program that runs until the test ends; resolves with the group of the expected line. */
async function start(
  [command = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  ready: RegExp,
) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: `${join(process.execPath, "..")}:${process.env["PATH"]}`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  const listens = new Promise<string>((resolve, reject) => {
    const read = (data: Buffer) => {
      output += data.toString();
      const found = ready.exec(output);
      if (found !== null) resolve(found[1] ?? "");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("close", () => reject(new Error(`it ended: ${output}`)));
  });
  return { found: await listens, output: () => output, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null) return;
  const ended = once(child, "close");
  child.kill("SIGTERM");
  await ended;
}

const startRelay = (env: Readonly<Record<string, string>> = {}) =>
  start([bin("agent-relay")], { ...settings, ...env }, /"port":(\d+)/);

const toClient = (port: string) => ({
  AGENT_RELAY_URL: `http://127.0.0.1:${port}`,
  AGENT_API_TOKEN: TOKEN,
});

async function ask(port: string, path: string, body?: object) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

beforeAll(async () => {
  await installPacked(folder, [
    { name: "@agent/relay", folder: "apps/relay", projects: ["apps/relay"] },
    { name: "@agent/agent-server", folder: "apps/agent-server", projects: ["apps/agent-server"] },
  ]);
}, 240_000);
afterEach(() => Promise.all([...running].map(stop)));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a new operator with the packed relay", { timeout: 60_000 }, () => {
  it("both programs answer a typing error of a new operator with one line and a hint", async () => {
    for (const [name, hint] of [
      ["agent-relay", /^agent-relay: .*--prot.*\ntry agent-relay --help\n$/],
      ["agent-server", /^agent-server: .*--prot.*\ntry agent-server --help\n$/],
    ] as const) {
      const { exitCode, stdout } = await run(name, ["--prot=3000"]);
      expect([name, exitCode, stdout]).toEqual([name, 2, expect.stringMatching(hint)]);
    }
  });

  it.runIf(existsSync("/usr/bin/node"))(
    "both programs tell a new operator in the first line that the Node.js is too old",
    async ({ skip }) => {
      const { stdout: version } = await runCommand("/usr/bin/node", ["--version"], { cwd: folder });
      skip(/^v(2[2-9]|[3-9]\d)/.test(version), `/usr/bin/node is ${version.trim()}`);
      for (const name of ["relay", "agent-server"]) {
        const main = `node_modules/@agent/${name}/dist/main.js`;
        const { exitCode, stdout } = await runCommand("/usr/bin/node", [main], { cwd: folder });
        expect([name, exitCode]).toEqual([name, 1]);
        expect(stdout.split("\n")[0]).toBe(
          `Node.js 22.19 or newer is needed, this is ${version.trim().slice(1)}`,
        );
      }
    },
  );

  it("--check-config tells a new operator that a folder is missing, and accepts a port that is taken", async () => {
    const missing = { ...settings, AGENT_DB_PATH: join(folder, "missing/relay.db") };
    const refused = await run("agent-relay", ["--check-config"], missing);
    expect(refused).toMatchObject({ exitCode: 1 });
    expect(refused.stdout).toContain("the folder of AGENT_DB_PATH does not exist");
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const named = await run("agent-relay", ["--check-config"], { ...settings, PORT: String(port) });
    taken.close();
    expect(named).toMatchObject({ exitCode: 0 });
    expect(named.stdout).toContain("configuration is valid");
  });

  it("a new operator gets JSON on a pipe, and readable lines on a terminal", async () => {
    const piped = await startRelay();
    for (const line of piped.output().trim().split("\n")) JSON.parse(line);
    await piped.stop();
    if (!existsSync("/usr/bin/script")) return;
    const shown = await start(
      ["script", "-qefc", bin("agent-relay"), "/dev/null"],
      { ...settings, TERM: "xterm" },
      /in memory: (.*)/,
    );
    await expect.poll(shown.output).toContain("/console#code=");
    expect(shown.output()).not.toContain('"msg"');
  });

  it("a new operator freezes by one command, reads why everywhere, and finds it again after a restart", async () => {
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const first = await startRelay(env);
    const client = toClient(first.found);
    expect(await run("agent-relay", ["freeze", "an audit"], client)).toMatchObject({ exitCode: 0 });
    const ready = await ask(first.found, "/health/ready");
    expect([ready.status, JSON.stringify(ready.body)]).toEqual([
      200,
      expect.stringContaining("an audit"),
    ]);
    const refused = await ask(first.found, `/api/v1/agents/${AGENT}/deposit`, { amount: 1 });
    expect([refused.status, refused.body["message"]]).toEqual([
      503,
      expect.stringContaining("an audit"),
    ]);
    await first.stop();
    const second = await startRelay(env);
    expect(second.output()).toContain("an audit");
    const again = await run("agent-relay", ["freeze"], toClient(second.found));
    expect(again.stdout).toContain("FROZEN");
    await run("agent-relay", ["unfreeze"], toClient(second.found));
    const status = await run("agent-relay", ["status"], toClient(second.found));
    expect(status.stdout).toContain("state     running");
  });

  it("a new operator sees a working relay with `agent-relay dev`, without any configuration", async () => {
    const dev = await start([bin("agent-relay"), "dev"], { PORT: "0" }, /AGENT_RELAY_URL=(\S+)/);
    const [, token = ""] = /AGENT_API_TOKEN=(\S+)/.exec(dev.output()) ?? [];
    const env = { AGENT_RELAY_URL: dev.found, AGENT_API_TOKEN: token };
    const { stdout } = await run("agent-relay", ["agents", "--json"], env);
    expect((JSON.parse(stdout) as { agents: unknown[] }).agents.length).toBeGreaterThan(1);
  });

  it("a new operator learns which parameter a path lacks, and what to do after a 402", async () => {
    const relay = await startRelay();
    const missing = await ask(relay.found, "/api/v1/agents//balance");
    expect([missing.status, missing.body["message"]]).toEqual([
      404,
      "No such path: agentId is missing",
    ]);
    const document = await ask(relay.found, "/openapi.json");
    expect(JSON.stringify(document.body)).toContain('"example"');
  });
});

const AGENT = "01890000-0000-7000-8000-000000000001";

describe("a new provider with the packed agent server", { timeout: 60_000 }, () => {
  it("a new provider tests a paid agent in one command, paid by the operator", async () => {
    const relay = await startRelay();
    const init = await run("agent-server", ["init", "my-agent"]);
    expect(init.stdout).toContain("0.05 USD per task");
    const config = ["--config", "my-agent/agent.config.jsonc"];
    const env = { AGENT_SYNC_URL: `http://127.0.0.1:${relay.found}`, AGENT_PORT: "0" };
    const broke = await run("agent-server", [...config, "--self-test"], env);
    expect(broke).toMatchObject({ exitCode: 1 });
    expect(broke.stdout).toContain("--paid-by-operator");
    const paid = await run("agent-server", [...config, "--self-test", "--paid-by-operator"], {
      ...env,
      AGENT_API_TOKEN: TOKEN,
    });
    expect([paid.exitCode, paid.stdout.match(/^ok \w+/gm)]).toEqual([
      0,
      ["ok fund", "ok submit", "ok route", "ok execute", "ok receipt", "ok verify", "ok settle"],
    ]);
    const unpaid = await ask(relay.found, `/agent/${readId(paid.stdout)}/task`, {
      prompt: "count these",
      submitted_by: AGENT,
    });
    expect(unpaid).toMatchObject({ status: 402 });
    expect(String(unpaid.body["message"])).toMatch(/deposit/i);
    const rotated = await run("agent-server", ["rotate-key", ...config], env);
    expect([rotated.exitCode, rotated.stdout]).toEqual([0, expect.stringContaining("has the key")]);
  });
});

/** Reads the agent's id from the first line of its output. */
function readId(output: string): string {
  return /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(output)?.[0] ?? "";
}
