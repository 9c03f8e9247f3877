import { limits, type Operation } from "@agent/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { federated } from "../../../test/contract/operator/federation.ts";
import { throwingRelay } from "../../../test/contract/throwing-relay.ts";
import {
  OPERATOR_TOKEN,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../../test/test-relay.ts";
import { operations } from "../../operations.ts";

let t: TestRelay;
beforeAll(async () => {
  t = await startTestRelay(federated);
});
afterAll(() => t.close());

/** The members of every error body; those of some are added to them. */
const members = ["error", "message", "code", "status", "request_id"];

const byPath = Map.groupBy(Object.values<Operation>(operations), ({ path }) => path);
const paths = [...byPath].map(([path, rows]) => {
  const methods: string[] = rows.map(({ method }) => method);
  return [path, methods.includes("GET") ? [...methods, "HEAD"] : methods] as const;
});

describe("a request that no operation serves", () => {
  test.each([
    ["GET", "/"],
    ["GET", "/favicon.ico"],
    ["POST", "/api/v1/agents"],
    ["GET", "/api/v1/agents/a/b/c"],
    ["OPTIONS", "/nowhere"],
    ["DELETE", "/%00/%E0%A4%A/__proto__"],
  ])("the relay answers %s %s with 404 and an error body", async (method, path) => {
    const { status, headers, body } = await t.request(method, path);
    expect(status).toBe(404);
    expect(headers.get("content-type")).toBe("application/json");
    expect(Object.keys(body)).toEqual(members);
    expect(body).toMatchObject({ code: "route.not_found", status: 404, error: "No such path" });
  });

  test.each([
    ["/api/v1/agents//balance", "No such path: agentId is missing"],
    ["/agent/a/task/", "No such path: taskId is missing"],
    ["/agent//task/b/events", "No such path: agentId is missing"],
    ["/api/v1//agents", "No such path"],
    ["//", "No such path"],
  ])("the refusal of %s names the parameter that is missing", async (path, error) => {
    const { status, body } = await t.request("GET", path);
    expect([status, body["error"]]).toEqual([404, error]);
  });

  test.each([
    ["POST", "/agent//task", 400, "Invalid request: agentId is required"],
    ["POST", "/api/v1/agents//listing", 400, "Invalid request: agentId is required"],
    ["DELETE", "/api/v1/agents/", 400, "Invalid request: agentId is required"],
    ["POST", "/agent//task/b/events", 404, "No such path: agentId is missing"],
    ["POST", "//", 404, "No such path"],
  ])(
    "a write to a path that lacks its parameter is invalid: %s %s",
    async (method, path, status, error) => {
      const { body, ...reply } = await t.request(method, path, { body: { prompt: "p" } });
      expect([reply.status, body["error"]]).toEqual([status, error]);
      const issues = [{ path: "agentId", message: "is required" }];
      expect(body["issues"]).toEqual(status === 400 ? issues : undefined);
    },
  );

  test.each(paths)(
    "another method of %s is answered with 405 and its methods %j",
    async (path, methods) => {
      const others = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter(
        (method) => !methods.includes(method),
      );
      for (const method of others) {
        const { status, headers, body } = await t.request(method, path);
        expect(status).toBe(405);
        expect(headers.get("allow")?.split(", ").toSorted()).toEqual(
          [...methods, "OPTIONS"].toSorted(),
        );
        expect(Object.keys(body)).toEqual(members);
        expect(body).toMatchObject({ code: "route.method_not_allowed", status: 405 });
      }
    },
  );

  test("a fixed path is never mistaken for an agent of that name", async () => {
    for (const path of ["bootstrap", "register", "heartbeat", "discover"]) {
      const { status } = await t.request("DELETE", `/api/v1/agents/${path}`, {
        token: OPERATOR_TOKEN,
      });
      expect([path, status]).toEqual([path, 405]);
    }
  });
});

describe("HEAD", () => {
  test.each(paths.filter(([, methods]) => methods.includes("HEAD")))(
    "HEAD of %s is answered like GET",
    async (path) => {
      const head = await t.request("HEAD", path, { token: OPERATOR_TOKEN });
      const get = await t.request("GET", path, { token: OPERATOR_TOKEN });
      expect(head).toMatchObject({ status: get.status, body: {} });
    },
  );
});

describe("CORS", () => {
  const origin = "https://app.example";
  const ask = (relay: TestRelay, from: string, method = "GET", path = "/health") =>
    relay.request(method, path, { headers: { origin: from } });
  const allowed = ({ headers }: Reply) => headers.get("access-control-allow-origin");

  test("the relay allows every origin to read responses and errors by default", async () => {
    expect(allowed(await ask(t, origin))).toBe("*");
    expect(allowed(await ask(t, origin, "GET", "/nowhere"))).toBe("*");
    expect(allowed(await ask(t, origin, "GET", "/api/v1/agents/discover"))).toBe("*");
    expect(allowed(await ask(t, origin, "PUT"))).toBe("*");
  });

  test("the relay allows only the configured origins and varies by Origin", async () => {
    const configured = await startTestRelay({ AGENT_CORS_ORIGIN: `${origin}, https://b.example` });
    for (const [method, path] of [
      ["GET", "/health"],
      ["GET", "/nowhere"],
      ["PUT", "/health"],
      ["OPTIONS", "/health"],
    ] as const) {
      const mine = await ask(configured, origin, method, path);
      expect([allowed(mine), mine.headers.get("vary")]).toEqual([origin, "Origin"]);
      for (const stranger of ["https://evil.example", `${origin}.evil.example`, "null"]) {
        const refused = await ask(configured, stranger, method, path);
        expect([allowed(refused), refused.headers.get("vary")]).toEqual([null, "Origin"]);
      }
    }
    const contract = await ask(configured, origin, "GET", "/openapi.json");
    expect(contract.headers.get("vary")).toBe("Origin, Accept-Encoding");
    await configured.close();
  });

  // The card processor is no page in a browser, and only the relay's own page renews its session.
  const ofOperations = Object.values<Operation>(operations)
    .filter(({ path }) => !path.endsWith("/stripe") && !path.startsWith("/api/v1/console/"))
    .flatMap(({ headers }) => Object.keys(headers ?? {}))
    .map((name) => name.toLowerCase());
  const ofAll = ["authorization", "content-type", "idempotency-key", "x-request-id"];
  const read = [...ofAll, "traceparent", "tracestate", ...ofOperations];

  test.each(paths)(
    "the relay answers a preflight of %s with its methods: %j",
    async (path, methods) => {
      const preflight = await t.request("OPTIONS", path, {
        headers: { origin, "access-control-request-method": methods[0] ?? "" },
      });
      const { status, headers, body } = preflight;
      expect([status, body]).toEqual([204, {}]);
      expect(allowed(preflight)).toBe("*");
      const named = headers.get("access-control-allow-methods")?.split(", ");
      expect(named).toEqual(expect.arrayContaining([...methods]));
      const sent = headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
      expect(sent).toEqual(expect.arrayContaining(read));
      expect(headers.get("content-type")).toBeNull();
    },
  );

  test("the relay exposes the headers that scripts need", async () => {
    const { headers } = await t.request("GET", "/nowhere");
    const exposed = headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
    expect(exposed).toEqual(
      expect.arrayContaining(["x-request-id", "retry-after", "ratelimit", "ratelimit-remaining"]),
    );
  });
});

describe("a request id", () => {
  const answered = async (id: string, path = "/health") => {
    const { headers, body } = await t.request("GET", path, { headers: { "x-request-id": id } });
    return { id: headers.get("x-request-id"), body };
  };

  test.each(["a", "A.b_c-9", "x".repeat(128)])(
    "the relay returns the caller's request id %s",
    async (id) => {
      expect((await answered(id)).id).toBe(id);
      expect((await answered(id, "/nowhere")).body).toMatchObject({ request_id: id });
      expect((await answered(id, "/api/v1/agents/discover")).body).toMatchObject({
        request_id: id,
      });
    },
  );

  test.each(["", "x".repeat(129), "a b", "a,b", "a/b", "<script>", "\u00e9"])(
    "a request id of another form is replaced: %j",
    async (id) => {
      const { id: given, body } = await answered(id, "/nowhere");
      expect(given).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(body).toMatchObject({ request_id: given });
    },
  );

  test("the relay creates a new request id for every request", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await answered("")).id));
    expect(new Set(ids).size).toBe(20);
  });
});

describe("refusals", () => {
  test("a refusal names the scheme when a token is missing or invalid", async () => {
    for (const token of [undefined, "e30.e30.AAAA"]) {
      const { status, headers } = await t.request("GET", "/api/v1/agents/discover", { token });
      expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    }
  });

  test("a refusal names each invalid field with its rule", async () => {
    const body = { amount: -1, currency: "EUR", reference: "" };
    const path = "/api/v1/agents/a/deposit";
    const answer = await t.asOperator("POST", path, body);
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: "request.invalid",
        error:
          "Invalid request: amount must be above 0; currency must be 'USD'; reference must not be empty",
        issues: [
          { path: "amount", message: "must be above 0" },
          { path: "currency", message: "must be 'USD'" },
          { path: "reference", message: "must not be empty" },
        ],
      },
    });
    expect(Object.keys(answer.body)).toEqual([...members, "issues"]);
  });

  test("a relay that shuts down sends Retry-After", async () => {
    const draining = await startTestRelay();
    await draining.relay.drain();
    const { status, headers, body } = await draining.request("GET", "/health");
    expect([status, headers.get("retry-after")]).toEqual([503, "10"]);
    expect(body).toMatchObject({ code: "server.draining", retry_after: 10 });
    expect(await draining.request("GET", "/health/live")).toMatchObject({ status: 200 });
    await draining.close();
  });

  test("the cause of a program fault is logged under the request id and not sent", async () => {
    const secret = "SELECT secret FROM accounts";
    const { lines, request } = throwingRelay(new Error(secret));
    const headers = { "x-request-id": "r-1" };
    const { status, body } = await request("GET", "/health", { headers });
    expect([status, Object.keys(body)]).toEqual([500, members]);
    expect(JSON.stringify(body)).not.toContain(secret);
    expect(lines).toHaveLength(1);
    const logged = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    expect(logged).toMatchObject({ level: "error", msg: "request.failed", request_id: "r-1" });
    expect(logged["error"]).toContain(secret);
  });
});

describe("a rate limit", () => {
  const figures = ({ headers }: Reply) =>
    ["limit", "remaining", "reset"].map((name) => Number(headers.get(`ratelimit-${name}`)));

  test("the relay sends the rate limit with every response, and answers 429 until the window has moved on", async () => {
    const limited = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "0.15" });
    const ask = () => limited.request("GET", "/health");
    // The limit is 20 a minute x 0.15, and the relay's own start has requested its document once.
    const [first, second, third] = [await ask(), await ask(), await ask()];
    expect([first, second, third].map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(figures(first)).toEqual([3, 1, 60]);
    expect(first.headers.get("ratelimit")).toBe('"public";r=1;t=60');
    expect(first.headers.get("ratelimit-policy")).toBe('"public";q=3;w=60');
    expect(first.headers.get("retry-after")).toBeNull();

    expect(Object.keys(third.body)).toEqual([...members, "retry_after"]);
    expect(third.body).toMatchObject({ code: "rate.exceeded", status: 429, retry_after: 60 });
    expect(third.headers.get("retry-after")).toBe("60");
    expect(figures(third)).toEqual([3, 0, 60]);
    expect(third.headers.get("access-control-allow-origin")).toBe("*");

    await limited.clock.advance(limits.rateWindowMs);
    expect(await ask()).toMatchObject({ status: 200 });
    await limited.close();
  });

  test("the relay limits each tier separately, before it checks the token, and never limits probes", async () => {
    const limited = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "0.000001" });
    const ask = (path: string) => limited.request("GET", path);
    expect(await ask("/health")).toMatchObject({ status: 429 });
    expect(await ask("/api/v1/agents/discover")).toMatchObject({ status: 401 });
    expect(await ask("/api/v1/agents/discover")).toMatchObject({ status: 429 });
    expect(await ask("/api/v1/devices/x")).toMatchObject({ status: 429 });
    expect(await ask("/api/v1/admin/reconciliation")).toMatchObject({ status: 401 });
    for (let i = 0; i < 3; i += 1) {
      expect(await ask("/health/live")).toMatchObject({ status: 200 });
      expect(await ask("/health/ready")).toMatchObject({ status: 200 });
    }
    await limited.close();
  });

  test("AC9 other addresses in X-Forwarded-For do not bypass the rate limit", async () => {
    const limited = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "1" });
    const statuses: number[] = [];
    for (let i = 0; i < 31; i += 1) {
      const headers = { "x-forwarded-for": `203.0.113.${i}`, forwarded: `for=203.0.113.${i}` };
      statuses.push(
        (await limited.request("POST", "/api/v1/agents/bootstrap", { headers })).status,
      );
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 400), 429]);
    await limited.close();
  });

  test("a rate limit scale of 0 sends no limit headers", async () => {
    for (let i = 0; i < 70; i += 1) {
      expect(await t.request("GET", "/health")).toMatchObject({ status: 200 });
    }
    expect((await t.request("GET", "/health")).headers.get("ratelimit-limit")).toBeNull();
  });
});
