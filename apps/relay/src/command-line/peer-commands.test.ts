import { afterAll, beforeAll, expect, test } from "vitest";
import { startNetwork, type TestSite } from "../../test/network/network.ts";
import { runCommand } from "../../test/processes/operator-command.ts";
import { describePayment } from "./peer-commands.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let [alpha, beta]: TestSite[] = [];
beforeAll(async () => {
  network = await startNetwork(["alpha", "beta"], []);
  [alpha, beta] = network.sites;
});
afterAll(() => network.close());

/** Runs a command about peers at alpha, and returns how it ended and its lines. */
async function runPeers(...args: readonly string[]) {
  const { code, out, errors } = await runCommand({ url: alpha!.url, now: network.clock.now }, [
    "peers",
    ...args,
  ]);
  return { code, lines: `${out}${errors}`.trimEnd().split("\n") };
}

test("a peer that was added or given a limit is shown in the same way as in the list of peers", async () => {
  const { url, relayId } = beta!;
  const added = await runPeers("add", url);
  expect(added).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(added.lines.at(-1)).toMatch(new RegExp(`^${relayId} +beta +active .*${url}$`));
  const changed = await runPeers("credit", relayId, "50");
  expect(changed).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(changed.lines.at(-1)).toMatch(/ 50\.00 /);
  expect(await runPeers("credit", "unknown", "50")).toMatchObject({ code: 1 });
});

test.each([
  ["sent", -1, false, "1.00 USD sent to r1, paid as b1; owes us 1.00 USD"],
  ["received", 0.5, false, "1.00 USD received from r1, paid as b1; we owe 0.50 USD"],
  ["received", 0, false, "1.00 USD received from r1, paid as b1; nothing is owed"],
  ["sent", -1, true, "b1 was recorded before and changes nothing; owes us 1.00 USD"],
] as const)(
  "the effect of a payment %s that leads to the position %d (repeated: %s) is told in words",
  (...given) => {
    const [direction, position, idempotent, text] = given;
    const payment = { amount: 1, direction, reference: "b1" };
    expect(describePayment(payment, { relay_id: "r1", position, idempotent })).toBe(text);
  },
);

test("a payment to a peer is shown with who owes whom, at once and in the list of payments", async () => {
  const { url, relayId } = beta!;
  await runPeers("add", url);
  const { code, out } = await runCommand(
    { url: alpha!.url, now: network.clock.now },
    ["peers", "pay", relayId, "1"],
    { sent: true, reference: "b1" },
  );
  expect({ code, out }).toEqual({
    code: 0,
    out: `1.00 USD sent to ${relayId}, paid as b1; owes us 1.00 USD\n`,
  });
  const { lines } = await runPeers("payments", relayId);
  expect(lines[0]).toContain("position");
  expect(lines.at(-1)).toMatch(/ owes us 1\.00 USD +b1/);
});
