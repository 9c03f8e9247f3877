import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";

const here = new URL(".", import.meta.url).pathname;
const fromSources = "--conditions=agent-source";
const compiled = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] };
const read = (path: string) => readFileSync(join(here, path), "utf8");

/** Runs an example as a reader would; a refusal becomes an exit code, not an exception. */
async function run(file: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const command = [fromSources, file, ...args];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd: here,
      env: { ...compiled, ...env },
    });
    return { exitCode: 0, lines: stdout.trim().split("\n") };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { exitCode: code, lines: stdout.trim().split("\n") };
  }
}

// Each test starts one or two processes, which takes seconds on a slow machine.
const patient = { timeout: 30_000 };

describe("verify-receipt", patient, () => {
  const folder = mkdtempSync(join(tmpdir(), "examples-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("verify-receipt is the example of the README", () => {
    expect(read("../README.md")).toContain(`\`\`\`ts\n${read("verify-receipt.ts")}\`\`\``);
  });

  it("the example's receipt is signed by the key in the packages' READMEs", () => {
    const { public_key: publicKey } = JSON.parse(read("receipt.json")) as { public_key: string };
    for (const name of ["receipts", "verify"]) {
      expect(read(`../packages/${name}/README.md`)).toContain(publicKey);
    }
  });

  it("verify-receipt accepts the receipt beside it", async () => {
    const { exitCode, lines } = await run("verify-receipt.ts");
    expect({ exitCode, last: lines.at(-1) }).toEqual({ exitCode: 0, last: "valid" });
  });

  it("verify-receipt refuses the receipt with one changed byte in its result", async () => {
    const changed = join(folder, "changed.json");
    writeFileSync(changed, read("receipt.json").replace("to 2", "to 3"));
    const { exitCode, lines } = await run("verify-receipt.ts", [changed]);
    const last = "refused: receipt.signature_invalid";
    expect({ exitCode, last: lines.at(-1) }).toEqual({ exitCode: 1, last });
  });

  it("verify-receipt refuses the receipt under another agent's key", async () => {
    const { exitCode } = await run("verify-receipt.ts", ["receipt.json", "ab".repeat(32)]);
    expect(exitCode).toBe(1);
  });
});

describe("start-agent", patient, () => {
  const folder = mkdtempSync(join(tmpdir(), "examples-"));
  let agent: ChildProcess | undefined;
  afterAll(() => {
    agent?.kill();
    rmSync(folder, { recursive: true });
  });

  it("start-agent is the program of the agent server's README", () => {
    const program = `\`\`\`ts\n${read("start-agent.ts")}\`\`\``;
    expect(read("../apps/agent-server/README.md")).toContain(program);
  });

  it("start-agent starts an agent with its tool", async () => {
    const ownerToken = "the-owner-of-the-examples";
    agent = spawn(process.execPath, [fromSources, join(here, "start-agent.ts"), "--port", "0"], {
      cwd: folder,
      env: { ...compiled, AGENT_AUTH_TOKEN: ownerToken },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = await readFirstLine(agent);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const card = await fetch(new URL("/.well-known/agent-card.json", url), {
      headers: { authorization: `Bearer ${ownerToken}` },
    });
    expect(await card.json()).toMatchObject({ skills: [{ id: "shout" }] });
  });
});

describe("delegate-task", patient, () => {
  const masterToken = "master-token-of-the-examples";
  let relay: ChildProcess | undefined;
  afterAll(() => relay?.kill());

  it("delegate-task pays for work at a real relay and gets a verified receipt", async () => {
    relay = spawn(process.execPath, [fromSources, join(here, "../apps/relay/src/main.ts")], {
      env: {
        ...compiled,
        AGENT_API_TOKEN: masterToken,
        X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
        AGENT_HOST: "127.0.0.1",
        PORT: "0",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const port = await listeningPort(relay);
    const { exitCode, lines } = await run("delegate-task.ts", [], {
      AGENT_SYNC_URL: `http://127.0.0.1:${port}`,
      AGENT_API_TOKEN: masterToken,
    });
    expect({ exitCode, lines }).toEqual({
      exitCode: 0,
      lines: ["completed: 42, receipt verified", "asker has 8", "worker has 1.9"],
    });
  });
});

async function readFirstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the agent's output is not read");
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error("the agent ended before it was listening");
}

async function listeningPort({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("the relay's output is not read");
  for await (const line of createInterface({ input: stdout })) {
    const port = /"msg":"relay\.listening".*"port":(\d+)/.exec(line)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error("the relay ended before it was listening");
}
