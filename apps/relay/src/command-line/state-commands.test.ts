import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
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
