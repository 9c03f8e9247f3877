import {
  bytesToHex,
  generateKeyPair,
  publicKeyToDidKey,
  signJson,
  utf8ToBytes,
} from "@agent/crypto";
import { ModelLog } from "@agent/transparency/model-log";
import { entryOf, formatProofFile, formatVerifierKey } from "@agent/transparency";
import { describe, expect, test } from "vitest";
import { collectCompanions } from "./collect-companions.ts";
import { NO_TRUST, parseTrust } from "./parse-trust.ts";
import { verifyFile } from "./verify-file.ts";

const relay = generateKeyPair();
const id = (last: number) => `019b7d21-53eb-7c81-b2f1-${String(last).padStart(12, "0")}`;
const buildRecord = (last: number) =>
  signJson(
    {
      settlement_id: id(last),
      allocation_id: id(10),
      task_id: id(20 + last),
      payer_id: id(30),
      payee_id: id(40),
      receipt_hash: "0".repeat(64),
      ledger_hash: null,
      amount_settled: 2,
      fee: 0.1,
      net: 1.9,
      status: "completed",
      settled_at: 1_790_000_000_000,
      issuer: publicKeyToDidKey(relay.publicKey),
      suite: "agent-jcs-ed25519-b64-v1",
    },
    relay.secretKey,
  );
const [record, other] = [buildRecord(1), buildRecord(2)];
const entries = [record, other].map((each) => entryOf.settlement(each, { time: 1 }));
const [log, secondLog] = [new ModelLog(1), new ModelLog(2)];
const witness = new ModelLog(3).keys;
for (const entry of entries) {
  log.append(entry);
  secondLog.append(entry);
}

async function prove(index: number, from = log, witnesses = [witness.witness]): Promise<string> {
  const proof = await from.prove(index);
  return formatProofFile({
    entry: entries[index]!,
    index,
    proof,
    checkpoint: from.sign(witnesses),
  });
}

/** Verifies the record with named keys and with other files that were given to the page. */
function verify(...others: readonly string[]) {
  const parsed = parseTrust({
    ...NO_TRUST,
    keys: bytesToHex(relay.publicKey),
    log: formatVerifierKey(log.keys.logKey),
    witnesses: formatVerifierKey(witness.witnessKey),
  });
  if (!parsed.ok) throw new Error(parsed.message);
  const companions = collectCompanions(others.map((text) => ({ bytes: utf8ToBytes(text) })));
  const bytes = utf8ToBytes(JSON.stringify(record));
  return verifyFile(bytes, { trust: parsed.trust, companions, now: 1_790_000_000_000 });
}

describe("a record with the given proof files", () => {
  test("the proof of the record counts, whatever other proofs were given", async () => {
    const file = verify(await prove(0, secondLog), "c2sp.org/tlog-proof@v1\n", await prove(0));
    expect(file).toMatchObject({ state: "confirmed", uses: { proof: true } });
  });

  test.each([
    ["that too few witnesses have signed", () => prove(0, log, []), "log.quorum_missing"],
    ["from another log", () => prove(0, secondLog), "log.key_unknown"],
    [
      "with a changed path",
      async () => (await prove(0)).replace("index 0", "index 1"),
      "log.inclusion_invalid",
    ],
  ])("a proof of the record %s is refused by its own code", async (_, build, code) => {
    const file = verify(await build());
    expect(file).toMatchObject({ state: "refused", verdict: { code }, logPlace: null });
  });

  test.each([
    ["of another record", () => prove(1)],
    ["of another record from another log", () => prove(1, secondLog)],
    ["that is cut", async () => (await prove(0)).slice(0, 60)],
  ])("a record with only a proof %s has no proof", async (_, build) => {
    const file = verify(await build());
    expect(file).toMatchObject({ state: "refused", verdict: { code: "log.entry_missing" } });
  });
});
