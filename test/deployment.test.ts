import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const document = readFileSync(join(root, "docs/deployment.md"), "utf8");
const dockerfile = /```dockerfile\n([^]*?)```/.exec(document)?.[1] ?? "";

/** What an engine would do, as far as a machine without one can do it in a folder of its own. */
interface Step {
  readonly word: string;
  readonly rest: string;
}
const steps: Step[] = dockerfile
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [word = "", ...rest] = line.split(" ");
    return { word, rest: rest.join(" ") };
  });

const folder = mkdtempSync(join(tmpdir(), "relay-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The files of the repository, as a clean checkout has them. */
function copySources(to: string): void {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(join(to, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(to, file));
  }
}

// What the command that runs the tests has fetched is not asked for again.
const fetching = { ...process.env, npm_config_prefer_offline: "true" };

async function ready(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
  } catch {
    return false;
  }
}

describe("the Dockerfile of docs/deployment.md", () => {
  it("runs as nobody special, and says whether it is well", () => {
    const words = steps.map(({ word }) => word);
    expect(words.lastIndexOf("USER")).toBeGreaterThan(words.lastIndexOf("FROM"));
    expect(words).toContain("HEALTHCHECK");
    expect(dockerfile).not.toMatch(/AGENT_API_TOKEN|PASSPHRASE|SECRET/);
  });

  it(
    "makes a relay that starts, step by step, in an empty folder",
    { timeout: 600_000 },
    async () => {
      let place = folder;
      const env: Record<string, string> = {};
      for (const { word, rest } of steps) {
        if (word === "WORKDIR") {
          place = join(folder, rest);
          mkdirSync(place, { recursive: true });
        }
        // The second stage's own folder is the one that was deployed to.
        if (word === "COPY" && rest === ". .") copySources(place);
        if (word === "RUN") {
          execFileSync("sh", ["-c", rest], { cwd: place, stdio: "pipe", env: fetching });
        }
        if (word === "ENV") {
          const [name = "", value = ""] = rest.split("=");
          env[name] = value;
        }
      }
      const last = steps.find(({ word }) => word === "CMD")?.rest ?? "[]";
      const [command = "", ...args] = JSON.parse(last) as string[];
      const port = 20_000 + (process.pid % 20_000);
      const child = spawn(command === "node" ? process.execPath : command, args, {
        cwd: place,
        env: {
          ...env,
          PATH: process.env["PATH"],
          PORT: String(port),
          AGENT_HOST: "127.0.0.1",
          AGENT_API_TOKEN: "a-token-of-the-test",
          X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
        },
        stdio: "ignore",
      });
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
      try {
        for (let tries = 0; tries < 300 && !(await ready(port)); tries += 1) {
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        expect(await ready(port)).toBe(true);
      } finally {
        child.kill("SIGTERM");
      }
      expect(await ended).toBe(0);
    },
  );
});
