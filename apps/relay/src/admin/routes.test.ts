import { readFileSync } from "node:fs";
import { buildOpenApi } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { operations } from "../operations.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

const manifest = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

const get = (path: string, relay = t) => relay.request("GET", path);

describe("the probes", () => {
  test.each([
    ["/health", "ok"],
    ["/health/live", "ok"],
    ["/health/ready", "ready"],
  ])("%s answers %s without a token", async (path, status) => {
    expect(await get(path)).toMatchObject({ status: 200, body: { status } });
  });

  test("a relay that shuts down is alive but not ready", async () => {
    await t.relay.drain();
    expect(await get("/health/live")).toMatchObject({ status: 200 });
    expect(await get("/health/ready")).toMatchObject({
      status: 503,
      body: { code: "server.draining" },
    });
  });

  test("a relay without its database is alive but not ready", async () => {
    await t.close();
    expect(await get("/health/live")).toMatchObject({ status: 200 });
    expect(await get("/health/ready")).toMatchObject({
      status: 503,
      body: { code: "server.unavailable" },
    });
  });
});

describe("the description of the relay", () => {
  test("the relay describes its identity, address, fee and version", async () => {
    const configured = await startTestRelay({
      AGENT_BASE_URL: "https://relay.example/",
      AGENT_RELAY_NAME: "north",
      AGENT_PLATFORM_FEE_RATE: "0.1",
      PAYMENT_SECRET_KEY: "sk_test_1",
      X402_PAY_TO_ADDRESS: "0x0000000000000000000000000000000000000001",
    });
    const { status, body } = await get("/.well-known/agent-relay.json", configured);
    expect([status, body]).toEqual([
      200,
      {
        relay_id: configured.relay.relayId,
        did: configured.did,
        public_key: body["public_key"],
        log: body["log"],
        name: "north",
        base_url: "https://relay.example",
        fee_rate: 0.1,
        features: [
          "tasks",
          "task-events",
          "budget",
          "withdrawals",
          "credentials",
          "ledgers",
          "records",
          "approvals",
          "pairing",
          "webhooks",
          "websocket",
          "mcp-forward",
          "inspections",
          "a2a",
          "cards",
          "x402",
        ],
        disputes: {
          fee_rate: 0.05,
          fee_min: 0.01,
          window_min_ms: 60_000,
          answer_ms: 259_200_000,
          decision_ms: 604_800_000,
          opened: 0,
          decided: 0,
          undecided: 0,
        },
        incarnation: 0,
        version: manifest.version,
      },
    ]);
    expect(body["public_key"]).toMatch(/^[0-9a-f]{64}$/);
    await configured.close();
  });

  test("the description never comes from the Host header", async () => {
    const { body } = await t.request("GET", "/.well-known/agent-relay.json", {
      headers: { host: "evil.example", "x-forwarded-host": "evil.example" },
    });
    expect(body["base_url"]).toBeNull();
    expect(JSON.stringify(body)).not.toContain("evil");
  });

  test("the relay serves its contract under its own version", async () => {
    expect((await get("/openapi.json")).body).toEqual(buildOpenApi(operations, manifest.version));
  });
});
