import { describe, expect, test } from "vitest";
import { cosignHead } from "../notes/cosignature.ts";
import { deriveLogKeys } from "../notes/derive-log-keys.ts";
import { openCheckpoint } from "../notes/open-checkpoint.ts";
import { signCheckpoint } from "../notes/sign-checkpoint.ts";
import { getEmptyRoot, hashLeaf } from "../tree/hash.ts";
import { proveConsistency } from "../tree/prove.ts";
import { TreeEdge } from "../tree/tree-edge.ts";
import {
  answerAddCheckpoint,
  formatAddCheckpoint,
  parseAddCheckpoint,
  type WitnessedHead,
} from "./add-checkpoint.ts";
import { compareHeads } from "./compare-heads.ts";

const log = deriveLogKeys(new Uint8Array(32).fill(1), { origin: "log.example" });
const { witness, witnessKey } = deriveLogKeys(new Uint8Array(32).fill(2), { origin: "w.example" });
const stranger = deriveLogKeys(new Uint8Array(32).fill(3), { origin: "log.example" });

const edge = new TreeEdge();
const roots = [edge.root()];
for (let index = 0; index < 20; index++) {
  edge.append(hashLeaf(Uint8Array.of(index)));
  roots.push(edge.root());
}
const readTile = (_level: number, _index: number, width: number) =>
  edge.getPartialTile(0).slice(0, width * 32);
const headOf = (size: number) => ({ origin: log.origin, size, root: roots[size]! });
const fork = { ...headOf(9), root: new Uint8Array(32).fill(5) };
const knownAt = (size: number): WitnessedHead => ({ logKey: log.logKey, size, root: roots[size]! });
const checkpointOf = (size: number) => signCheckpoint(headOf(size), log.secretKey);
const grown = await proveConsistency(9, 20, readTile);

function answer(body: string, known: WitnessedHead | undefined) {
  const parsed = parseAddCheckpoint(body);
  return parsed.ok ? answerAddCheckpoint(parsed.request, known, { witness, time: 50 }) : parsed;
}

describe("witnesses", () => {
  test.each([
    ["a log's first head", 0, [], 9],
    ["the empty log", 0, [], 0],
    ["the same head again", 9, [], 9],
    ["a head that grew", 9, grown, 20],
  ])("a witness cosigns %s and states the head to store", (_, oldSize, proof, size) => {
    const answered = answer(
      formatAddCheckpoint(oldSize, proof, checkpointOf(size)),
      knownAt(oldSize),
    );
    if (answered.status !== 200) throw new Error(`status ${answered.status}`);
    expect(answered.body).toBe(cosignHead(headOf(size), witness, 50));
    expect(answered.next).toMatchObject({ ...headOf(size), oldSize });
    const trust = { logKey: log.logKey, witnesses: [witnessKey], quorum: 1 };
    expect(openCheckpoint(answered.next.checkpoint, trust)).toMatchObject({ ok: true });
  });

  const refusals: readonly [string, string, WitnessedHead | undefined, object][] = [
    ["no request", "", knownAt(0), { status: 400, code: "log.malformed" }],
    [
      "64 hashes",
      formatAddCheckpoint(
        9,
        Array.from({ length: 64 }, () => roots[1]!),
        checkpointOf(20),
      ),
      knownAt(9),
      { status: 400, code: "log.malformed" },
    ],
    [
      "an origin that it does not know",
      formatAddCheckpoint(0, [], checkpointOf(9)),
      undefined,
      { status: 404, code: "log.origin_unknown" },
    ],
    [
      "a log under the state of another one",
      formatAddCheckpoint(0, [], checkpointOf(9)),
      { ...knownAt(0), logKey: witnessKey },
      { status: 404, code: "log.origin_unknown" },
    ],
    [
      "a head that the log did not sign",
      formatAddCheckpoint(0, [], signCheckpoint(headOf(9), stranger.secretKey)),
      knownAt(0),
      { status: 403, code: "log.key_unknown" },
    ],
    [
      "a signature over another head",
      formatAddCheckpoint(0, [], checkpointOf(9).replace("\n9\n", "\n8\n")),
      knownAt(0),
      { status: 403, code: "log.signature_invalid" },
    ],
    [
      "an old size above the new one",
      formatAddCheckpoint(10, [], checkpointOf(9)),
      knownAt(10),
      { status: 400, code: "log.shrunk" },
    ],
    [
      "another old size than its own",
      formatAddCheckpoint(0, [], checkpointOf(20)),
      knownAt(9),
      { status: 409, body: "9\n", contentType: "text/x.tlog.size", evidence: null },
    ],
    [
      "a head behind its own",
      formatAddCheckpoint(9, [], checkpointOf(9)),
      knownAt(20),
      { status: 409, body: "20\n", contentType: "text/x.tlog.size", evidence: null },
    ],
    [
      "a fork of its own size under another old size, with the evidence",
      formatAddCheckpoint(0, [], signCheckpoint(fork, log.secretKey)),
      knownAt(9),
      {
        status: 409,
        body: "9\n",
        contentType: "text/x.tlog.size",
        evidence: signCheckpoint(fork, log.secretKey),
      },
    ],
    [
      "a second root of one size, with the evidence",
      formatAddCheckpoint(9, [], signCheckpoint(fork, log.secretKey)),
      knownAt(9),
      { status: 422, code: "log.equivocation", evidence: signCheckpoint(fork, log.secretKey) },
    ],
    [
      "an empty tree with a root",
      formatAddCheckpoint(0, [], signCheckpoint({ ...fork, size: 0 }, log.secretKey)),
      knownAt(0),
      {
        status: 422,
        code: "log.equivocation",
        evidence: signCheckpoint({ ...fork, size: 0 }, log.secretKey),
      },
    ],
    [
      "a proof that is too short",
      formatAddCheckpoint(9, grown.slice(1), checkpointOf(20)),
      knownAt(9),
      { status: 422, code: "log.consistency_invalid", evidence: checkpointOf(20) },
    ],
    [
      "a history that was rewritten",
      formatAddCheckpoint(9, grown, checkpointOf(20)),
      { ...knownAt(9), root: fork.root },
      { status: 422, code: "log.consistency_invalid", evidence: checkpointOf(20) },
    ],
  ];
  test.each(refusals)("a witness refuses %s", (_, body, known, expected) => {
    const { ok: _ok, ...found } = answer(body, known) as { ok?: boolean };
    expect(found).toEqual(expected);
  });

  test("a witness keeps only the log's signature line as evidence, because others could add lines", () => {
    const crowded = signCheckpoint(fork, log.secretKey) + cosignHead(fork, stranger.witness, 1);
    const answered = answer(formatAddCheckpoint(9, [], crowded), knownAt(9));
    expect(answered).toMatchObject({ evidence: signCheckpoint(fork, log.secretKey) });
  });
});

describe("two heads of one log", () => {
  test.each([
    ["equal", headOf(9), headOf(9), [], undefined],
    ["grown", headOf(9), headOf(20), grown, undefined],
    ["grown, in the other order", headOf(20), headOf(9), grown, undefined],
    ["from the empty tree", headOf(0), headOf(20), [], undefined],
    ["of one size with two roots", headOf(9), fork, [], "log.equivocation"],
    ["of two sizes without a proof", headOf(9), headOf(20), [], "log.consistency_invalid"],
    ["of a fork and its future", fork, headOf(20), grown, "log.consistency_invalid"],
    [
      "of an empty tree with a root",
      { ...fork, size: 0 },
      headOf(20),
      [],
      "log.consistency_invalid",
    ],
    ["of two logs", headOf(9), { ...headOf(9), origin: "other" }, [], "log.wrong_origin"],
  ])("two heads of one log are compared: %s", (_, left, right, proof, code) => {
    const expected = code === undefined ? { ok: true } : { ok: false, code };
    expect(compareHeads(left, right, proof)).toEqual(expected);
    expect(compareHeads(right, left, proof)).toEqual(expected);
  });

  test("the empty root is the root of a tree without leaves", () => {
    expect(roots[0]).toEqual(getEmptyRoot());
  });
});
