import { utf8ToBytes } from "@agent/crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildLogEntry, ENTRY_KINDS, type EntryKind, parseLogEntry } from "./entries/entry.ts";
import { parseEntryBundle } from "./entries/entry-bundle.ts";
import { formatProofFile, parseProofFile } from "./entries/proof-file.ts";
import { parseNote } from "./notes/note.ts";
import { openCheckpoint } from "./notes/open-checkpoint.ts";
import { signCheckpoint } from "./notes/sign-checkpoint.ts";
import { deriveLogKeys } from "./notes/derive-log-keys.ts";
import { formatVerifierKey, KEY_TYPES, parseVerifierKey } from "./notes/verifier-key.ts";
import { formatTilePath, parseTilePath } from "./tree/tile-path.ts";
import { formatAddCheckpoint, parseAddCheckpoint } from "./witness/add-checkpoint.ts";

const keys = deriveLogKeys(new Uint8Array(32).fill(1), { origin: "log.example" });
const root = new Uint8Array(32).fill(2);
const checkpoint = signCheckpoint({ origin: keys.origin, size: 9, root }, keys.secretKey);
const proofFile = formatProofFile({ entry: root, index: 3, proof: [root, root], checkpoint });
const request = formatAddCheckpoint(3, [root], checkpoint);

const parsers = {
  note: (input: Uint8Array | string) => parseNote(input),
  checkpoint: (input: Uint8Array | string) => openCheckpoint(input, keys),
  "proof file": (input: Uint8Array | string) => parseProofFile(input),
  request: (input: Uint8Array | string) => parseAddCheckpoint(input),
};

/** Bytes of any kind, and valid texts with some bytes replaced, removed or added. */
const nearlyValid = fc
  .tuple(
    fc.constantFrom(checkpoint, proofFile, request).map(utf8ToBytes),
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.uint8Array({ maxLength: 3 }),
  )
  .map(([bytes, at, removed, added]) => {
    const start = at % bytes.length;
    return Uint8Array.from([
      ...bytes.subarray(0, start),
      ...added,
      ...bytes.subarray(start + removed),
    ]);
  });
const bytes = fc.oneof(fc.uint8Array({ maxLength: 400 }), nearlyValid);

describe.each(Object.entries(parsers))("the parser of a %s", (_, parse) => {
  test("the parser never throws on bytes, and has one answer for bytes and their text", () => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
    const parseText = (input: Uint8Array) => {
      try {
        return parse(decoder.decode(input));
      } catch {
        return parse("\ud800");
      }
    };
    fc.assert(
      fc.property(bytes, (input) => {
        expect(parse(input)).toEqual(parseText(input));
      }),
      { numRuns: 500 },
    );
  });

  test("the parser never throws on a text, not even on lone surrogates", () => {
    const text = fc.string({ unit: "binary", maxLength: 200 });
    fc.assert(fc.property(text, (input) => typeof parse(input).ok === "boolean"));
    expect(parse(`${checkpoint}\ud800\n`)).toMatchObject({ ok: false, code: "log.malformed" });
  });

  test("the parser refuses a text that exceeds 64 KiB and the room for a proof", () => {
    expect(parse("a".repeat(90_000))).toMatchObject({ ok: false, code: "log.malformed" });
  });
});

test("a checkpoint with any byte changed does not open as the same one", () => {
  const opened = openCheckpoint(checkpoint, keys);
  expect(opened.ok).toBe(true);
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (at, mask) => {
      const other = utf8ToBytes(checkpoint);
      other[at % other.length]! ^= mask;
      expect(openCheckpoint(other, keys).ok).toBe(false);
    }),
    { numRuns: 500 },
  );
});

describe("log entries", () => {
  const kind = fc.constantFrom(...(Object.keys(ENTRY_KINDS) as EntryKind[]));
  const text = fc.option(fc.string({ unit: "binary" }));
  const hash = fc.array(fc.constantFrom(...Array.from("0123456789abcdef")), {
    minLength: 64,
    maxLength: 64,
  });

  test("log entries are parsed as they were built, with times to 2^53 - 1", () => {
    const facts = fc.record({
      kind,
      time: fc.maxSafeNat(),
      agentId: text,
      publicKey: text,
      ref: text,
      artifactHash: hash.map((digits) => digits.join("")),
    });
    fc.assert(
      fc.property(facts, (given) => {
        const parsed = parseLogEntry(buildLogEntry(given));
        const { kind: name, time, artifactHash } = given;
        expect(parsed).toMatchObject({ ok: true, entry: { kind: name, time, artifactHash } });
        const zero = "0".repeat(32);
        expect(parsed.ok && parsed.entry.agentTag === zero).toBe(given.agentId === null);
        expect(parsed.ok && parsed.entry.keyTag === zero).toBe(given.publicKey === null);
        expect(parsed.ok && parsed.entry.refTag === zero).toBe(given.ref === null);
      }),
    );
  });

  test("log entries and bundles are parsed or refused, never thrown on", () => {
    const lengths = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 90, maxLength: 92 }));
    fc.assert(
      fc.property(lengths, fc.integer(), (input, width) => {
        const parsed = parseLogEntry(input);
        expect(parsed.ok || parsed.code === "log.entry_malformed").toBe(true);
        expect(parseEntryBundle(input, width)).toHaveProperty("ok");
      }),
    );
  });

  test("log entries of unknown kinds are parsed without a name", () => {
    const entry = buildLogEntry({ kind: "receipt", time: 1, artifactHash: "0".repeat(64) });
    entry[1] = 200;
    expect(parseLogEntry(entry)).toMatchObject({
      ok: true,
      entry: { kind: null, kindNumber: 200 },
    });
  });

  test.each([
    ["a time of 2^53", { time: 2 ** 53 }],
    ["a time before 1970", { time: -1 }],
    ["a time with a fraction", { time: 0.5 }],
    ["a hash in upper case", { artifactHash: "A".repeat(64) }],
    ["a hash of 31 bytes", { artifactHash: "0".repeat(62) }],
  ])("a log entry is not built from %s", (_, wrong) => {
    const right = { kind: "receipt", time: 1, artifactHash: "0".repeat(64) } as const;
    expect(() => buildLogEntry({ ...right, ...wrong })).toThrow(RangeError);
  });
});

describe("tile paths", () => {
  test("tile paths are parsed as they were formatted", () => {
    const level = fc.oneof(fc.nat({ max: 63 }), fc.constant("entries" as const));
    const width = fc.integer({ min: 1, max: 256 });
    fc.assert(
      fc.property(level, fc.maxSafeNat(), width, (l, index, w) => {
        const expected = { ok: true, level: l, index, width: w };
        expect(parseTilePath(formatTilePath(l, index, w))).toEqual(expected);
      }),
    );
  });

  test("tile paths of any other text are refused, never thrown on", () => {
    const text = fc.string({
      unit: fc.constantFrom(...Array.from("tile/0123456789.px-entries%")),
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, (input) => {
        const parsed = parseTilePath(`tile/${input}`);
        const { level, index, width } = parsed.ok ? parsed : { level: 0, index: 0, width: 1 };
        const formatted = formatTilePath(level, index, width);
        expect(parsed.ok ? formatted : `tile/${input}`).toBe(`tile/${input}`);
      }),
      { numRuns: 2_000 },
    );
    expect(parseTilePath("tile/0/x009/x007/x199/x254/x740/992").ok).toBe(false);
    expect(parseTilePath(`tile/0/${"x001/".repeat(40_000)}001`).ok).toBe(false);
  });
});

describe("verifier keys", () => {
  test("the parser of verifier keys never throws, and the keys are formatted as they were parsed", () => {
    const own = formatVerifierKey(keys.logKey);
    const text = fc.tuple(fc.nat({ max: own.length }), fc.string({ unit: "binary", maxLength: 4 }));
    fc.assert(
      fc.property(text, ([at, added]) => {
        const input = own.slice(0, at) + added + own.slice(at + added.length);
        const parsed = parseVerifierKey(input);
        expect(parsed.ok ? formatVerifierKey(parsed.key) : input).toBe(input);
      }),
      { numRuns: 1_000 },
    );
  });

  test("verifier keys are refused if they are of another type than the wanted one", () => {
    const refused = { ok: false, code: "log.malformed" };
    const [log, witness] = [formatVerifierKey(keys.logKey), formatVerifierKey(keys.witnessKey)];
    expect(parseVerifierKey(log, KEY_TYPES.log)).toEqual({ ok: true, key: keys.logKey });
    expect(parseVerifierKey(log, KEY_TYPES.witness)).toEqual(refused);
    expect(parseVerifierKey(witness, KEY_TYPES.witness)).toEqual({
      ok: true,
      key: keys.witnessKey,
    });
    expect(parseVerifierKey(witness, KEY_TYPES.log)).toEqual(refused);
    expect(parseVerifierKey(witness)).toEqual({ ok: true, key: keys.witnessKey });
  });
});
