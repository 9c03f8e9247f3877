import { loadHostileVectors, loadJsonVectors } from "@agent/testkit";
import type { Operation } from "@agent/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildPath, samples, UNKNOWN_ID } from "../../test/contract/samples.ts";
import { expectConsistentBooks } from "../../test/market.ts";
import {
  OPERATOR_TOKEN,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";
import { operations, type OperationName } from "../operations.ts";

// Bodies that only another relay may send are not read before its signature:
// federation/transport/authenticate-peer.test.ts.
const takers = (Object.entries(operations) as [OperationName, Operation][])
  .filter(([, { body, auth }]) => body !== undefined && auth !== "peer")
  .map(([name]) => name);
const { values, bodies, giants } = loadHostileVectors();

let t: TestRelay;
beforeAll(async () => {
  t = await startTestRelay();
});
// Some of the bodies freeze the relay.
afterEach(() => t.asOperator("POST", "/api/v1/admin/unfreeze"));
afterAll(() => t.close());

function post(name: OperationName, raw: string | Uint8Array): Promise<Reply> {
  const body = typeof raw === "string" ? raw : Uint8Array.from(raw);
  return t.request(operations[name].method, buildPath(name), { token: OPERATOR_TOKEN, raw: body });
}

/** The sum of the operator's deposits, in micro-units. */
let credited = 0;

function noteDeposit(name: OperationName, { body }: Reply, raw: string): void {
  if (name !== "deposit" || body["idempotent"] !== false) return;
  credited += Math.round((JSON.parse(raw) as { amount: number }).amount * 1e6);
}

/** Checks the rules that hold after any body: no fault, no shared state, and no money but the deposits. */
async function expectUnharmed(): Promise<void> {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(t.listLogged("request.failed")).toEqual([]);
  expect(t.lines.join("")).not.toContain(OPERATOR_TOKEN);
  expect(await t.request("GET", "/health")).toMatchObject({ status: 200 });
  await expectConsistentBooks(t, { deposits: credited / 1e6 });
}

// Operations that the operator has not set up answer 501.
const isDefined = ({ status }: Reply) => status < 500 || status === 501;

describe("a hostile body", () => {
  test.each(takers)(
    "IN1, IN4: a hostile body of %s gets a 4xx response or is accepted as plain JSON",
    async (name) => {
      const undefinedAnswers: string[] = [];
      for (const { name: title, bytes } of [...loadJsonVectors(), ...bodies]) {
        if (!isDefined(await post(name, bytes))) undefinedAnswers.push(title);
      }
      for (const giant of giants()) {
        // Processor time, because other processes can delay this one.
        const start = process.threadCpuUsage();
        const { status } = await post(name, giant);
        expect([400, 413]).toContain(status);
        const { user, system } = process.threadCpuUsage(start);
        expect((user + system) / 1_000).toBeLessThan(1_000);
      }
      expect(undefinedAnswers).toEqual([]);
      await expectUnharmed();
    },
  );
});

type Path = readonly (string | number)[];

/** The position of a value in a body; objects and arrays are values too. */
function* pathsIn(value: unknown, path: Path = []): Iterable<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    yield* pathsIn(member, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** The body with a text that is JSON, or almost JSON, in place of one value. */
function replaced(body: unknown, [key, ...rest]: Path, text: string): string {
  if (key === undefined) return text;
  const entries = Object.entries(body as object).map(([name, member]) => {
    const value = name === String(key) ? replaced(member, rest, text) : JSON.stringify(member);
    return [name, value] as const;
  });
  return Array.isArray(body)
    ? `[${entries.map(([, value]) => value).join()}]`
    : `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`;
}

describe("a hostile value", () => {
  test.each(takers)(
    "IN2, IN3: a hostile value in any place of a body of %s does no harm",
    async (name) => {
      const undefinedAnswers: string[] = [];
      for (const path of pathsIn(samples[name].body)) {
        for (const value of values) {
          const raw = replaced(samples[name].body, path, value);
          const reply = await post(name, raw);
          if (!isDefined(reply)) undefinedAnswers.push(`${path.join(".")} = ${value}`);
          noteDeposit(name, reply, raw);
        }
      }
      expect(undefinedAnswers).toEqual([]);
      await expectUnharmed();
    },
  );

  test.each(takers)(
    "IN2, IN3: a hostile value of an unknown member in a body of %s does no harm",
    async (name) => {
      for (const member of ["__proto__", "constructor", "toString", "toJSON", "then", "length"]) {
        for (const value of values) {
          const text = JSON.stringify(samples[name].body ?? { x: 1 }).slice(0, -1);
          const raw = `${text},"${member}":${value}}`;
          const reply = await post(name, raw);
          expect([raw, isDefined(reply)]).toEqual([raw, true]);
          noteDeposit(name, reply, raw);
        }
      }
      await expectUnharmed();
    },
  );

  test("IN2, IN3: no later response contains an injected member", async () => {
    for (const path of [
      "discover",
      `${UNKNOWN_ID}`,
      `${UNKNOWN_ID}/listing`,
      `${UNKNOWN_ID}/balance`,
    ]) {
      const { status, body } = await t.asOperator("GET", `/api/v1/agents/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(JSON.stringify(body)).not.toContain("polluted");
    }
  });
});

describe("an id with a special meaning in JavaScript", () => {
  const ids = [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "%00",
    "%E0%A4%A",
    "a%2Fb",
  ];
  const withParameter = (Object.entries(operations) as [OperationName, Operation][])
    .filter(([, { path }]) => path.includes("/:"))
    .map(([name]) => name);

  test.each(withParameter)(
    "MN17: an id with a special meaning in JavaScript is an ordinary unknown id to %s",
    async (name) => {
      const { body, query } = samples[name];
      for (const id of ids) {
        const path = operations[name].path.replaceAll(/:\w+/g, id);
        const options = { token: OPERATOR_TOKEN, ...(body !== undefined && { body }) };
        const to = query === undefined ? path : `${path}?${query}`;
        const reply = await t.request(operations[name].method, to, options);
        expect([id, isDefined(reply)]).toEqual([id, true]);
      }
    },
  );

  test("MN17: an id with a special meaning in JavaScript gets no money, because it is no UUID", async () => {
    for (const id of ids.slice(0, 4)) {
      const path = `/api/v1/agents/${id}`;
      const refused = await t.asOperator("POST", `${path}/deposit`, { amount: 0.5 });
      expect([id, refused.status, refused.body["code"]]).toEqual([id, 400, "request.invalid"]);
      const { body } = await t.asOperator("GET", `${path}/balance`);
      expect(body).toMatchObject({ agent_id: id, balance: 0 });
    }
    await expectConsistentBooks(t);
  });
});

describe("IN7 texts of callers stay inside their log line:", () => {
  test("every log line is one JSON object", async () => {
    const text = '\n{"level":"error","msg":"forged"}\r\n\u001b[2J\u2028';
    const id = encodeURIComponent(text);
    const before = t.lines.length;
    await t.asOperator("POST", `/agent/${id}/task`, { prompt: text, step_id: text });
    await t.asOperator("POST", `/api/v1/agents/${id}/deposit`, { amount: 1, reference: text });
    await t.request("GET", `/api/v1/agents/${id}`, { headers: { "x-request-id": "a b" } });
    for (const line of t.lines.slice(before)) {
      expect(line.trimEnd()).not.toMatch(/\p{Cc}/u);
      expect(JSON.parse(line)).not.toMatchObject({ msg: "forged" });
    }
    expect(t.listLogged("forged")).toEqual([]);
  });
});
