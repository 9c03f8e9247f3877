import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findFreePort } from "@agent/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = new URL("..", import.meta.url).pathname;
const document = readFileSync(join(root, "docs/deployment.md"), "utf8");
const dockerfile = /```dockerfile\n([^]*?)```/.exec(document)?.[1] ?? "";

/** An instruction of the Dockerfile, which the test executes in a folder because no container engine is available. */
interface Step {
  readonly keyword: string;
  readonly rest: string;
}
const steps: Step[] = dockerfile
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [keyword = "", ...rest] = line.split(" ");
    return { keyword, rest: rest.join(" ") };
  });

const folder = mkdtempSync(join(tmpdir(), "relay-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Copies the files of a clean checkout. */
function copySources(to: string): void {
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter((name) => name !== "")) {
    mkdirSync(join(to, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(to, file));
  }
}

// Packages that the test command has already fetched are read from its cache.
const offlineEnv = { ...process.env, npm_config_prefer_offline: "true" };

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
  } catch {
    return false;
  }
}

describe("the Dockerfile of docs/deployment.md", () => {
  it("the Dockerfile does not run as root, has a health check and holds no secret", () => {
    const keywords = steps.map(({ keyword }) => keyword);
    expect(keywords.lastIndexOf("USER")).toBeGreaterThan(keywords.lastIndexOf("FROM"));
    expect(keywords).toContain("HEALTHCHECK");
    expect(dockerfile).not.toMatch(/AGENT_API_TOKEN|PASSPHRASE|SECRET/);
  });

  it(
    "the Dockerfile builds a relay that starts from an empty folder",
    { timeout: 600_000 },
    async () => {
      let place = folder;
      const env: Record<string, string> = {};
      for (const { keyword, rest } of steps) {
        if (keyword === "WORKDIR") {
          place = join(folder, rest);
          mkdirSync(place, { recursive: true });
        }
        // `COPY --from` needs no step: the second stage runs in the folder to which the first one deployed.
        if (keyword === "COPY" && rest === ". .") copySources(place);
        if (keyword === "RUN") {
          execFileSync("sh", ["-c", rest], { cwd: place, stdio: "pipe", env: offlineEnv });
        }
        if (keyword === "ENV") {
          const [name = "", value = ""] = rest.split("=");
          env[name] = value;
        }
      }
      const last = steps.find(({ keyword }) => keyword === "CMD")?.rest ?? "[]";
      const [command = "", ...args] = JSON.parse(last) as string[];
      const port = await findFreePort();
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
        for (let tries = 0; tries < 300 && !(await isReady(port)); tries += 1) {
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        expect(await isReady(port)).toBe(true);
      } finally {
        child.kill("SIGTERM");
      }
      expect(await ended).toBe(0);
    },
  );
});
