import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Settings, settingSources } from "../config/config-settings.ts";
import { parseJsonc } from "../config/parse-jsonc.ts";
import { MASTER_TOKEN, startTestRelay } from "../testing/agents/test-relay.ts";
import { configTemplate } from "./config-template.ts";

/** The members of the relay's answers that the calls below read. */
interface Answer {
  readonly task_id: string;
  readonly receipt: object | null;
  readonly balance: number;
}

const command = [
  "--conditions=agent-source",
  fileURLToPath(new URL("../main.ts", import.meta.url)),
];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-init-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [...command, ...args], {
    cwd: folder,
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] },
  });

describe("the configuration that init writes", () => {
  test("the template of init names every setting", () => {
    const top = Object.keys(Settings.entries);
    const inner = settingSources.map(({ path }) => path.split(".").at(-1));
    const missing = [...top, ...inner].filter((name) => !configTemplate.includes(`"${name}":`));
    expect(missing).toEqual([]);
  });

  test("the README shows the settings of the template of init", async () => {
    const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
    const [, shown = ""] = /^```jsonc\n(\{.*?)^```$/ms.exec(readme) ?? [];
    expect(parseJsonc(shown)).toEqual(parseJsonc(configTemplate));
  });

  test("the template of init is valid with every setting enabled", () => {
    const everything = configTemplate.replaceAll(/^ {2}\/\/ (?=[ "}])/gm, "  ");
    const tree = parseJsonc(everything) as Record<string, unknown>;
    expect(Object.keys(tree).toSorted()).toEqual(Object.keys(Settings.entries).toSorted());
  });
});

describe("agent-server init", () => {
  test("init writes a configuration that can be started, and prints the command", async () => {
    const { stdout } = await run("init", "agent");
    expect(stdout).toContain("agent-server --config agent/agent.config.jsonc");
    const checked = await run("--check-config", "--config", "agent/agent.config.jsonc");
    expect(checked.stdout).toBe(
      `tool         offered  price              risk
count-words  yes      0.05 USD per task  R0_READ
configuration ok
`,
    );
    expect((await stat(join(folder, "agent", "agent.config.jsonc"))).mode & 0o777).toBe(0o600);
  });

  test("the identity is stored beside the configuration, whatever the working folder", () => {
    expect(parseJsonc(configTemplate)).toMatchObject({ dataDir: "./.agent" });
  });

  test("init overwrites no file and exits with 1", async () => {
    await run("init", "mine");
    await writeFile(join(folder, "mine", "tools.mjs"), "mine");
    await rm(join(folder, "mine", "agent.config.jsonc"));
    await expect(run("init", "mine")).rejects.toMatchObject({
      code: 1,
      stderr: "init: mine/tools.mjs already exists\n",
    });
    expect(await readFile(join(folder, "mine", "tools.mjs"), "utf8")).toBe("mine");
    await expect(stat(join(folder, "mine", "agent.config.jsonc"))).rejects.toThrow("ENOENT");
  });

  test.each([
    [
      ["init", "x", "y"],
      /^agent-server: "y" is an argument too many\nusage: agent-server init \[FOLDER\]\n$/,
    ],
    [
      ["init", "--port=1"],
      /^agent-server: agent-server init takes no --port, but agent-server does\nusage: .*\n$/,
    ],
  ])("%j is refused without reading a configuration", async (args, stderr) => {
    await expect(run(...args)).rejects.toSatisfy((refusal: { stderr: string }) =>
      stderr.test(refusal.stderr),
    );
  });

  test("the agent of init completes a paid task by the calls of the README", async () => {
    const relay = await startTestRelay();
    await run("init", "paid");
    const env = { AGENT_SYNC_URL: relay.url, AGENT_PORT: "0", LOG_LEVEL: "error" };
    const child = spawn(process.execPath, [...command, "--config", "paid/agent.config.jsonc"], {
      cwd: folder,
      env,
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    try {
      await expect.poll(() => output, { timeout: 20_000 }).toContain("registered at");
      const worker = /word-counter (\S+) listening/.exec(output)?.[1] ?? "";
      const payer = "01890000-0000-7000-8000-000000000001";
      const call = async (method: string, path: string, body?: unknown) => {
        const answer = await fetch(`${relay.url}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${MASTER_TOKEN}`,
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return (await answer.json()) as Answer;
      };
      await call("POST", `/api/v1/agents/${payer}/deposit`, { amount: 1 });
      const { task_id } = await call("POST", `/agent/${worker}/task`, {
        prompt: "how many words are these",
        submitted_by: payer,
      });
      await expect
        .poll(() => call("GET", `/agent/${worker}/task/${task_id}?wait=20`), { timeout: 20_000 })
        .toMatchObject({ receipt: { status: "completed", result: "5" } });
      expect((await call("GET", `/api/v1/agents/${worker}/balance`)).balance).toBe(0.0475);
    } finally {
      child.kill("SIGTERM");
      await once(child, "close");
      await relay.stop();
    }
  });
});
