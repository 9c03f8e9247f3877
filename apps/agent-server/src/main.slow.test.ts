import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { callTextTool } from "./testing/tools/connect-client.ts";
import { startTestRelay } from "./testing/agents/test-relay.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const echo = `export default [{
  definition: { name: "echo", description: "", inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  handler: ({ text }) => ({ ok: true, data: text }),
}]`;

/** A tool that fails after its answer. */
const stray = `
export const tools = [{
  definition: {
    name: "stray", description: "", risk: 0,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  },
  handler({ text }) {
    if (text === "rejects") void Promise.reject(new Error("stray rejection"));
    if (text === "throws") setTimeout(() => { throw new Error("stray error"); });
    return { ok: true, data: text };
  },
}];`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-main-"));
  await writeFile(join(folder, "tools.mjs"), "export default []");
  await writeFile(join(folder, "bad.mjs"), "export default [{}]");
  await writeFile(join(folder, "echo.mjs"), echo);
  await writeFile(join(folder, "task.mjs"), echo.replace('"echo"', '"agent_task"'));
});
afterAll(() => rm(folder, { recursive: true }));

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(
    process.execPath,
    ["--conditions=agent-source", fileURLToPath(new URL("main.ts", import.meta.url)), ...args],
    {
      cwd: folder,
      env: {
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        AGENT_DATA_DIR: join(folder, "data"),
        ...env,
      },
    },
  );
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data: Buffer) => (output.stdout += data.toString()));
  child.stderr.on("data", (data: Buffer) => (output.stderr += data.toString()));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, ...output }));
  });
  /** Resolves to the output once it matches `pattern`. */
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve) => {
      const look = () => void (pattern.test(output.stdout) && resolve(output.stdout));
      child.stdout.on("data", look);
      look();
    });
  return { child, ended, line };
}

describe("agent-server", () => {
  test("--help names every flag and variable", async () => {
    const { code, stdout } = await start(["--help"]).ended;
    expect(code).toBe(0);
    expect(stdout).toContain("--self-test");
    expect(stdout).toContain("AGENT_PRIVATE_KEY_HEX");
  });

  test("--version prints the version", async () => {
    const { code, stdout } = await start(["--version"]).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
  });

  test("--check-config reports whether the agent could start, without starting it", async () => {
    const args = ["--check-config", "--tools", "tools.mjs", "--allow-anonymous"];
    const { code, stdout } = await start(args).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nconfiguration ok\n$/)]);
    expect(await start([...args, "--port=x"]).ended).toMatchObject({ code: 1, stdout: "" });
  });

  test("each fault is one line on standard error, and the exit code is 1", async () => {
    const { code, stderr } = await start([], { AGENT_PORT: "x", LOG_LEVEL: "y" }).ended;
    expect(code).toBe(1);
    expect(stderr.trim().split("\n")).toHaveLength(3);
  });

  test("OP18: an unknown flag is one line and a hint, whatever else is wrong", async () => {
    const { code, stderr } = await start(["--unknown"], { AGENT_PORT: "x" }).ended;
    expect(code).toBe(2);
    expect(stderr).toBe("agent-server: Unknown option '--unknown'\ntry agent-server --help\n");
  });

  const check = ["--check-config", "--allow-anonymous"];
  test.each([
    [["--config", "missing.json"], "cannot be read"],
    [["--tools", "missing.mjs", "--allow-anonymous"], "cannot be loaded"],
    [["--tools", "bad.mjs", "--allow-anonymous"], "tools.0.definition"],
    [[...check, "--tools", "echo.mjs", "--tools", "echo.mjs"], '"echo" is defined twice'],
    [[...check, "--tools", "task.mjs"], '"agent_task" is defined twice'],
  ])("%j stops the start", async (args, fault) => {
    const { code, stderr } = await start(args).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining(fault)]);
  });

  test.each<[string, string, Record<string, string>, RegExp]>([
    ["a missing file of known agents", "{}", { AGENT_KNOWN_AGENTS: "no" }, /no: cannot be read/],
    [
      "a file of none",
      "{}",
      { AGENT_KNOWN_AGENTS: "bad.mjs" },
      /bad\.mjs: must be a list of agents/,
    ],
    [
      "an audit log that cannot be written",
      "{}",
      { AGENT_AUDIT_LOG: "bad.mjs/x" },
      /auditLog: .* cannot be written/,
    ],
    [
      "a server that does not start",
      '{"mcpServers": {"files": {"command": "/no/such/program"}}}',
      {},
      /mcpServers\.files: cannot be reached: /,
    ],
    ["an unterminated comment", "{ /* }", {}, /wrong\.jsonc: is not valid JSON/],
  ])("%s stops the start with one line", async (_, text, env, fault) => {
    await writeFile(join(folder, "wrong.jsonc"), text);
    const args = ["--config", "wrong.jsonc", "--allow-anonymous", "--port", "0"];
    const { code, stderr } = await start(args, env).ended;
    expect([code, stderr.trim().split("\n")]).toEqual([1, [expect.stringMatching(fault)]]);
  });

  test("the agent prints its bound address, answers there, and ends on SIGTERM", async () => {
    const { child, ended, line } = start(["--allow-anonymous", "--port", "0"]);
    const url = /listening on (http:\/\/127\.0\.0\.1:\d+)\/mcp\n/.exec(
      await line(/listening/),
    )?.[1];
    const health = await fetch(`${url}/health`);
    expect(await health.json()).toMatchObject({ status: "ok" });
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("the agent survives a tool that fails after its answer, and a closed log", async () => {
    await writeFile(join(folder, "stray.mjs"), stray);
    const args = ["--tools", "stray.mjs", "--port", "0"];
    const { child, ended, line } = start(args, { AGENT_AUTH_TOKEN: "secret" });
    const url = /listening on (\S+)/.exec(await line(/listening/))?.[1];
    const call = (text: string) => callTextTool(url, "secret", "stray", text);
    let log = "";
    child.stderr.on("data", (data: Buffer) => (log += data.toString()));
    expect(await call("rejects")).toBe("rejects");
    expect(await call("throws")).toBe("throws");
    await expect.poll(() => log).toMatch(/process\.unhandled.*stray rejection/);
    await expect.poll(() => log).toMatch(/process\.uncaught.*stray error/);
    child.stderr.destroy();
    for (let times = 0; times < 5; times += 1) expect(await call("throws")).toBe("throws");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  test("an unknown tool in the policy is logged as a warning", async () => {
    const policy = { deny: ["ecko", "echo", "agent_query"], allow: ["prompt.chat"] };
    const file = { tools: "echo.mjs", policy, port: 0 };
    await writeFile(join(folder, "policy.json"), JSON.stringify(file));
    const { child, ended, line } = start(["--config", "policy.json", "--allow-anonymous"]);
    await line(/listening/);
    child.kill("SIGTERM");
    const { stderr } = await ended;
    expect(stderr.match(/"msg":"policy.unknown_tool".*"tool":"\w+"/g)).toEqual([
      expect.stringContaining('"tool":"ecko"'),
    ]);
  });

  test("a passphrase that seals a stored key is logged once, because every later start needs it", async () => {
    const env = { AGENT_DATA_DIR: join(folder, "sealed") };
    const runOnce = async (more: Record<string, string> = {}) => {
      const { child, ended, line } = start(["--allow-anonymous", "--port", "0"], {
        ...env,
        ...more,
      });
      await line(/listening/);
      child.kill("SIGTERM");
      return (await ended).stderr.match(/"msg":"identity.sealed"/g)?.length ?? 0;
    };
    const passphrase = { AGENT_PASSPHRASE: "correct horse" };
    expect([await runOnce(), await runOnce(passphrase), await runOnce(passphrase)]).toEqual([
      0, 1, 0,
    ]);
  });

  test("a port in use stops the start", async () => {
    const first = start(["--allow-anonymous", "--port", "0"]);
    const port = /:(\d+)\/mcp/.exec(await first.line(/listening/))?.[1] ?? "";
    const env = { AGENT_DATA_DIR: join(folder, "elsewhere") };
    const second = await start(["--allow-anonymous", "--port", port], env).ended;
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
    first.child.kill("SIGTERM");
    await first.ended;
  });

  test("E5: a second process on the same data folder exits with a fault that names the first's pid", async () => {
    const env = { AGENT_DATA_DIR: join(folder, "shared") };
    const args = ["--allow-anonymous", "--port", "0"];
    const first = start(args, env);
    await first.line(/listening/);
    const second = await start(args, env).ended;
    expect([second.code, second.stderr]).toEqual([
      1,
      `${env.AGENT_DATA_DIR}: is in use by another agent-server, process ${first.child.pid}\n`,
    ]);

    // The lock of a killed process is free, and another folder was never locked.
    first.child.kill("SIGKILL");
    await first.ended;
    const third = start(args, env);
    const beside = start(args, { AGENT_DATA_DIR: join(folder, "beside") });
    await Promise.all([third.line(/listening/), beside.line(/listening/)]);
    for (const { child } of [third, beside]) child.kill("SIGTERM");
    expect([(await third.ended).code, (await beside.ended).code]).toEqual([0, 0]);
  });

  test("D27: a second process whose key is in its environment does not share a folder in which nothing can be written", async () => {
    const dataDir = join(folder, "full");
    // A folder under this name fails each write to it, as a full disk does.
    await mkdir(join(dataDir, ".gitignore"), { recursive: true });
    const env = { AGENT_DATA_DIR: dataDir, AGENT_PRIVATE_KEY_HEX: "1".repeat(64) };
    const args = ["--allow-anonymous", "--port", "0"];
    const first = start(args, env);
    await first.line(/listening/);
    const second = await start(args, env).ended;
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("is in use by")]);
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
  });

  test("D28: a second process does not start after the lock of the first was deleted", async () => {
    const env = { AGENT_DATA_DIR: join(folder, "unlocked") };
    const args = ["--allow-anonymous", "--port", "0"];
    const first = start(args, env);
    await first.line(/listening/);
    await rm(join(env.AGENT_DATA_DIR, "agent.lock"));
    const second = await start(args, env).ended;
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringContaining(`is in use by another agent-server, process ${first.child.pid}`),
    ]);

    // Once the first has ended, its folder can be used without the lock file too.
    first.child.kill("SIGKILL");
    await first.ended;
    const third = start(args, env);
    await third.line(/listening/);
    third.child.kill("SIGTERM");
    expect((await third.ended).code).toBe(0);
  });

  test("E5: of two concurrent first starts one creates the identity and the other exits", async () => {
    const env = { AGENT_DATA_DIR: join(folder, "new") };
    const args = ["--allow-anonymous", "--port", "0"];
    const both = [start(args, env), start(args, env)];
    const listening = both.map(({ line }) => line(/listening/));
    const first = await Promise.race(both.map(({ ended }) => ended));
    expect([first.code, first.stderr]).toEqual([1, expect.stringContaining("is in use by")]);
    const left = both.find(({ child }) => child.exitCode === null);
    await Promise.race(listening);
    left?.child.kill("SIGTERM");
    expect((await left?.ended)?.code).toBe(0);
  });

  test("H7: the log redacts a token in a tool's error", async () => {
    const failing = stray.replace("stray rejection", "refused: Bearer ghp_canary1");
    await writeFile(
      join(folder, "leaky.mjs"),
      failing.replace("stray error", "key=x token=canary2"),
    );
    const args = ["--tools", "leaky.mjs", "--port", "0"];
    const { child, ended, line } = start(args, { AGENT_AUTH_TOKEN: "secret-canary3" });
    const url = /listening on (\S+)/.exec(await line(/listening/))?.[1];
    let log = "";
    child.stderr.on("data", (data: Buffer) => (log += data.toString()));
    for (const text of ["rejects", "throws"])
      await callTextTool(url, "secret-canary3", "stray", text);
    await expect.poll(() => log).toMatch(/process\.uncaught.*token=\[redacted\]/);
    expect(log).toMatch(/process\.unhandled.*Bearer \[redacted\]/);
    expect(log).not.toContain("canary");
    child.kill("SIGTERM");
    expect((await ended).code).toBe(0);
  });

  test("--self-test exits with 2 when the relay is unreachable", async () => {
    const env = { AGENT_SYNC_URL: "http://127.0.0.1:9", LOG_LEVEL: "error" };
    const { code, stdout } = await start(["--self-test", "--port", "0"], env).ended;
    expect(code).toBe(2);
    expect(stdout).toContain("relay unreachable");
  });

  test("--self-test joins the relay, reports it, and runs a task through it", async () => {
    const relay = await startTestRelay();
    const env = { AGENT_SYNC_URL: relay.url, LOG_LEVEL: "error" };
    const args = ["--tools", "echo.mjs", "--port", "0"];
    const tested = await start([...args, "--self-test"], env).ended;
    expect(tested.code).toBe(0);
    expect(tested.stdout.match(/^ok \w+/gm)).toHaveLength(6);
    const { child, ended, line } = start(args, env);
    expect(await line(/registered at/)).toContain(relay.url);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
    await relay.stop();
  });

  test("neither the output nor the log contains a secret", async () => {
    const secrets = {
      AGENT_AUTH_TOKEN: "canary-token",
      AGENT_PASSPHRASE: "canary-passphrase",
      AGENT_PRIVATE_KEY_HEX: "ca".repeat(32),
      AGENT_SYNC_TOKEN: "canary-sync",
    };
    const env = {
      ...secrets,
      AGENT_SYNC_URL: "http://127.0.0.1:9",
      AGENT_DATA_DIR: join(folder, "other"),
      LOG_LEVEL: "debug",
    };
    const { child, ended, line } = start(["--port", "0"], env);
    await line(/listening/);
    child.kill("SIGTERM");
    const { stdout, stderr } = await ended;
    for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
  });
});
