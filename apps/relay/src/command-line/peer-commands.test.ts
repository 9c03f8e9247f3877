import { afterAll, beforeAll, expect, test } from "vitest";
import { startNetwork } from "../../test/network.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";
import { operatorCommands } from "./operator-commands.ts";
import { runOperatorCommand } from "./run-operator-command.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
beforeAll(async () => {
  network = await startNetwork(["alpha", "beta"], []);
});
afterAll(() => network.close());

/** Runs a command about peers at the first relay, and returns how it ended and its lines. */
async function runPeers(...args: readonly string[]) {
  let out = "";
  const write = (text: string) => void (out += text);
  const environment = {
    env: { AGENT_RELAY_URL: network.sites[0]?.url, AGENT_API_TOKEN: OPERATOR_TOKEN },
    display: { width: undefined, hasColor: false },
    writeOut: write,
    writeError: write,
    now: network.clock.now,
    wait: async () => {},
    isInterrupted: () => true,
  };
  const { peers } = operatorCommands;
  if (peers === undefined) throw new Error("no command peers");
  const code = await runOperatorCommand(peers, { args, options: {} }, environment);
  return { code, lines: out.trimEnd().split("\n") };
}

test("a peer that was added or given a limit is shown as in the list", async () => {
  const beta = network.sites[1];
  if (beta === undefined) throw new Error("no second relay");
  const added = await runPeers("add", beta.url);
  expect(added).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(added.lines.at(-1)).toMatch(new RegExp(`^${beta.relayId} +beta +active .*${beta.url}$`));
  const changed = await runPeers("credit", beta.relayId, "50");
  expect(changed).toEqual({ code: 0, lines: (await runPeers()).lines });
  expect(changed.lines.at(-1)).toMatch(/ 50\.00 /);
  expect(await runPeers("credit", "unknown", "50")).toMatchObject({ code: 1 });
});
