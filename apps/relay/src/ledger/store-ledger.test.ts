import { readFileSync } from "node:fs";
import type { LedgerBody, LedgerStep } from "@agent/ledger";
import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createLedger,
  ledgerPath,
  ledgersPath,
  storeLedger,
  createTimeline,
} from "../../test/agents/ledgers.ts";
import { submitAcceptedTask, countStatuses } from "../../test/market.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const GOAL = "goal-1";

let t: TestRelay;
let agent: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  agent = await t.createAgent();
});
afterEach(() => t.close());

const store = (ledger: object) => storeLedger(t, agent, ledger);
const readStored = (goalId = GOAL, by = agent) => t.as(by, "GET", ledgerPath(by, goalId));
const refusal = (status: number, code: string) => ({ status, body: { code, status } });

async function storeText(raw: string) {
  return t.request("POST", ledgersPath(agent), { token: await t.token(agent), raw });
}

describe("signed ledgers", () => {
  test("a signed ledger is stored, and read back as it was sent", async () => {
    const ledger = createLedger(agent, GOAL);
    expect(await store(ledger)).toMatchObject({
      status: 201,
      body: { goal_id: GOAL, content_hash: ledger.content_hash, stored_at: t.clock.now() },
    });
    expect((await readStored()).body).toEqual(JSON.parse(JSON.stringify(ledger)));
  });

  test("a signed ledger that is sent again, in any JSON notation, gets the first answer again", async () => {
    const ledger = createLedger(agent, GOAL);
    const { body } = await store(ledger);
    await t.clock.advance(1_000);
    const turned = Object.fromEntries(Object.entries(ledger).toReversed());
    for (const again of [ledger, turned]) {
      expect(await store(again)).toMatchObject({ status: 200, body });
    }
  });

  test("a signed ledger is stored once when it is sent 20 times at once", async () => {
    const ledger = createLedger(agent, GOAL);
    const replies = await Promise.all(Array.from({ length: 20 }, () => store(ledger)));
    expect(countStatuses(replies)).toEqual({ 200: 19, 201: 1 });
  });

  test("a signed ledger is stored with the members that this relay does not know", async () => {
    const ledger = JSON.stringify(createLedger(agent, GOAL));
    const raw = ledger.replace("{", '{"__proto__":{"a":1},"later":1,');
    expect(await storeText(raw)).toMatchObject({ status: 201 });
    expect((await readStored()).body).toEqual(JSON.parse(raw));
  });

  test("a signed ledger may belong to a goal with any name", async () => {
    for (const name of ["a/b ?#%", "__proto__", "\u{1f600}", "'; DROP TABLE ledgers; --"]) {
      expect(await store(createLedger(agent, name))).toMatchObject({ status: 201 });
      expect((await readStored(name)).body).toMatchObject({ goal_id: name });
    }
    const tooLong = "x".repeat(limits.idLength + 1);
    expect(await store(createLedger(agent, tooLong))).toMatchObject(
      refusal(400, "ledger.malformed"),
    );
  });
});

describe("CR5 a stored ledger is append-only", () => {
  test("a stored ledger is replaced by a ledger that extends its timeline", async () => {
    await store(createLedger(agent, GOAL, ["completed"]));
    const longer = createLedger(agent, GOAL, ["completed", "failed"]);
    expect(await store(longer)).toMatchObject({
      status: 201,
      body: { content_hash: longer.content_hash },
    });
    expect((await readStored()).body).toMatchObject({ content_hash: longer.content_hash });
  });

  const first = ["completed", "failed"] as const;
  const others: Readonly<Record<string, () => object>> = {
    "with an event less": () => createLedger(agent, GOAL, ["completed"]),
    "with another event": () => createLedger(agent, GOAL, ["completed", "completed", "completed"]),
    "with the same timeline and another plan": () =>
      createLedger(agent, GOAL, first, { plan_id: "another" }),
    "with the same timeline and a step that is described otherwise": () =>
      createLedger(agent, GOAL, first, {
        steps: createLedger(agent, GOAL, first).steps.map((step) => ({ ...step, description: "" })),
      }),
  };

  test.each(Object.entries(others))(
    "a stored ledger is not replaced by a ledger %s",
    async (_, other) => {
      await store(createLedger(agent, GOAL, first));
      const before = (await readStored()).body;
      expect(await store(other())).toMatchObject(refusal(409, "ledger.not_extended"));
      expect((await readStored()).body).toEqual(before);
    },
  );

  test("only one of two different ledgers that are sent at once is stored", async () => {
    const replies = await Promise.all([
      store(createLedger(agent, GOAL, ["failed"])),
      store(createLedger(agent, GOAL, ["completed"])),
    ]);
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 1 });
  });

  test("a stored ledger is replaced by one of two different extensions that are sent at once", async () => {
    await store(createLedger(agent, GOAL, ["completed"]));
    const replies = await Promise.all([
      store(createLedger(agent, GOAL, ["completed", "failed"])),
      store(createLedger(agent, GOAL, ["completed", "completed"])),
    ]);
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 1 });
  });

  test("another agent can neither store a ledger, nor claim it under its own name, nor overwrite it", async () => {
    const other = await t.createAgent();
    const ledger = createLedger(agent, GOAL);
    await store(ledger);
    expect(await t.as(other, "POST", ledgersPath(agent), ledger)).toMatchObject(
      refusal(403, "auth.not_owner"),
    );
    expect(await storeLedger(t, other, ledger)).toMatchObject(refusal(403, "ledger.wrong_agent"));
    const own = createLedger(other, GOAL, ["completed"]);
    expect(await storeLedger(t, other, own)).toMatchObject({ status: 201 });
    expect((await readStored()).body).toMatchObject({ content_hash: ledger.content_hash });
  });

  test("a token without the scope cannot store a ledger", async () => {
    const token = await t.token(agent, ["task:read", "task:result"]);
    const body = createLedger(agent, GOAL);
    expect(await t.request("POST", ledgersPath(agent), { token, body })).toMatchObject(
      refusal(403, "auth.scope_missing"),
    );
  });
});

interface LedgerVector {
  readonly id: number;
  readonly cls: string;
  readonly ledger: string;
  readonly key: string;
}

const file = new URL("../../../../vectors/own/ledgers.jsonl", import.meta.url);
const vectors = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as LedgerVector);

const answers: Readonly<Record<string, [status: number, code?: string]>> = {
  valid: [201],
  "valid-reordered": [201],
  "valid-unsigned": [400, "ledger.unsigned"],
  "event-dropped": [400, "ledger.content_hash_mismatch"],
  "event-swapped": [400, "ledger.content_hash_mismatch"],
  "event-changed": [400, "ledger.content_hash_mismatch"],
  "hash-of-array": [400, "ledger.content_hash_mismatch"],
  "hash-trailing-newline": [400, "ledger.content_hash_mismatch"],
  "hash-upper": [400, "ledger.malformed"],
  "hash-signed-as-hex": [403, "ledger.signature_invalid"],
  "wrong-key": [403, "ledger.signature_invalid"],
  "spec-wrong": [400, "ledger.spec"],
};

describe("CR4 the ledger vectors", () => {
  test.each(vectors)(
    "vector $id, $cls, is verified by the key bound here",
    async ({ cls, ledger, key }) => {
      const { agent_id, goal_id } = JSON.parse(ledger) as Pick<LedgerBody, "agent_id" | "goal_id">;
      await t.request("POST", "/api/v1/agents/bootstrap", { body: { agent_id, public_key: key } });
      const path = `/agent/${agent_id}/ledger`;
      const [status, code] = answers[cls]!;
      const reply = await t.request("POST", path, { token: OPERATOR_TOKEN, raw: ledger });
      expect([reply.status, reply.body["code"]]).toEqual([status, code]);
      const found = await t.asOperator("GET", `${path}/${goal_id}`);
      expect(found.status).toBe(status === 201 ? 200 : 404);
    },
  );
});

test("a former key signs for tasks from before its rotation, and for nothing else", async () => {
  const boss = await t.createAgent();
  const before = await submitAcceptedTask(t, boss, agent);
  await t.clock.advance(1_000);
  const { succession } = createRotation(t, agent);
  const path = `/api/v1/agents/${agent.agentId}/rotate-key`;
  expect(await t.asOperator("POST", path, { succession })).toMatchObject({ status: 200 });
  await t.clock.advance(1_000);
  const after = await submitAcceptedTask(t, boss, agent);
  const store = async (goalId: string) =>
    (await t.asOperator("POST", ledgersPath(agent), createLedger(agent, goalId))).status;
  expect([
    await store(before.task_id),
    await store(after.task_id),
    await store("a goal of its own"),
  ]).toEqual([201, 403, 403]);
});

describe("CR4, CR13 a ledger is refused and not stored", () => {
  const [step] = createLedger(
    { agentId: "", secretKey: new Uint8Array(32) } as TestAgent,
    GOAL,
  ).steps;
  const changed = (change: Partial<LedgerStep>) => [{ ...step!, ...change }];
  const outcome = ["completed"] as const;

  const contradictions: Readonly<Record<string, Partial<LedgerBody>>> = {
    "a failed step that is listed as completed": {
      timeline: createTimeline(GOAL, ["failed"]),
    },
    "a step that is listed twice": { steps: [step!, step!] },
    "a step that is left out": { steps: [] },
    "a step that never began": { steps: [step!, { ...step!, step_id: "more", ordinal: 1 }] },
    "another place of a step": { steps: changed({ ordinal: 7 }) },
    "more calls than its end states": { steps: changed({ tool_calls: 3 }) },
    "a delegation that was none": {
      steps: changed({ delegation: { receipt_hash: "00".repeat(32) } }),
    },
    "another goal": { timeline: createTimeline("another", outcome) },
    "another end": {
      timeline: [
        ...createTimeline(GOAL, outcome),
        { timestamp: 2e12, type: "goal_completed", payload: { status: "failed" } },
      ],
    },
  };

  test.each(Object.entries(contradictions))(
    "a ledger is refused when it contains %s",
    async (_, change) => {
      const answer = await store(createLedger(agent, GOAL, outcome, change));
      expect(answer).toMatchObject(refusal(400, "ledger.contradicted"));
      expect((await readStored()).status).toBe(404);
    },
  );

  test("a ledger is refused when a member is repeated, because readers would disagree on it", async () => {
    const raw = JSON.stringify(createLedger(agent, GOAL));
    const twice = raw.replace('{"agent_id"', '{"status":"failed","agent_id"');
    expect(await storeText(twice)).toMatchObject(refusal(400, "ledger.malformed"));
    expect(await storeText("")).toMatchObject(refusal(400, "ledger.malformed"));
    expect((await readStored()).status).toBe(404);
  });

  test("a ledger is refused when parsing changes the digits of a number, because its text is stored as sent", async () => {
    const raw = JSON.stringify({ ...createLedger(agent, GOAL), order_id: 2 ** 53 });
    const changed = raw.replace("740992", "740993");
    expect(await storeText(changed)).toMatchObject(refusal(400, "ledger.malformed"));
    expect((await readStored()).status).toBe(404);
    expect(await storeText(raw)).toMatchObject({ status: 201 });
  });

  test("a ledger is refused when another agent signed it", async () => {
    const other = await t.createAgent();
    const forged = createLedger({ ...agent, secretKey: other.secretKey }, GOAL);
    expect(await store(forged)).toMatchObject(refusal(403, "ledger.signature_invalid"));
    expect((await readStored()).status).toBe(404);
  });

  test("a ledger is refused when it is larger than any request", async () => {
    const large = createLedger(agent, GOAL, ["completed"], {
      plan_id: "x".repeat(limits.requestBytes),
    });
    expect(await store(large)).toMatchObject(refusal(413, "request.too_large"));
  });
});
