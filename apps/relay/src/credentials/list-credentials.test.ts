import type { TestAgent } from "@agent/testkit";
import type { StoredCredential } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  credentialsPath,
  submitCredentials,
  createReputationCredential,
  createTrustCredential,
} from "../../test/agents/credentials.ts";
import { startTestRelay, type Reply, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker] = [await t.createAgent(), await t.createAgent()];
});
afterEach(() => t.close());

const now = () => t.clock.now();
const ask = (query = "", by = boss): Promise<Reply> =>
  t.as(by, "GET", `${credentialsPath(worker)}${query}`);
const idsOf = ({ body }: Reply) =>
  (body["credentials"] as StoredCredential[]).map(({ credential_id }) => credential_id);

/** Three reputation credentials and a trust credential, in the order of submission. */
async function fill(): Promise<(string | undefined)[]> {
  const submitted = [1, 2, 3].map((seed) =>
    createReputationCredential(boss, worker, { now: now(), seed }),
  );
  submitted.push(createTrustCredential(boss, worker, { now: now(), seed: 4 }));
  for (const credential of submitted) await submitCredentials(t, boss, worker, credential);
  return submitted.map(({ id }) => id);
}

describe("Credentials about an agent", () => {
  test("the relay shows every agent the credentials as they were signed", async () => {
    const credential = createReputationCredential(boss, worker, { now: now() });
    await submitCredentials(t, boss, worker, credential);
    const shown = {
      credential_id: credential.id,
      type: "AgentReputationCredential",
      credential,
      issued_at: now(),
      revoked: false,
    };
    const { body } = await ask("", await t.createAgent());
    expect(body).toEqual({ agent_id: worker.agentId, credentials: [shown], next_cursor: null });
  });

  test("the relay lists credentials newest first, page by page", async () => {
    const ids = await fill();
    const first = await ask("?limit=3");
    expect(idsOf(first)).toEqual(ids.toReversed().slice(0, 3));
    const rest = await ask(`?limit=3&cursor=${String(first.body["next_cursor"])}`);
    expect(idsOf(rest)).toEqual(ids.slice(0, 1));
    expect(rest.body["next_cursor"]).toBeNull();
  });

  test("a full last page of a list of credentials names no further page", async () => {
    const ids = await fill();
    const last = await ask(`?limit=${ids.length}`);
    expect(idsOf(last)).toHaveLength(ids.length);
    expect(last.body["next_cursor"]).toBeNull();
  });

  test("the relay lists the credentials of one type", async () => {
    const ids = await fill();
    expect(idsOf(await ask("?type=AgentTrustCredential"))).toEqual(ids.slice(3));
    expect(idsOf(await ask("?type=AgentReputationCredential&limit=2"))).toEqual([ids[2], ids[1]]);
  });

  test("the relay lists revoked and expired credentials as well", async () => {
    const [id] = await fill();
    const path = `/api/v1/agents/${boss.agentId}/revoke-credential`;
    await t.as(boss, "POST", path, { credential_id: id });
    await t.clock.advance(3_600_001);
    const { body } = await ask();
    const rows = body["credentials"] as StoredCredential[];
    expect(rows.map(({ revoked }) => revoked)).toEqual([false, false, false, true]);
  });
});

describe("Empty lists of credentials", () => {
  test.each([
    ["about an agent without credentials", () => ask()],
    ["about an unknown agent", () => t.asOperator("GET", credentialsPath(t.createUnknownAgent()))],
    [
      "of an unused type",
      async () => {
        await fill();
        return ask("?type=AgentGradientCredential");
      },
    ],
    ["of an empty type", () => ask("?type=")],
  ])("the relay answers 404 for a list of credentials %s", async (_, asked) => {
    expect(await asked()).toMatchObject({ status: 404, body: { code: "credential.not_found" } });
  });
});

test.each(["-1", "0", "201", "1e9", "abc", "1.5", ""])(
  "CR11 a list of credentials with limit=%s is refused with 400",
  async (limit) => {
    expect(await ask(`?limit=${limit}`)).toMatchObject({ status: 400 });
  },
);
