import { concatBytes, sign } from "@agent/crypto";
import { describe, expect, test } from "vitest";
import { getEmptyRoot } from "../tree/hash.ts";
import { formatCheckpointText } from "./checkpoint.ts";
import { cosignHead } from "./cosignature.ts";
import { deriveLogKeys } from "./derive-log-keys.ts";
import { formatSignatureLine } from "./note.ts";
import { openCheckpoint } from "./open-checkpoint.ts";
import { signCheckpoint } from "./sign-checkpoint.ts";
import { buildVerifierKey, KEY_TYPES } from "./verifier-key.ts";

const [log, first, second] = [1, 2, 3].map((byte) =>
  deriveLogKeys(new Uint8Array(32).fill(byte), { origin: `log${byte}.example` }),
) as [
  ReturnType<typeof deriveLogKeys>,
  ReturnType<typeof deriveLogKeys>,
  ReturnType<typeof deriveLogKeys>,
];
const head = { origin: log.origin, size: 7, root: new Uint8Array(32).fill(9) };
const signed = signCheckpoint(head, log.secretKey);
const cosigned = signed + cosignHead(head, first.witness, 100);
const witnesses = [first.witnessKey, second.witnessKey];
const other = { ...head, root: new Uint8Array(32).fill(8) };

/** A cosignature that states no time. */
const timeless = formatSignatureLine(
  first.witnessKey,
  concatBytes(
    new Uint8Array(8),
    sign(`cosignature/v1\ntime 0\n${formatCheckpointText(head)}`, first.witness.secretKey),
  ),
);

/** The text of one checkpoint above the signatures of another. */
const graft = (text: string, signatures: string) =>
  text.slice(0, text.indexOf("\n\n") + 2) + signatures.slice(signatures.indexOf("\n\n") + 2);

describe("openCheckpoint", () => {
  test("openCheckpoint returns the head and the cosignatures of the trusted witnesses", () => {
    const opened = openCheckpoint(cosigned, { logKey: log.logKey, witnesses, quorum: 1 });
    const cosignatures = [{ witness: first.witnessKey, time: 100 }];
    expect(opened).toEqual({ ok: true, head, cosignatures });
  });

  test.each([
    ["no newline at the end", cosigned.slice(0, -1), "log.malformed"],
    [
      "a size of 0 with a root",
      signCheckpoint({ ...head, size: 0 }, log.secretKey),
      "log.malformed",
    ],
    [
      "another origin",
      signCheckpoint({ ...head, origin: first.origin }, first.secretKey),
      "log.wrong_origin",
    ],
    ["the origin under another key", signCheckpoint(head, first.secretKey), "log.key_unknown"],
    [
      "the signature of another head",
      graft(signCheckpoint(other, log.secretKey), signed),
      "log.signature_invalid",
    ],
    [
      "one invalid line of the log beside the valid one",
      signed + formatSignatureLine(log.logKey, new Uint8Array(64)),
      "log.signature_invalid",
    ],
    [
      "a cosignature of another head",
      signed + cosignHead(other, first.witness, 100),
      "log.cosignature_invalid",
    ],
    [
      "an invalid cosignature beside a valid one",
      cosigned + formatSignatureLine(first.witnessKey, new Uint8Array(72)),
      "log.cosignature_invalid",
    ],
    ["a cosignature without a time", signed + timeless, "log.cosignature_invalid"],
    [
      "a cosignature that is too short for its time",
      signed + formatSignatureLine(first.witnessKey, new Uint8Array(7)),
      "log.cosignature_invalid",
    ],
    ["one witness where two are needed", cosigned, "log.quorum_missing"],
    [
      "one witness twice where two are needed",
      cosigned + cosignHead(head, first.witness, 101),
      "log.quorum_missing",
    ],
  ])("openCheckpoint refuses %s", (_, note, code) => {
    const opened = openCheckpoint(note, { logKey: log.logKey, witnesses, quorum: 2 });
    expect(opened).toEqual({ ok: false, code });
  });

  test("openCheckpoint opens the empty tree, and ignores the lines of other keys", () => {
    const empty = { ...head, size: 0, root: getEmptyRoot() };
    const stranger = signCheckpoint({ ...empty, origin: "stranger" }, second.secretKey);
    const note = signCheckpoint(empty, log.secretKey) + stranger.split("\n\n")[1];
    expect(openCheckpoint(note, { logKey: log.logKey })).toMatchObject({ ok: true, head: empty });
  });

  test("openCheckpoint returns the newest of a witness's cosignatures, in any order of the lines", () => {
    const [older, newer] = [99, 101].map((time) => cosignHead(head, first.witness, time));
    for (const note of [cosigned + older + newer, signed + newer + older]) {
      const opened = openCheckpoint(note, { logKey: log.logKey, witnesses });
      expect(opened).toMatchObject({ cosignatures: [{ time: 101 }] });
    }
  });

  test("openCheckpoint counts one key under two names as one witness", () => {
    const alias = { ...first.witness, name: "alias" };
    const aliasKey = buildVerifierKey("alias", KEY_TYPES.witness, first.witnessKey.publicKey);
    const note = cosigned + cosignHead(head, alias, 100);
    const trust = { logKey: log.logKey, witnesses: [first.witnessKey, aliasKey] };
    expect(openCheckpoint(note, { ...trust, quorum: 1 }).ok).toBe(true);
    expect(openCheckpoint(note, { ...trust, quorum: 2 })).toMatchObject({
      code: "log.quorum_missing",
    });
  });

  test("openCheckpoint does not accept a witness's key as that of the log, nor a log's key as that of a witness", () => {
    const asLog = { ...log.logKey, type: KEY_TYPES.witness };
    expect(openCheckpoint(signed, { logKey: asLog })).toMatchObject({ code: "log.key_unknown" });
    const asWitness = openCheckpoint(signed, {
      logKey: log.logKey,
      witnesses: [log.logKey],
      quorum: 1,
    });
    expect(asWitness).toMatchObject({ code: "log.quorum_missing" });
  });
});

describe("the keys of a log", () => {
  const seed = new Uint8Array(32).fill(1);

  test("the keys of a log have other names and another witness key in a further generation", () => {
    const later = deriveLogKeys(seed, { origin: "log1.example", generation: 1_790_000_000 });
    expect(later.origin).toBe("log1.example/1790000000");
    expect(later.witness.name).toBe("log1.example/1790000000/witness");
    expect(later.secretKey).toEqual(log.secretKey);
    expect(later.logKey.keyId).not.toBe(log.logKey.keyId);
    expect(later.witness.secretKey).not.toEqual(log.witness.secretKey);
  });

  test.each(["a b", "a+b", "a\u2003b", ""])(
    "no keys of a log are derived for the origin %j",
    (origin) => {
      expect(() => deriveLogKeys(seed, { origin })).toThrow(RangeError);
    },
  );

  test("the keys of a log sign no head without a whole size, and cosign at no time before 1970", () => {
    expect(() => signCheckpoint({ ...head, size: 2 ** 53 }, log.secretKey)).toThrow(RangeError);
    expect(() => signCheckpoint({ ...head, root: new Uint8Array(31) }, log.secretKey)).toThrow(
      RangeError,
    );
    expect(() => cosignHead(head, first.witness, 0)).toThrow(RangeError);
  });
});
