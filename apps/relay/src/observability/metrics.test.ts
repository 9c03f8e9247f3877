import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

/** Each sample of the Prometheus text by its name and labels. */
async function samples(): Promise<Map<string, number>> {
  const { status, headers, text } = await t.request("GET", "/metrics", { token: OPERATOR_TOKEN });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

describe("the metrics", () => {
  test("the metrics count requests by operation and status and time them", async () => {
    await t.request("GET", "/health");
    await t.request("GET", "/health");
    await t.request("GET", "/api/v1/agents/x/balance");
    const seen = await samples();
    const requests = "agent_relay_http_requests_total";
    expect(seen.get(`${requests}{operation="health",status="200"}`)).toBe(2);
    expect(seen.get(`${requests}{operation="getBalance",status="401"}`)).toBe(1);
    const duration = "agent_relay_http_request_duration_seconds";
    expect(seen.get(`${duration}_count{operation="health"}`)).toBe(2);
  });

  test("the metrics have only labels from the contract, whatever is requested", async () => {
    for (let i = 0; i < 50; i += 1) {
      await t.request("GET", `/nowhere/${i}`);
      await t.request("GET", `/api/v1/agents/${i}/listing`);
      await t.request(`M${i}`, "/health");
    }
    const labels = [...(await samples()).keys()].flatMap(
      (key) => /operation="([^"]*)"/.exec(key)?.[1] ?? [],
    );
    expect(Object.keys(operations)).toEqual(expect.arrayContaining([...new Set(labels)]));
  });

  test("the metrics have only short codes as labels, also for the rules of the books", async () => {
    await t.relay.tick();
    await t.relay.idle();
    const names = [...(await samples()).keys()];
    const labels = names.flatMap((name) =>
      [...name.matchAll(/="([^"]*)"/g)].map(([, text]) => text),
    );
    expect(labels.filter((label) => !/^[\w.+-]{1,40}$/.test(label!))).toEqual([]);
    expect(names).toContain('agent_relay_books_faults{check="settlement_mismatch"}');
  });

  test("the metrics show open tasks, jobs and a freeze", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    await submitAcceptedTask(t, boss, worker);
    await t.relay.tick();
    await t.clock.advance(7_000);
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    const seen = await samples();
    expect(seen.get("agent_relay_open_tasks")).toBe(1);
    expect(seen.get("agent_relay_sockets")).toBe(0);
    expect(seen.get("agent_relay_frozen")).toBe(1);
    expect(seen.get('agent_relay_job_age_seconds{job="expire-tasks"}')).toBe(7);
    expect(seen.get('agent_relay_job_failures{job="expire-tasks"}')).toBe(0);
  });

  test("only the operator may read the metrics", async () => {
    expect(await t.request("GET", "/metrics")).toMatchObject({ status: 401 });
    expect(await t.as(await t.createAgent(), "GET", "/metrics")).toMatchObject({ status: 403 });
  });
});

describe("the ready check", () => {
  const ready = () => t.request("GET", "/health/ready");

  test("the ready check covers the database, its schema and each background job", async () => {
    await t.relay.tick();
    const { status, body } = await ready();
    expect(status).toBe(200);
    const checks = body["checks"] as { check: string; ok: boolean }[];
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["database", "migrations", "job expire-tasks", "job route-waiting"]),
    );
    expect(checks.every(({ ok }) => ok)).toBe(true);
  });

  test("the ready check fails and names the jobs when they have stopped", async () => {
    await t.relay.tick();
    await t.clock.advance(60_000);
    expect(await ready()).toMatchObject({ status: 200 });
    await t.clock.advance(1);
    const late = await ready();
    expect(late).toMatchObject({ status: 503, body: { code: "server.not_ready" } });
    expect(late.body["message"]).toContain("job expire-tasks");
    expect(late.body["checks"]).toContainEqual(
      expect.objectContaining({ check: "job expire-tasks", ok: false }),
    );
    await t.relay.tick();
    expect(await ready()).toMatchObject({ status: 200 });
  });

  test("the ready check passes although the jobs of a frozen relay wait", async () => {
    await t.relay.tick();
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
    await t.clock.advance(3_600_000);
    expect(await ready()).toMatchObject({ status: 200 });
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
    expect(await ready()).toMatchObject({ status: 200 });
  });
});

describe("the reference page", () => {
  test("the reference page shows every operation and loads nothing else", async () => {
    const { status, headers, text } = await t.request("GET", "/docs");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const name of Object.keys(operations)) expect(text).toContain(`<details id="${name}">`);
    expect(text).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
    expect(text.match(/href="(?!#|openapi\.json)/)).toBeNull();
  });

  test.each<[OperationName, string]>([
    ["health", "no token"],
    ["discover", "a token"],
    ["getBalance", "a token of the agent itself"],
    ["deposit", "the operator's token"],
    ["requestWithdrawal", "a token of the agent itself · a fresh token each time"],
    ["forwardTask", "signed headers of another relay"],
  ])("the reference page names the callers of %s: %s", async (name, callers) => {
    const { text } = await t.request("GET", "/docs");
    const [, part = ""] = text.split(`<details id="${name}">`);
    expect(/<p>(.*?)<\/p>/.exec(part)?.[1]).toMatch(new RegExp(`^${callers}( ·|$)`));
  });
});
