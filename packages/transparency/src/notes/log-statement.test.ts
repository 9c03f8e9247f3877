import { bytesToHex, getPublicKey, signJson } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { deriveLogKeys } from "./derive-log-keys.ts";
import { openLogStatement, signLogStatement } from "./log-statement.ts";
import { formatVerifierKey } from "./verifier-key.ts";

const seed = new Uint8Array(32).fill(7);
const relay = { relayId: "relay-1", publicKey: bytesToHex(getPublicKey(seed)) };
const { logKey, witnessKey } = deriveLogKeys(seed, { origin: "log.example" });
const log = { key: logKey, prefix: "https://relay.example/log/v1" };
const witness = { key: witnessKey, prefix: "https://relay.example/witness/v1" };

describe("statements about logs", () => {
  test.each([
    ["both halves", { log, witness }],
    ["a log alone", { log, witness: null }],
    ["a witness alone", { log: null, witness }],
    ["no half", { log: null, witness: null }],
    ["a relay without a public address", { log: { ...log, prefix: null }, witness: null }],
  ])("the statement about a log names %s", (_, stated) => {
    const statement = signLogStatement(relay.relayId, stated, seed);
    expect(openLogStatement(JSON.parse(JSON.stringify(statement)), relay)).toEqual({
      ok: true,
      ...stated,
    });
  });

  const statement = signLogStatement(relay.relayId, { log, witness }, seed);
  const signed = (change: object) => signJson({ ...statement, ...change }, seed);

  test.each([
    ["no object", [], "log.malformed"],
    ["no value", undefined, "log.malformed"],
    ["another relay", signed({ relay_id: "relay-2" }), "log.malformed"],
    ["another suite", signed({ suite: "x" }), "log.malformed"],
    ["another origin than that of the key", signed({ origin: "other.example" }), "log.malformed"],
    ["a witness key as that of the log", signed({ vkey: statement.witness_vkey }), "log.malformed"],
    ["a log key as that of the witness", signed({ witness_vkey: statement.vkey }), "log.malformed"],
    ["an address without a key", signed({ witness_vkey: null }), "log.malformed"],
    ["another scheme", signed({ witness_prefix: "file:///etc/passwd" }), "log.malformed"],
    ["a slash at the end", signed({ prefix: "https://relay.example/" }), "log.malformed"],
    ["a long address", signed({ prefix: `https://${"a".repeat(2_048)}` }), "log.malformed"],
    ["a changed member", { ...statement, prefix: "https://x.example" }, "log.signature_invalid"],
    [
      "a key of a stranger",
      signJson(
        statement,
        seed.map(() => 8),
      ),
      "log.signature_invalid",
    ],
  ])("the statement about a log is refused with %s", (_, value, code) => {
    expect(openLogStatement(value, relay)).toEqual({ ok: false, code });
  });

  test("the statement about a log contains the keys as text", () => {
    expect(statement).toMatchObject({
      origin: "log.example",
      vkey: formatVerifierKey(logKey),
      witness_vkey: formatVerifierKey(witnessKey),
    });
  });
});
