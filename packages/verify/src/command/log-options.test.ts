import { createSeededRandom } from "@agent/testkit";
import { ModelLog } from "@agent/transparency/model-log";
import { entryOf, formatProofFile, formatVerifierKey } from "@agent/transparency";
import { describe, expect, test } from "vitest";
import { carol, now, settlement } from "../../test/artifacts.ts";
import { createDelegation } from "../../test/create-delegation.ts";
import { runOnFiles } from "../../test/run-on-files.ts";
import { formatBundle, signBundle } from "../index.ts";

const log = new ModelLog(1);
const [first, second] = [2, 3].map((seed) => new ModelLog(seed, { origin: `w${seed}` }).keys);
const index = log.append(entryOf.settlement(settlement, { time: now }));
const checkpoint = log.sign([first!.witness]);
const proof = formatProofFile({
  entry: entryOf.settlement(settlement, { time: now }),
  index,
  proof: await log.prove(index),
  checkpoint,
});
const { evidence, relay } = createDelegation(createSeededRandom(1), { price: 2 });
const [key, w1, w2, own] = [
  log.keys.logKey,
  first!.witnessKey,
  second!.witnessKey,
  log.keys.witnessKey,
].map(formatVerifierKey) as [string, string, string, string];

const files: Readonly<Record<string, string>> = {
  "settlement.json": JSON.stringify(settlement),
  "other.json": JSON.stringify({ ...settlement, net: 3 }),
  "evidence.json": formatBundle(signBundle(evidence, relay)),
  "settlement.tlog-proof": proof,
  "checkpoint.txt": checkpoint,
  "list.json": JSON.stringify({ settlements: [settlement] }),
};

const run = (...args: string[]) => runOnFiles(files, ...args);

const proven = ["settlement.json", "--key", carol.did, "--proof", "settlement.tlog-proof"];

describe("the report of agent-verify names", () => {
  test.each<[string, string[], string]>([
    [
      "the place of an artifact that a proof file proves",
      [...proven, "--log", key],
      `in log ${log.keys.origin} of 1 entry at 0, by the log key that you named`,
    ],
    [
      "the witnesses that cosigned it",
      [...proven, "--log", key, "--witness", w1],
      "witnessed 1 of 1, by w2",
    ],
    [
      "the number of witnesses that cosigned a proof file",
      ["settlement.tlog-proof", "--log", key, "--witness", w1, "--witness", w2],
      "witnessed 1 of 2, by w2",
    ],
    [
      "a head that no named witness cosigned",
      ["settlement.tlog-proof", "--log", key, "--witness", w2],
      "witnessed 0 of 1",
    ],
    [
      "the option for a proof that is missing",
      ["settlement.json", "--key", carol.did, "--log", key],
      "log.entry_missing: --proof takes the file that proves it",
    ],
    [
      "the option for the key of a log that is missing",
      ["settlement.json", "--key", carol.did, "--proof", "settlement.tlog-proof"],
      "log.key_unknown: --log takes the key of its log",
    ],
    [
      "the option whose file is no proof",
      ["settlement.json", "--key", carol.did, "--log", key, "--proof", "checkpoint.txt"],
      "log.malformed: the file of --proof has another form than a proof",
    ],
    [
      "what a file of no kind must be",
      ["list.json"],
      "artifact.unrecognised: one artifact of a kind that --help lists is needed",
    ],
  ])("the report of agent-verify names %s", async (_, args, line) => {
    expect((await run(...args)).out).toContain(line);
  });
});

describe("agent-verify with a transparency log", () => {
  test.each<[string, number, string[], RegExp]>([
    ["a proof under the named log", 0, [...proven, "--log", key], /valid/],
    [
      "a proof that a named witness cosigned",
      0,
      [...proven, "--log", key, "--witness", w1],
      /valid/,
    ],
    [
      "one witness of two where one is enough",
      0,
      [...proven, "--log", key, "--witness", w1, "--witness", w2],
      /valid/,
    ],
    [
      "one witness of two where both are needed",
      1,
      [...proven, "--log", key, "--witness", w1, "--witness", w2, "--quorum", "2"],
      /log\.quorum_missing/,
    ],
    ["a proof without a named log", 1, proven, /log\.key_unknown/],
    [
      "the proof of another artifact",
      1,
      ["other.json", "--log", key, "--proof", "settlement.tlog-proof"],
      /refused/,
    ],
    [
      "a log without a proof",
      1,
      ["settlement.json", "--key", carol.did, "--log", key],
      /log\.entry_missing/,
    ],
    ["evidence without a log", 0, ["evidence.json", "--key", relay.publicKey], /valid/],
    [
      "evidence without the named log",
      1,
      ["evidence.json", "--key", relay.publicKey, "--log", key],
      /log\.entry_missing/,
    ],
    ["a proof file alone", 0, ["settlement.tlog-proof", "--log", key], /log proof: valid/],
    [
      "a checkpoint alone",
      0,
      ["checkpoint.txt", "--log", key, "--witness", w1],
      /checkpoint: valid/,
    ],
    ["a checkpoint under no key", 1, ["checkpoint.txt"], /log\.key_unknown/],
    ["a proof file that is missing", 2, ["settlement.json", "--proof", "missing"], /no such file/],
    ["a proof for two artifacts", 2, [...proven, "other.json"], /one artifact at a time/],
    ["a log key that is none", 2, ["settlement.json", "--log", carol.did], /--log takes/],
    ["a witness's key for the log", 2, ["settlement.json", "--log", own], /--log takes/],
    ["a log's key for a witness", 2, ["settlement.json", "--witness", key], /--witness takes/],
    [
      "a quorum without witnesses",
      2,
      ["settlement.json", "--log", key, "--quorum", "1"],
      /--quorum takes/,
    ],
    [
      "a quorum above the witnesses",
      2,
      ["settlement.json", "--log", key, "--witness", w1, "--quorum", "2"],
      /--quorum takes/,
    ],
    [
      "a quorum of 0",
      2,
      ["settlement.json", "--log", key, "--witness", w1, "--quorum", "0"],
      /--quorum takes/,
    ],
    ["a witness without a log", 2, ["evidence.json", "--witness", w1], /--log must name the log/],
  ])("agent-verify judges %s with exit code %i", async (_, exitCode, args, text) => {
    const ran = await run(...args);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.out).toMatch(text);
  });

  test("agent-verify prints both levels of the log, and its code, as JSON", async () => {
    const { out } = await run(...proven, "--json", "--log", key, "--witness", w1);
    const names = (JSON.parse(out) as { checks: { name: string }[] }).checks.map(
      ({ name }) => name,
    );
    expect(names.slice(-2)).toEqual(["logged", "witnessed"]);
  });
});
