import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSealedKey } from "@agent/crypto/sealed-key";
import {
  loadHostileVectors,
  createReceipt,
  createTestAgent,
  createToken,
  type TestAgent,
} from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  endRelays,
  parseLogLines,
  minimalEnv,
  startRelay,
  type RelayProcess,
} from "../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../test/test-relay.ts";
import { findIdentity } from "./identity/store.ts";
import { migrations } from "./storage/migrations/index.ts";
import { readAllStored } from "../test/engine/stored.ts";
import { openMigrated } from "../test/stored/migrated-storage.ts";

const world = { now: Date.now, randomBytes };
const passphrase = "correct horse battery staple";
const folder = mkdtempSync(join(tmpdir(), "relay-secrets-"));
const path = join(folder, "relay.db");
const env = {
  ...minimalEnv,
  AGENT_DB_PATH: path,
  AGENT_RELAY_KEY_PASSPHRASE: passphrase,
  LOG_LEVEL: "debug",
};

/** All secrets of the run, each under a name for the failure message. */
const secrets = new Map<string, string>();
/** All that the relay answered: headers, bodies, socket messages. */
const answers: string[] = [];
let relay: RelayProcess;
let baseUrl: string;
let endpoint: Server;

function keepSecretKey(name: string, key: Uint8Array): void {
  const bytes = Buffer.from(key);
  secrets.set(`${name} in hex`, bytes.toString("hex"));
  secrets.set(`${name} in base64url`, bytes.toString("base64url"));
  secrets.set(`${name} in base64`, bytes.toString("base64").replace(/=+$/, ""));
}

async function send(
  method: string,
  target: string,
  token?: string,
  body?: string | Uint8Array<ArrayBuffer> | object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const answer = await fetch(baseUrl + target, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  answers.push(JSON.stringify([...answer.headers]), text);
  return { status: answer.status, body: text === "" ? {} : (JSON.parse(text) as never) };
}

let tokens = 0;
async function tokenFor(agent: TestAgent, audience: string): Promise<string> {
  const token = await createToken(agent, audience, world);
  secrets.set(`token ${(tokens += 1)}`, token);
  return token;
}

/** An endpoint that throws an error with the text that it was sent, as a careless one might. */
function listenCarelessly(): Promise<string> {
  endpoint = createServer((request, response) => {
    const { authorization = "" } = request.headers;
    secrets.set("token of the relay", authorization.replace("Bearer agent:", ""));
    response.writeHead(500).end(`no such thing: ${authorization}`);
  });
  return new Promise((listening) => {
    endpoint.listen(0, "127.0.0.1", () => {
      const { port } = endpoint.address() as { port: number };
      listening(`http://127.0.0.1:${port}/mcp`);
    });
  });
}

async function bootstrapped(name: string): Promise<TestAgent> {
  const agent = createTestAgent(world);
  keepSecretKey(`key of ${name}`, agent.secretKey);
  const keys = { agent_id: agent.agentId, public_key: agent.publicKey };
  const { body } = await send("POST", "/api/v1/agents/bootstrap", undefined, keys);
  return { ...agent, deviceId: body["device_id"] as string };
}

/** A typical day of a relay, including failures. */
beforeAll(async () => {
  secrets.set("master token", OPERATOR_TOKEN);
  secrets.set("passphrase", passphrase);
  relay = startRelay(env);
  baseUrl = await relay.baseUrl;
  const did = (await send("GET", "/.well-known/agent-relay.json")).body["did"] as string;
  const [boss, worker] = [await bootstrapped("boss"), await bootstrapped("worker")];
  const [ofBoss, ofWorker] = [await tokenFor(boss, did), await tokenFor(worker, did)];

  await send("POST", `/api/v1/agents/${boss.agentId}/deposit`, OPERATOR_TOKEN, { amount: 10 });
  await send("POST", `/api/v1/agents/${boss.agentId}/deposit`, ofBoss, { amount: 10 });
  const endpoint_url = await listenCarelessly();
  const registration = { agent_id: worker.agentId, endpoint_url, capabilities: ["work"] };
  await send("POST", "/api/v1/agents/register", ofWorker, registration);
  await send("POST", `/api/v1/agents/${worker.agentId}/listing`, ofWorker, {
    capabilities: ["work"],
    pricing: [{ capability: "work", unit_cost: 1, currency: "USD", per: "task" }],
    sla: {},
    description: "works",
  });

  const prompt = 'line\n{"level":"error"}\r\n\u001b[31mred\u2028\u0000';
  const tasks = `/agent/${worker.agentId}/task`;
  const { body: task } = await send("POST", tasks, ofBoss, { prompt });
  await vi.waitUntil(() => relay.stdout().includes("mcp.forward_failed"), 10_000);
  const result = `${tasks}/${String(task["task_id"])}/result`;
  const receipt = createReceipt(worker, {
    task_id: task["task_id"] as string,
    prompt,
    submitted_at: Date.now(),
  });
  await send("POST", result, ofWorker, { ...receipt, result: "changed" });
  await send("POST", result, ofBoss, receipt);
  const delivered = await send("POST", result, ofWorker, receipt);
  if (delivered.status !== 200) throw new Error(JSON.stringify(delivered.body));
  await send("GET", `${tasks}/${String(task["task_id"])}`, ofBoss);
  await send("GET", `/api/v1/agents/${boss.agentId}/balance`, ofBoss);

  const hex = Buffer.from(boss.secretKey).toString("hex");
  const wrong = [
    `${OPERATOR_TOKEN}x`,
    OPERATOR_TOKEN.toUpperCase(),
    hex,
    passphrase.replaceAll(" ", "-"),
    await tokenFor(boss, worker.did),
    await tokenFor({ ...boss, secretKey: worker.secretKey }, did),
    `${ofBoss}x`,
    `${ofBoss}.x`,
  ];
  for (const token of wrong) {
    await send("POST", tasks, token, { prompt });
    await send("GET", `/api/v1/agents/${boss.agentId}/balance?token=${token}`, token);
  }
  const carrying = JSON.stringify({ prompt, token: OPERATOR_TOKEN, key: hex, bearer: ofBoss });
  for (const broken of [carrying.slice(0, -1), `[${carrying}]`, `{"prompt": ${carrying}}`]) {
    await send("POST", tasks, ofBoss, broken);
    await send("POST", result, ofWorker, broken);
    await send("POST", `/api/v1/agents/${boss.agentId}/deposit`, OPERATOR_TOKEN, broken);
    await send("POST", "/api/v1/agents/bootstrap", undefined, broken);
    await send("POST", `/no/such/path?token=${OPERATOR_TOKEN}`, OPERATOR_TOKEN, broken);
    await send("PUT", tasks, OPERATOR_TOKEN, broken);
  }
  for (const { bytes } of loadHostileVectors().bodies) {
    const body = new Uint8Array(bytes);
    await send("POST", tasks, ofBoss, body);
    await send("POST", result, ofWorker, body);
    await send("POST", "/api/v1/agents/register", ofWorker, body);
  }
  await converse(worker, ofWorker);
  await converse(worker, ofBoss);
  await converse(worker, `${OPERATOR_TOKEN}x`);
});
afterAll(async () => {
  endpoint.close();
  await endRelays();
  rmSync(folder, { recursive: true });
});

/** A device that signs in by its first message, sends an invalid message and leaves. */
async function converse(agent: TestAgent, token: string): Promise<void> {
  const socket = new WebSocket(`${baseUrl.replace("http", "ws")}/ws/v1/agents/${agent.agentId}`);
  socket.on("message", (data: Buffer) => answers.push(data.toString()));
  socket.on("close", (_code, reason) => answers.push(reason.toString()));
  socket.on("open", () => {
    socket.send(JSON.stringify({ type: "auth", token }));
    socket.send(JSON.stringify({ type: "claim", task_id: token, token }));
    socket.send(`{"type": "result", "token": "${token}"`);
    setTimeout(() => socket.close(), 100);
  });
  await new Promise((closed) => socket.once("close", closed));
}

/** Lists the names of the secrets that a text contains. */
const foundIn = (text: string) =>
  [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);

describe("IN8 over a whole run", () => {
  test("no response contains the operator token, a private key, the passphrase or a token", () => {
    expect(answers.length).toBeGreaterThan(100);
    expect(foundIn(`...${OPERATOR_TOKEN}...`)).toEqual(["master token"]);
    expect(foundIn(answers.join("\n"))).toEqual([]);
  });

  test("no response contains a stack trace or a path of the program", () => {
    const text = answers.join("\n");
    expect(text).not.toMatch(/\bat .*\.(ts|js):\d+/);
    expect(text).not.toContain(process.cwd());
    expect(text).not.toContain('"status":500');
  });

  test("neither the log nor the database contains any secret or the relay's own key", async () => {
    relay.kill("SIGTERM");
    await relay.ended;
    const opened = await openMigrated({ path, migrations });
    if (!opened.ok) throw new Error(opened.detail);
    const identity = await findIdentity(opened.storage.read);
    await opened.storage.close();
    const key = await openSealedKey(identity!.secret_key, passphrase);
    if (!key.ok) throw new Error(key.code);
    keepSecretKey("key of the relay", key.secretKey);
    expect(secrets.get("token of the relay")).toMatch(/^eyJ/);

    const output = relay.stdout() + relay.stderr();
    expect(foundIn(output)).toEqual([]);
    expect(foundIn(answers.join("\n"))).toEqual([]);
    expect(foundIn(await readAllStored(path))).toEqual([]);
  });

  test("IN7 every log line is one JSON object for any text in prompts and ids", () => {
    const lines = parseLogLines(relay.stdout() + relay.stderr());
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) expect(line).toMatchObject({ service: "relay" });
  });

  test("IN9 no unexpected error is logged", () => {
    expect(relay.stderr()).toBe("");
  });
});
