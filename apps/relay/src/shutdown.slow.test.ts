import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { requestJson, runLoad, listMissing, createLoadAgents } from "../test/load.ts";
import {
  endRelays,
  parseLogLines,
  minimalEnv,
  startRelay,
} from "../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test/test-relay.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-shutdown-"));
const env = { ...minimalEnv, AGENT_DB_PATH: join(folder, "relay.db") };
afterEach(endRelays);
afterAll(() => rmSync(folder, { recursive: true }));

test("HO15 a relay stops on SIGTERM under load without losing an acknowledged request", async () => {
  const relay = startRelay(env);
  const url = await relay.baseUrl;
  const load = await createLoadAgents(url);
  const driven = runLoad(url, load, () => false);
  await vi.waitFor(() => expect(load.acknowledged.receipts.size).toBeGreaterThan(100), {
    timeout: 20_000,
    interval: 5,
  });

  // Connections are held by a long poll, a device, and a client that sends nothing.
  const open = await requestJson(
    `${url}/agent/0199a000-0000-7000-8000-000000000000/task`,
    OPERATOR_TOKEN,
    "POST",
    {
      prompt: "wait",
    },
  );
  const path = `${url}/agent/0199a000-0000-7000-8000-000000000000/task/${String(open.body["task_id"])}`;
  const polled = requestJson(`${path}?wait=60`, OPERATOR_TOKEN);
  const { closed } = await deviceOf(url, load.worker.agentId);
  const idle = await connected(url);

  const asked = performance.now();
  relay.kill("SIGTERM");
  expect(await relay.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(5_000);
  await driven;
  expect(await polled).toMatchObject({ status: 200, body: { task: { status: "pending" } } });
  expect(await closed).toBe(1001);
  expect(relay.stderr()).toBe("");
  expect(parseLogLines(relay.stdout()).at(-1)).toMatchObject({ msg: "relay.stopped" });
  idle.destroy();

  const again = startRelay(env);
  expect(await listMissing(await again.baseUrl, load)).toEqual([]);
});

test("HO15 a device that never answers the closing frame does not delay the shutdown", async () => {
  const relay = startRelay(env);
  const url = await relay.baseUrl;
  const { worker } = await createLoadAgents(url);
  const socket = await deafSocket(url, worker.agentId);
  await vi.waitFor(() => expect(relay.stdout()).toContain("ws.connected"));
  const asked = performance.now();
  relay.kill("SIGTERM");
  expect(await relay.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - asked).toBeLessThan(5_000);
  socket.destroy();
});

test.runIf(process.platform === "linux")(
  "IN9 a relay whose log is no longer read still serves, and uses little processor time",
  async () => {
    const relay = startRelay({ ...minimalEnv, LOG_LEVEL: "debug" });
    const url = await relay.baseUrl;
    relay.closeOutput();
    const load = await createLoadAgents(url);
    await runLoad(url, load, ({ receipts }) => receipts.size > 10);
    expect(load.acknowledged.receipts.size).toBeGreaterThan(10);
    await sleep(500);
    const before = cpuTicks(relay.pid);
    await sleep(500);
    expect(cpuTicks(relay.pid) - before).toBeLessThan(20);
    relay.kill("SIGTERM");
    expect(await relay.ended).toEqual({ code: 0, signal: null });
  },
);

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** The processor time of a process in hundredths of a second. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

const socketUrl = (url: string, agentId: string) => `${url}/ws/v1/agents/${agentId}`;

/** Connects a device and returns the code with which its socket is later closed. */
async function deviceOf(url: string, agentId: string): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(socketUrl(url, agentId).replace("http", "ws"), {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  });
  await new Promise((opened) => socket.once("open", opened));
  return { closed: new Promise((end) => socket.once("close", (code: number) => end(code))) };
}

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => {});
  await new Promise((done) => socket.once("connect", done));
  return socket;
}

/** Sends the upgrade and nothing after it. */
async function deafSocket(url: string, agentId: string): Promise<Socket> {
  const socket = await connected(url);
  socket.write(
    [
      `GET ${new URL(socketUrl(url, agentId)).pathname} HTTP/1.1`,
      "Host: relay",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      `Authorization: Bearer ${OPERATOR_TOKEN}`,
      "",
      "",
    ].join("\r\n"),
  );
  return socket;
}
