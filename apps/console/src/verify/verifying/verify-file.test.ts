import {
  bytesToHex,
  generateKeyPair,
  publicKeyToDidKey,
  signJson,
  signRelaySuccession,
  utf8ToBytes,
} from "@agent/crypto";
import { ModelLog } from "@agent/transparency/model-log";
import { entryOf, formatProofFile, formatVerifierKey } from "@agent/transparency";
import { describe, expect, test } from "vitest";
import { collectCompanions } from "./collect-companions.ts";
import { NO_TRUST, parseTrust, type TrustTexts } from "./parse-trust.ts";
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

describe("the state of a file", () => {
  const text = JSON.stringify(record);
  const key = bytesToHex(relay.publicKey);
  const stranger = bytesToHex(generateKeyPair().publicKey);
  const logKey = formatVerifierKey(log.keys.logKey);
  const read = (given: string | Uint8Array, texts: Partial<TrustTexts>, others: string[] = []) => {
    const parsed = parseTrust({ ...NO_TRUST, ...texts });
    if (!parsed.ok) throw new Error(parsed.message);
    const bytes = typeof given === "string" ? utf8ToBytes(given) : given;
    const companions = collectCompanions(others.map((each) => ({ bytes: utf8ToBytes(each) })));
    return verifyFile(bytes, { trust: parsed.trust, companions, now: 1_790_000_000_000 });
  };

  test.each<[string, string, string | Uint8Array, Partial<TrustTexts>]>([
    ["confirmed by the key that was named for it", "confirmed", text, { keys: key }],
    ["unconfirmed without a named key", "unconfirmed", text, {}],
    ["refused as a checkpoint of a log that was not named", "refused", log.sign([]), { keys: key }],
    ["confirmed by the key of its log", "confirmed", log.sign([]), { log: logKey }],
    ["refused under another key than the named one", "refused", text, { keys: stranger }],
    ["unreadable as half a text", "unreadable", text.slice(0, 20), { keys: key }],
    ["unreadable in no encoding of texts", "unreadable", new Uint8Array([0xff]), { keys: key }],
  ])("a file is %s", (_, state, given, texts) => {
    const file = read(given, texts);
    expect(file.state).toBe(state);
    expect(file.fault === null).toBe(state !== "unreadable");
  });

  test("a record without a proof in a named log is refused, and one without a named log needs none", () => {
    expect(read(text, { keys: key }, ["c2sp.org/tlog-proof@v1\n"])).toMatchObject({
      state: "confirmed",
      uses: { proof: false, succession: false },
    });
    expect(read(text, { keys: key, log: logKey }).state).toBe("refused");
  });

  describe("with the succession of the relay's key", () => {
    const next = generateKeyPair();
    const relayId = id(50);
    const step = signRelaySuccession({
      relay_id: relayId,
      oldSecretKey: relay.secretKey,
      newSecretKey: next.secretKey,
      timestamp: 1_789_000_000_000,
    });
    const later = bytesToHex(next.publicKey);

    test.each<[string, string]>([
      ["alone", JSON.stringify(step)],
      ["as a list", JSON.stringify([step])],
      ["in an identity document", JSON.stringify({ relay_id: relayId, succession: [step] })],
    ])("a record under a key that the succession ended is refused, given %s", (_, given) => {
      expect(read(text, { keys: key }).state).toBe("confirmed");
      expect(read(text, { keys: key }, [given])).toMatchObject({
        state: "refused",
        verdict: { code: "bundle.key_not_in_force" },
        uses: { succession: true },
      });
      expect(read(text, {}, [given])).toMatchObject({
        state: "unconfirmed",
        uses: { succession: false },
      });
    });

    test("a record under a later key is confirmed by the succession from the named one", () => {
      const moved = { ...record, issuer: publicKeyToDidKey(next.publicKey) };
      const { suite: _suite, signature: _signature, ...body } = moved;
      const given = JSON.stringify(signJson({ ...body, suite: record.suite }, next.secretKey));
      expect(read(given, { keys: key }).state).toBe("refused");
      expect(read(given, { keys: key }, [JSON.stringify(step)])).toMatchObject({
        state: "confirmed",
        uses: { succession: true },
      });
      expect(
        read(given, { keys: later }, [JSON.stringify({ new_public_key: later })]),
      ).toMatchObject({
        state: "confirmed",
        uses: { succession: false },
      });
    });
  });
});

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
