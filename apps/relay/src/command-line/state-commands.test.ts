import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { createRelayClient } from "@agent/client";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";
import { checkRelay } from "./check-relay.ts";
import { runCommand } from "../../test/processes/operator-command.ts";

let t: ServedRelay;
beforeAll(async () => {
  t = await serveTestRelay();
  await t.createWorker(1);
  await t.createAgent();
});
afterAll(() => t.close());

const run = (...args: readonly string[]) => runCommand({ url: t.baseUrl, now: t.clock.now }, args);

test("the status states the number of known, registered and online agents", async () => {
  const { out } = await run("status");
  expect(out).toContain("agents    2 known, 1 of them registered, 1 online; open sockets: 0\n");
});

test("the empty outbox of a relay without federation is reported in one line", async () => {
  expect(await run("outbox")).toEqual({
    code: 0,
    out: "federation is off: no settlements are sent to other relays\n",
    errors: "",
  });
  expect(await run("peers")).toMatchObject({ code: 1 });
});

test("an agent is not reported as absent before the relay has checked, or after the first check found it", async () => {
  const { agentId } = await t.createWorker(1);
  expect((await run("online", agentId)).out).toBe(
    "the relay has not checked yet in this time; it checks once a minute\nnot seen online\n",
  );
  await t.advance(3 * 60_000);
  expect((await run("online", agentId)).out).toMatch(/^online 100 %: /);
});

/** Runs the doctor against the relay, whose overview is refused. */
function checkWithout(code: "server.unavailable" | "auth.unknown_token", status: number) {
  const identity = { masterToken: OPERATOR_TOKEN };
  const client = createRelayClient({ baseUrl: t.baseUrl, identity });
  const refused = { ok: false, code, status, message: "refused" } as const;
  const getOverview = () => Promise.resolve(refused);
  return checkRelay({ client: { ...client, getOverview }, now: t.clock.now });
}

test("OP17: the doctor reports every other check while the storage refuses writes", async () => {
  const checked = await checkWithout("server.unavailable", 503);
  expect(checked).toMatchObject({ ok: true, isGood: false });
  const { findings } = (checked as { body: { findings: { name: string; ok: boolean }[] } }).body;
  expect(findings.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["database", "migrations", "clock", "books", "log", "writes"]),
  );
  expect(findings.at(-1)).toMatchObject({
    name: "writes",
    ok: false,
    detail: "refused",
    remedy: expect.stringContaining("the disk may be full") as string,
  });
});

test("the doctor reports nothing to a caller whose token is refused", async () => {
  const checked = await checkWithout("auth.unknown_token", 401);
  expect(checked).toMatchObject({ ok: false, code: "auth.unknown_token" });
});

test("the clock can be accepted by a command, which says whether it had jumped", async () => {
  const { code, out } = await run("clock", "accept");
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^it is \S+; the clock had not jumped\n$/) as string,
  });
  expect(await run("clock")).toMatchObject({ code: 2, out: "" });
});
