import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRelayClient } from "@agent/client";
import { bytesToHex, generateKeyPair, hexToBytes, sha256Hex } from "@agent/crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startAgentProcess, type AgentProcess } from "../../testing/agents/agent-process.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";

const BROWSER_SCOPES = ["task:read", "account:read", "credentials:read", "approvals:vote"];

let relay: TestRelay;
let folder: string;
let running: AgentProcess[] = [];
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-pairing-"));
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.kill("SIGKILL")));
  running = [];
  await rm(folder, { recursive: true });
});

function run(...args: string[]): AgentProcess {
  const env = { AGENT_DATA_DIR: join(folder, "data"), AGENT_SYNC_URL: relay.url };
  const started = startAgentProcess({ args, env, cwd: folder });
  running.push(started);
  return started;
}

/** Starts the command and claims its code as a browser would, with a key of its own. */
async function pair(...args: string[]) {
  const command = run("pair", ...args);
  await command.waitForOutput(/waiting for the browser/);
  const { secretKey, publicKey } = generateKeyPair(crypto.getRandomValues(new Uint8Array(32)));
  const pairing_code = /#pair=(\w+)/.exec(command.output())?.[1] ?? "";
  const public_key = bytesToHex(publicKey);
  const body = { pairing_code, device_name: "a\u001B[2J browser", public_key };
  const anonymous = createRelayClient({ baseUrl: relay.url });
  const claim = () => anonymous.claimPairing({ body });
  const claimed = await claim();
  if (!claimed.ok) throw new Error(claimed.code);
  await command.waitForOutput(/do you pair it\?/);
  const { agent_id: agentId } = claimed.body;
  return { command, agentId, public_key, secretKey, claim, anonymous };
}

const listDevices = async (agentId: string) => {
  const listed = await relay.operator.listDevices({ params: { agentId } });
  if (!listed.ok) throw new Error(listed.code);
  return listed.body.devices;
};

describe("the command `pair`", { timeout: 60_000 }, () => {
  test("`pair` pairs a browser with what reads and votes, beside the running agent", async () => {
    const agent = run("--port", "0");
    await agent.waitForOutput(/listening on/);
    const { command, agentId, public_key, secretKey, claim } = await pair();
    expect(command.output()).toContain(`open in the browser:  ${relay.url}/console/me#pair=`);
    const fingerprint = sha256Hex(hexToBytes(public_key)).slice(0, 16);
    const shown = /its key: {2}([\da-f ]+)/.exec(command.output())?.[1] ?? "";
    expect(shown.replaceAll(" ", "")).toBe(fingerprint);
    expect(command.output()).not.toContain("\u001B");
    command.type("y");
    expect(await command.ended()).toBe(0);
    expect(command.output()).toContain(JSON.stringify({ agent_id: agentId, public_key }));

    const device = (await listDevices(agentId)).find((each) => each.public_key === public_key);
    expect(device).toMatchObject({ scopes: BROWSER_SCOPES, revoked: false });
    const claimed = await claim();
    expect(claimed).toMatchObject({ body: { status: "approved", device_id: device?.device_id } });
    const identity = { agentId, deviceId: device?.device_id ?? "", secretKey };
    const browser = createRelayClient({ baseUrl: relay.url, identity });
    expect(await browser.getBalance({ params: { agentId } })).toMatchObject({ ok: true });
    const body = { amount: 1, destination: "elsewhere" };
    expect(await browser.requestWithdrawal({ params: { agentId }, body })).toMatchObject({
      code: "auth.scope_missing",
    });
  });

  test("`pair` grants `account:write` if the owner says so", async () => {
    const { command, agentId, public_key } = await pair("--allow-withdrawals");
    command.type("yes");
    expect(await command.ended()).toBe(0);
    const device = (await listDevices(agentId)).find((each) => each.public_key === public_key);
    expect(device?.scopes).toEqual([...BROWSER_SCOPES, "account:write"]);
  });

  test.each([
    ["says no", (command: AgentProcess) => command.type("n")],
    ["goes away", (command: AgentProcess) => command.closeInput()],
  ])("OB1: a thief of the code gets nothing when the owner %s", async (_, answer) => {
    const { command, agentId, public_key, claim, anonymous } = await pair();
    // The owner's own browser comes second, and is told so.
    const pairing_code = /#pair=(\w+)/.exec(command.output())?.[1] ?? "";
    const second = await anonymous.claimPairing({
      body: { pairing_code, device_name: "the owner's", public_key: "02".repeat(32) },
    });
    expect(second).toMatchObject({ ok: false });
    answer(command);
    expect(await command.ended()).toBe(0);
    expect(command.output()).toContain("not paired");
    expect(await claim()).toMatchObject({ body: { status: "denied" } });
    const keys = (await listDevices(agentId)).map((each) => each.public_key);
    expect(keys).not.toContain(public_key);
  });

  test("OB2: `unpair` ends a device at once, and names what is wrong", async () => {
    const { command, agentId, public_key } = await pair();
    command.type("y");
    await command.ended();
    const device = (await listDevices(agentId)).find((each) => each.public_key === public_key);
    const ending = run("unpair", device?.device_id ?? "");
    expect(await ending.ended()).toBe(0);
    expect(ending.output()).toContain(`ended device ${device?.device_id}`);
    const again = (await listDevices(agentId)).find((each) => each.public_key === public_key);
    expect(again?.revoked).toBe(true);
    const unknown = run("unpair", "no-device");
    expect(await unknown.ended()).toBe(1);
    expect(unknown.log()).toContain("unpair: device.not_found");
  });

  test.each([
    [["unpair"], "agent-server: DEVICE_ID is missing"],
    [["pair", "more"], 'agent-server: "more" is an argument too many'],
    [
      ["inti", "folder"],
      'agent-server is followed by init, contest, rotate-key, pair, unpair, confirm-tools or nothing, not by "inti"',
    ],
    [
      ["--allow-withdrawals"],
      "agent-server takes no --allow-withdrawals, but agent-server pair does",
    ],
  ])("`pair` or `unpair` is refused with the arguments %j", async (args, fault) => {
    const command = run(...args);
    expect(await command.ended()).toBe(2);
    expect(command.log()).toContain(fault);
  });
});
