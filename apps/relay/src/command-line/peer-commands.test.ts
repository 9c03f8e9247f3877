import { afterAll, beforeAll, expect, test } from "vitest";
import { startNetwork, type TestSite } from "../../test/network.ts";
import { runCommand } from "../../test/operator-command.ts";

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

test("a peer that was added or given a limit is shown as in the list", async () => {
  const { url, relayId } = beta!;
  const added = await runPeers("add", url);
  expect(added).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(added.lines.at(-1)).toMatch(new RegExp(`^${relayId} +beta +active .*${url}$`));
  const changed = await runPeers("credit", relayId, "50");
  expect(changed).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(changed.lines.at(-1)).toMatch(/ 50\.00 /);
  expect(await runPeers("credit", "unknown", "50")).toMatchObject({ code: 1 });
});
