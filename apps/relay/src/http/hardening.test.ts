import { connect } from "node:net";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { serve, type RunningServer } from "../serve.ts";

let t: TestRelay;
let serving: RunningServer;
afterEach(() => serving.stop(0));

async function start(env: Record<string, string> = {}): Promise<string> {
  t = await startTestRelay(env, 1, createManualClock());
  const runtime = { ...t.clock, ...createSeededRandom(2) };
  serving = await serve(t.relay, runtime, { host: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${serving.port}`;
}

/** Sends raw lines and returns all that the relay answered until it closed the connection. */
function say(lines: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = "";
  const socket = connect(serving.port, "127.0.0.1");
  socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
  socket.once("close", () => resolve(answer));
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  return promise;
}

describe("limits by address", () => {
  const proxied = {
    AGENT_RATE_LIMIT_SCALE: "1",
    AGENT_TRUSTED_PROXIES: "127.0.0.1",
  };
  const ask = async (url: string, path: string, address: string, body?: object) =>
    fetch(`${url}${path}`, {
      headers: { "x-forwarded-for": address, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });

  test("H9: addresses of one IPv6 /64 network share a rate limit, and the next /64 network has its own", async () => {
    const url = await start(proxied);
    const statuses = [];
    for (let i = 0; i < 25; i += 1) {
      statuses.push((await ask(url, "/health", `2001:db8:1:2:${i.toString(16)}::1`)).status);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429, 429, 429, 429]);
    expect((await ask(url, "/health", "2001:db8:1:3::1")).status).toBe(200);
    expect((await ask(url, "/health", "192.0.2.1")).status).toBe(200);
  });

  test("H9: wrong pairing codes are counted for each /64 network too", async () => {
    const url = await start({ ...proxied, AGENT_RATE_LIMIT_SCALE: "0" });
    const claim = async (address: string) => {
      const body = { pairing_code: "AAAAAA", public_key: "ab".repeat(32), device_name: "phone" };
      const answer = await ask(url, "/pairing/claim", address, body);
      return ((await answer.json()) as { code: string }).code;
    };
    const codes = [];
    for (let i = 1; i <= 6; i += 1) codes.push(await claim(`2001:db8:1:2::${i}`));
    expect(new Set(codes.slice(0, 5)).size).toBe(1);
    expect(codes[5]).toBe("pairing.too_many_tries");
    expect(await claim("2001:db8:1:3::1")).toBe(codes[0]);
  });
});

describe("limits of one line of IPv6", () => {
  const proxied = { AGENT_RATE_LIMIT_SCALE: "1", AGENT_TRUSTED_PROXIES: "127.0.0.1" };

  /** Returns the answers to as many requests from an address. */
  async function ask(url: string, address: string, count: number): Promise<number[]> {
    const headers = { "x-forwarded-for": address };
    const answers = Array.from({ length: count }, () => fetch(`${url}/health`, { headers }));
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  test("E11: the /64 networks of one line share a larger rate limit and do not use up that of their neighbours", async () => {
    const url = await start(proxied);
    const inUse = Array.from({ length: 20 }, () => 200);
    for (let host = 1; host <= 4; host += 1) {
      expect(await ask(url, `2001:db8:1:20${host}::1`, 20)).toEqual(inUse);
    }
    expect(await ask(url, "2001:db8:1:205::1", 1)).toEqual([429]);
    expect(await ask(url, "2001:db8:1:301::1", 20)).toEqual(inUse);
    expect(await ask(url, "2001:db8:2:201::1", 20)).toEqual(inUse);
  });

  test("E11: the /56 networks of one line share a larger rate limit as well", async () => {
    const url = await start({ ...proxied, AGENT_RATE_LIMIT_SCALE: "0.1" });
    const counts = [];
    for (let line = 1; line <= 9; line += 1) {
      for (const host of [1, 2, 3, 4]) {
        const answers = await ask(url, `2001:db8:1:${line}0${host}::1`, 2);
        counts.push(answers.filter((status) => status === 200).length);
      }
    }
    expect(counts).toEqual(Array.from({ length: 36 }, (_, host) => (host < 16 ? 2 : 0)));
    expect(await ask(url, "2001:db8:2::1", 2)).toEqual([200, 200]);
  });

  test("E11: wrong pairing codes are counted for the whole line too", async () => {
    const url = await start({ ...proxied, AGENT_RATE_LIMIT_SCALE: "0" });
    const claim = async (address: string) => {
      const body = { pairing_code: "AAAAAA", public_key: "ab".repeat(32), device_name: "phone" };
      const answer = await fetch(`${url}/pairing/claim`, {
        method: "POST",
        headers: { "x-forwarded-for": address, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { code: string }).code;
    };
    const codes = [];
    for (let i = 0; i < 20; i += 1) codes.push(await claim(`2001:db8:1:20${i % 4}::1`));
    expect(new Set(codes)).toEqual(new Set(["pairing.not_found"]));
    expect(await claim("2001:db8:1:205::1")).toBe("pairing.too_many_tries");
    expect(await claim("2001:db8:1:301::1")).toBe("pairing.not_found");
  });
});

describe("the Host header", () => {
  test("H11: two Host headers are refused, over HTTP and for a socket, and one is accepted", async () => {
    await start();
    const card = "GET /.well-known/agent-card.json HTTP/1.1";
    const refused = await say([card, "Host: one.example", "hOST: two.example"]);
    expect(refused).toMatch(/^HTTP\/1\.1 400 /);
    expect(refused).toContain("request.invalid");
    expect(refused).not.toContain("one.example");
    const socket = ["GET /ws HTTP/1.1", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    const upgrade = [...socket, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Host: one.example"];
    expect(await say([...upgrade, "Host: one.example"])).toMatch(/^HTTP\/1\.1 400 /);
    const accepted = await say([card, "Host: one.example"]);
    expect(accepted).toMatch(/^HTTP\/1\.1 200 /);
    expect(accepted).toContain("http://one.example/openapi.json");
  });

  test("H11: a card that names the request's host must not be cached, and one with a configured address may be", async () => {
    const path = "/.well-known/agent-card.json";
    const named = await fetch(`${await start()}${path}`);
    expect(named.headers.get("cache-control")).toBe("no-store");
    const agent = await t.createAgent();
    const own = await t.request("GET", `/a2a/${agent.agentId}${path}`);
    expect([own.status, own.headers.get("cache-control")]).toEqual([200, "no-store"]);
    await serving.stop(0);
    const configured = await fetch(
      `${await start({ AGENT_BASE_URL: "https://r.example" })}${path}`,
    );
    expect([configured.status, configured.headers.get("cache-control")]).toEqual([200, null]);
  });
});

test.each(["nobody", "a".repeat(200), "019938A0-0000-7000-8000-000000000001", "x402:0xabc", "%20"])(
  "H12: a task and a deposit for the path id %s are refused, and nothing is stored",
  async (id) => {
    await start();
    const asOperator = (path: string, body: object) => t.asOperator("POST", path, body);
    const invalid = {
      status: 400,
      body: { code: "request.invalid", issues: [{ path: "agentId" }] },
    };
    expect(await asOperator(`/agent/${id}/task`, { prompt: "work" })).toMatchObject(invalid);
    expect(await asOperator(`/api/v1/agents/${id}/deposit`, { amount: 1 })).toMatchObject(invalid);
    const { body } = await t.asOperator("GET", "/api/v1/admin/accounts");
    expect(body["accounts"]).toEqual([]);
  },
);

test("H12: a deposit to a UUID or to a wallet is credited, and a task for an unknown UUID waits", async () => {
  await start();
  const { agentId } = t.createUnknownAgent();
  for (const id of [agentId, `x402:0x${"a".repeat(40)}`]) {
    const answer = await t.asOperator("POST", `/api/v1/agents/${id}/deposit`, { amount: 1 });
    expect(answer).toMatchObject({ status: 200, body: { balance: 1 } });
  }
  const task = await t.asOperator("POST", `/agent/${agentId}/task`, { prompt: "work" });
  expect(task.status).toBe(201);
  const wallet = `/agent/x402:0x${"a".repeat(40)}/task`;
  expect((await t.asOperator("POST", wallet, { prompt: "work" })).status).toBe(400);
});

test("H15: private answers must not be cached, public ones may be, and no media type may be guessed", async () => {
  const url = await start();
  const agent = await t.createAgent();
  const get = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}${path}`, { headers });
    await answer.body?.cancel();
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    return [answer.status, answer.headers.get("cache-control")];
  };
  const balance = `/api/v1/agents/${agent.agentId}/balance`;
  expect(await get(balance, await t.token(agent))).toEqual([200, "no-store"]);
  expect(await get(balance)).toEqual([401, "no-store"]);
  expect(await get("/metrics", OPERATOR_TOKEN)).toEqual([200, "no-store"]);
  expect(await get("/docs")).toEqual([200, "public, max-age=300"]);
  expect(await get("/health")).toEqual([200, null]);
  expect(await get("/nowhere")).toEqual([404, null]);
  expect(await say(["GET /health HTTP/1.1"])).toContain("nosniff");
  expect(await say(["no HTTP at all"])).toContain("Nosniff".toLowerCase());
});

describe("a body that may be one object or a list", () => {
  const issuesOf = async (body: object) => {
    const agent = await t.createAgent();
    const answer = await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/events`, body);
    expect(answer.status).toBe(400);
    return (answer.body["issues"] as { path: string }[]).map(({ path }) => path);
  };

  test("G8: a fault in one event names only its members, and a fault in a list names those of the list", async () => {
    await start();
    expect(await issuesOf({ type: "step" })).toEqual(["timestamp"]);
    expect(await issuesOf({ type: "step", timestamp: "now", payload: {} })).toEqual(["timestamp"]);
    expect(await issuesOf({ events: [{ type: "step" }] })).toEqual(["events.0.timestamp"]);
    expect(await issuesOf({ events: {} })).toEqual(["events"]);
  });

  test("G8: a body of neither form is answered with the names of both forms", async () => {
    await start();
    expect(await issuesOf({})).toEqual(expect.arrayContaining(["events", "timestamp"]));
  });
});
