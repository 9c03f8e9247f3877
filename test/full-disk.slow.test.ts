import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MASTER_TOKEN } from "./start-relay-process.ts";

const main = new URL("../apps/relay/src/main.ts", import.meta.url).pathname;
const relay = [process.execPath, "--conditions=agent-source", main];
const env = {
  AGENT_API_TOKEN: MASTER_TOKEN,
  X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
  AGENT_HOST: "127.0.0.1",
  PORT: "0",
};

/** A user may mount a small disk in a namespace of its own, where the kernel permits that. */
const MOUNTED = ["-rm", "bash", "-c", 'mount -t tmpfs -o size=8m none "$0" && exec "$@"'];
const canMount = spawnSync("unshare", [...MOUNTED, tmpdir(), "true"]).status === 0;

/** Starts the relay on a small disk of its own. */
async function startOnSmallDisk() {
  const folder = mkdtempSync(join(tmpdir(), "full-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const child = spawn("unshare", [...MOUNTED, folder, ...relay], {
    env: { ...env, AGENT_DB_PATH: join(folder, "relay.db") },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const port = await new Promise<string>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const found = /"msg":"relay.listening".*"port":(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the relay ended: ${output}`)));
  });
  const filler = `/proc/${child.pid}/root${folder}/filler`;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    fill: () => fillDisk(filler),
    free: () => unlinkSync(filler),
  };
}

function fillDisk(path: string): void {
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}

test.runIf(canMount)(
  "OP21, OP22: on a full disk the operator sees the state and the cause, and the relay is not ready until space is free",
  async () => {
    const { baseUrl, fill, free } = await startOnSmallDisk();
    const call = async (path: string, body?: object) => {
      const answer = await fetch(`${baseUrl}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${MASTER_TOKEN}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const runCommand = (name: string) => {
      const [program, ...args] = [...relay, name, "--relay", baseUrl];
      const { status, stdout } = spawnSync(program, args, { env, encoding: "utf8" });
      return { status, stdout };
    };
    expect(await call("/health/ready")).toMatchObject({ status: 200 });

    // The relay numbers events once a second, so that one is waiting on the full disk only if this is quick.
    await expect
      .poll(
        async () => {
          await call("/api/v1/admin/freeze", { reason: "a test" });
          await call("/api/v1/admin/unfreeze", {});
          fill();
          const { status, body } = await call("/api/v1/admin/events");
          if (status === 200 && body["delayed"] === true) return "waiting";
          free();
          return status;
        },
        { timeout: 60_000 },
      )
      .toBe("waiting");

    expect(await call("/api/v1/admin/overview")).toMatchObject({
      status: 200,
      body: { database: { write_fault: expect.stringContaining("disk is full") as string } },
    });
    expect(await call("/health/ready")).toMatchObject({
      status: 503,
      body: { code: "server.not_ready", message: expect.stringContaining("database") as string },
    });
    expect(runCommand("status")).toEqual({
      status: 0,
      stdout: expect.stringContaining("disk is full: see request.failed") as string,
    });
    expect(runCommand("doctor")).toEqual({
      status: 1,
      stdout: expect.stringMatching(/FAULT {2}writes: .*disk is full\n/) as string,
    });

    free();
    await expect
      .poll(async () => (await call("/health/ready")).status, { timeout: 60_000 })
      .toBe(200);
    const { body } = await call("/api/v1/admin/events");
    expect(body).not.toHaveProperty("delayed");
    const { events } = body as { events: { sequence: number }[] };
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  },
  400_000,
);
