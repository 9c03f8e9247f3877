import { describe, expect, test } from "vitest";
import { getEmptyRoot, hashLeaf, hashNode } from "./hash.ts";
import { verifyConsistency, verifyInclusion } from "./verify-proof.ts";

const [a, b, c, d] = ["a", "b", "c", "d"].map((text) =>
  hashLeaf(new TextEncoder().encode(text)),
) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const ab = hashNode(a, b);
const abc = hashNode(ab, c);
const abcd = hashNode(ab, hashNode(c, d));
const short = a.subarray(1);

describe("a proof of inclusion", () => {
  const claim = { index: 1, size: 3, leaf: b, proof: [a, c], root: abc };
  test.each<[string, string | undefined, Partial<typeof claim>]>([
    ["of the whole path", undefined, {}],
    ["of a last leaf that moves up", undefined, { index: 2, leaf: c, proof: [ab] }],
    ["of the only leaf", undefined, { index: 0, size: 1, leaf: a, proof: [], root: a }],
    ["of an index at the size", "log.index_out_of_range", { index: 3 }],
    ["of an index below 0", "log.index_out_of_range", { index: -1 }],
    ["of part of an index", "log.index_out_of_range", { index: 0.5 }],
    ["of a size above 2^53", "log.index_out_of_range", { size: 2 ** 53 }],
    ["without its last hash", "log.inclusion_invalid", { proof: [a] }],
    ["without its last hash, for that node", "log.inclusion_invalid", { proof: [a], root: ab }],
    ["with a hash more", "log.inclusion_invalid", { proof: [a, c, c], root: hashNode(abc, c) }],
    [
      "with a hash more on the other side",
      "log.inclusion_invalid",
      { proof: [a, c, c], root: hashNode(c, abc) },
    ],
    ["with a hash of 31 bytes", "log.inclusion_invalid", { proof: [a, short] }],
    ["of another root", "log.inclusion_invalid", { root: ab }],
  ])("a proof of inclusion %s: %s", (_, code, change) => {
    const expected = code === undefined ? { ok: true } : { ok: false, code };
    expect(verifyInclusion({ ...claim, ...change })).toEqual(expected);
  });
});

describe("a proof of consistency", () => {
  const claim = { oldSize: 2, size: 3, oldRoot: ab, root: abc, proof: [c] };
  const empty = { oldSize: 0, oldRoot: getEmptyRoot(), proof: [] };
  test.each<[string, string | undefined, Partial<typeof claim>]>([
    ["from a perfect tree", undefined, {}],
    ["from one leaf", undefined, { oldSize: 1, oldRoot: a, proof: [b, c] }],
    [
      "from a tree that is not perfect",
      undefined,
      { oldSize: 3, size: 4, oldRoot: abc, root: abcd, proof: [c, d, ab] },
    ],
    ["from the empty tree", undefined, empty],
    ["between equal sizes", undefined, { oldSize: 3, oldRoot: abc, proof: [] }],
    ["to a smaller size", "log.shrunk", { oldSize: 3, size: 2, oldRoot: abc, root: ab }],
    ["from a size below 0", "log.consistency_invalid", { oldSize: -1 }],
    ["to part of a size", "log.consistency_invalid", { size: 3.5 }],
    ["from the empty tree with another root", "log.consistency_invalid", { ...empty, oldRoot: a }],
    ["from the empty tree with a hash", "log.consistency_invalid", { ...empty, proof: [c] }],
    ["between equal sizes with a hash", "log.consistency_invalid", { oldSize: 3, oldRoot: abc }],
    [
      "between equal sizes with two roots",
      "log.consistency_invalid",
      { oldSize: 3, oldRoot: ab, proof: [] },
    ],
    ["without a hash", "log.consistency_invalid", { proof: [] }],
    ["with a hash more", "log.consistency_invalid", { proof: [c, c], root: hashNode(abc, c) }],
    [
      "without its last hash, for that node",
      "log.consistency_invalid",
      { oldSize: 1, oldRoot: a, proof: [b], root: ab },
    ],
    [
      "with a hash more on the other side",
      "log.consistency_invalid",
      {
        oldSize: 3,
        size: 4,
        proof: [c, d, ab, a],
        oldRoot: hashNode(a, abc),
        root: hashNode(a, abcd),
      },
    ],
    ["with a hash of 31 bytes", "log.consistency_invalid", { proof: [short] }],
    ["with another old root", "log.consistency_invalid", { oldRoot: a }],
    ["with another new root", "log.consistency_invalid", { root: ab }],
  ])("a proof of consistency %s: %s", (_, code, change) => {
    const expected = code === undefined ? { ok: true } : { ok: false, code };
    expect(verifyConsistency({ ...claim, ...change })).toEqual(expected);
  });
});
