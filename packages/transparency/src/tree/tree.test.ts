import { bytesToHex, equalBytes, sha256 } from "@agent/crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getEmptyRoot, hashLeaf, hashNode, hashSubtree } from "./hash.ts";
import { computeRoot, proveConsistency, proveInclusion } from "./prove.ts";
import { countTiles, TILE_WIDTH } from "./tile-path.ts";
import { TreeEdge } from "./tree-edge.ts";
import { verifyConsistency, verifyEntryInclusion, verifyInclusion } from "./verify-proof.ts";

const MAX_SIZE = 3_000;

const toEntry = (index: number) => Uint8Array.of(index >> 8, index & 0xff);
const leaves = Array.from({ length: MAX_SIZE }, (_, index) => hashLeaf(toEntry(index)));

/** The definition of RFC 6962, section 2.1, for the leaves from `start` to before `end`. */
function defineRoot(end: number, start = 0): Uint8Array {
  const count = end - start;
  if (count === 0) return getEmptyRoot();
  if (count === 1) return leaves[start]!;
  let split = 1;
  while (split * 2 < count) split *= 2;
  return hashNode(defineRoot(start + split, start), defineRoot(end, start + split));
}

/** Every full tile of the largest tree; smaller trees have a part of them. */
const tiles = new Map<string, Uint8Array>();
const edge = new TreeEdge();
const roots = [edge.root()];
for (const leaf of leaves) {
  for (const { level, index, hashes } of edge.append(leaf)) tiles.set(`${level}/${index}`, hashes);
  roots.push(edge.root());
}
const readTile = (level: number, index: number, width: number) =>
  (tiles.get(`${level}/${index}`) ?? edge.getPartialTile(level)).slice(0, width * 32);

const size = fc.integer({ min: 1, max: MAX_SIZE });
const place = fc.tuple(size, fc.nat()).map(([n, i]) => ({ size: n, index: i % n }));
const pair = fc.tuple(size, fc.nat()).map(([n, i]) => ({ size: n, oldSize: i % (n + 1) }));

/** Returns a copy with one bit flipped. */
function flipBit(bytes: Uint8Array, position: number): Uint8Array {
  const copy = bytes.slice();
  copy[(position >> 3) % copy.length]! ^= 1 << (position & 7);
  return copy;
}

/** Returns every proof that differs from a valid one by a flipped bit, or by one hash. */
function damageProof(proof: readonly Uint8Array[], at: number): Uint8Array[][] {
  const extra = leaves[at % MAX_SIZE]!;
  const damaged = [
    [...proof, extra],
    [extra, ...proof],
  ];
  if (proof.length > 0) {
    const index = at % proof.length;
    damaged.push(
      proof.toSpliced(index, 1),
      proof.with(index, flipBit(proof[index]!, at)),
      proof.with(index, proof[index]!.slice(1)),
      proof.toSpliced(index, 0, proof[index]!),
    );
    const other = (index + 1) % proof.length;
    const [hash, otherHash] = [proof[index]!, proof[other]!];
    if (other !== index) damaged.push(proof.with(index, otherHash).with(other, hash));
  }
  return damaged;
}

describe("edges of trees", () => {
  test("the edge of a tree has the root of the RFC's definition at every 7th size", () => {
    for (let each = 0; each <= MAX_SIZE; each += 7) {
      expect(bytesToHex(roots[each]!)).toBe(bytesToHex(defineRoot(each)));
    }
  });

  test("the edge of a tree that is continued from partial tiles equals one that was never interrupted", () => {
    fc.assert(
      fc.property(size, (count) => {
        const first = new TreeEdge();
        for (const leaf of leaves.slice(0, count)) first.append(leaf);
        const partial = countTiles(count).map(({ level }) => first.getPartialTile(level));
        const second = new TreeEdge({ size: count, tiles: partial });
        for (const leaf of leaves.slice(count, count + 300)) {
          expect(second.append(leaf)).toEqual(first.append(leaf));
        }
        expect(second.root()).toEqual(first.root());
      }),
      { numRuns: 20 },
    );
  });

  test("the edge of a tree refuses partial tiles of another size", () => {
    expect(() => new TreeEdge({ size: 2, tiles: [leaves[0]!] })).toThrow(RangeError);
    expect(() => new TreeEdge({ size: 1, tiles: [] })).toThrow(RangeError);
  });

  test("the edge of a tree shares no memory with the tiles that it returns", () => {
    const own = new TreeEdge();
    const filled = leaves.slice(0, TILE_WIDTH).flatMap((leaf) => own.append(leaf));
    own.getPartialTile(0).fill(7);
    own.append(leaves[300]!);
    expect(filled[0]!.hashes.slice(0, 32)).toEqual(leaves[0]);
    expect(filled[0]!.root).toEqual(hashSubtree(filled[0]!.hashes, 0, TILE_WIDTH));
  });

  test("the edge of a tree shares no memory with the leaves and roots that it takes and returns", () => {
    const own = new TreeEdge();
    for (const leaf of leaves.slice(0, TILE_WIDTH + 1)) {
      const given = leaf.slice();
      for (const { root } of own.append(given)) root.fill(7);
      given.fill(7);
      own.root().fill(7);
    }
    expect(own.root()).toEqual(roots[TILE_WIDTH + 1]);
  });
});

describe("the proofs of random trees", () => {
  test("the proofs of random trees verify, and are refused with any damage to their hashes", async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.nat(), async ({ size: count, index }, at) => {
        const proof = await proveInclusion(index, count, readTile);
        const claim = { index, size: count, leaf: leaves[index]!, root: roots[count]!, proof };
        expect(verifyInclusion(claim)).toEqual({ ok: true });
        expect(verifyEntryInclusion({ ...claim, entry: toEntry(index) })).toEqual({ ok: true });
        const damaged = [
          ...damageProof(proof, at).map((other) => ({ ...claim, proof: other })),
          { ...claim, leaf: flipBit(claim.leaf, at) },
          { ...claim, root: flipBit(claim.root, at) },
        ];
        for (const other of damaged) {
          expect(verifyInclusion(other)).toEqual({ ok: false, code: "log.inclusion_invalid" });
        }
      }),
      { numRuns: 300 },
    );
  });

  test("the proofs of a tree are refused for every other index, and for every size with another path", async () => {
    await fc.assert(
      fc.asyncProperty(place, size, async ({ size: count, index }, otherSize) => {
        const proof = await proveInclusion(index, count, readTile);
        const claim = { index, size: count, leaf: leaves[index]!, root: roots[count]!, proof };
        for (let other = 0; other < count; other += 1 + Math.floor(count / 50)) {
          expect(verifyInclusion({ ...claim, index: other }).ok).toBe(other === index);
        }
        const { ok } = verifyInclusion({ ...claim, size: otherSize, root: roots[otherSize]! });
        expect(ok).toBe(otherSize === count);
      }),
      { numRuns: 200 },
    );
  });

  test("the proofs of consistency verify, and are refused with any damage", async () => {
    await fc.assert(
      fc.asyncProperty(pair, fc.nat(), async ({ size: count, oldSize }, at) => {
        const proof = await proveConsistency(oldSize, count, readTile);
        const claim = {
          oldSize,
          size: count,
          oldRoot: roots[oldSize]!,
          root: roots[count]!,
          proof,
        };
        expect(verifyConsistency(claim)).toEqual({ ok: true });
        const damaged = [
          ...damageProof(proof, at).map((other) => ({ ...claim, proof: other })),
          { ...claim, oldRoot: flipBit(claim.oldRoot, at) },
        ];
        // From the empty tree every tree is consistent.
        if (oldSize > 0) damaged.push({ ...claim, root: flipBit(claim.root, at) });
        for (const other of damaged) {
          expect(verifyConsistency(other)).toEqual({ ok: false, code: "log.consistency_invalid" });
        }
        const moved = { ...claim, oldSize: (oldSize % count) + 1 };
        expect(verifyConsistency(moved).ok).toBe(moved.oldSize === oldSize);
      }),
      { numRuns: 300 },
    );
  });

  test("the proofs of a tree need at most two tiles a level, and rebuild the root of any size", async () => {
    await fc.assert(
      fc.asyncProperty(place, async ({ size: count, index }) => {
        const read: number[] = [];
        await proveInclusion(index, count, (level, ...tile) => {
          read.push(level);
          return readTile(level, ...tile);
        });
        for (const { level } of countTiles(count)) {
          expect(read.filter((each) => each === level).length).toBeLessThanOrEqual(2);
        }
        expect(await computeRoot(count, readTile)).toEqual(roots[count]);
      }),
      { numRuns: 100 },
    );
  });
});

describe("numbers beyond 32 bits", () => {
  const far = 2 ** 32 + 5;

  /** Builds the root of a claim from its own path, as a verifier of another make would. */
  function foldPath(index: number, count: number, leaf: Uint8Array, proof: Uint8Array[]) {
    let [node, last, hash] = [BigInt(index), BigInt(count - 1), leaf];
    const rest = [...proof];
    while (last > 0n) {
      if (node % 2n === 1n) hash = hashNode(rest.shift()!, hash);
      else if (node < last) hash = hashNode(hash, rest.shift()!);
      [node, last] = [node / 2n, last / 2n];
    }
    expect(rest).toEqual([]);
    return hash;
  }

  test("an index of 2^32 + 5 has its own path, and index 5 does not take its place", () => {
    const count = 2 ** 32 + 10;
    const proof = leaves.slice(0, 5);
    // Index 2^32 + 5 of 2^32 + 10: one sibling of the pair, of the four, of the eight, then the left tree.
    const claim = { index: far, size: count, leaf: leaves[9]!, proof };
    const used = proof.slice(0, 5);
    const root = foldPath(far, count, leaves[9]!, used);
    expect(verifyInclusion({ ...claim, proof: used, root })).toEqual({ ok: true });
    expect(verifyInclusion({ ...claim, index: 5, proof: used, root }).ok).toBe(false);
  });

  test("the tiles of an index of 2^32 + 5 are requested by their full numbers", async () => {
    const read: string[] = [];
    const blank = (level: number, index: number, width: number) => {
      read.push(`${level}/${index}/${width}`);
      return new Uint8Array(width * 32);
    };
    await proveInclusion(far, 2 ** 32 + 6, blank);
    expect(read).toEqual(["0/16777216/6", "4/0/1"]);
    await proveConsistency(far, 2 ** 53 - 1, blank);
    expect(read.length).toBeGreaterThan(6);
  });

  test.each([
    [2 ** 53, 2 ** 53 + 2],
    [-1, 5],
    [0.5, 5],
    [Number.NaN, 5],
    [5, 5],
    [0, 0],
    [0, Number.POSITIVE_INFINITY],
  ])("an index of %s in %s leaves is out of range", (index, count) => {
    const claim = { index, size: count, leaf: leaves[0]!, root: leaves[0]!, proof: [] };
    expect(verifyInclusion(claim)).toEqual({ ok: false, code: "log.index_out_of_range" });
    expect(() => proveInclusion(index, count, () => new Uint8Array())).toThrow(RangeError);
  });

  test("a proof of 64 hashes is refused before any of them is used", () => {
    const proof = Array.from({ length: 64 }, () => leaves[0]!);
    const claim = { index: 0, size: 2 ** 52, leaf: leaves[0]!, root: leaves[0]!, proof };
    expect(verifyInclusion(claim)).toEqual({ ok: false, code: "log.inclusion_invalid" });
  });
});

test("the hash of two leaves does not count as an entry of a tree", async () => {
  const inner = hashNode(leaves[0]!, leaves[1]!);
  const entry = new Uint8Array([...leaves[0]!, ...leaves[1]!]);
  const proof = (await proveInclusion(0, 4, readTile)).slice(1);
  const claim = { index: 0, size: 2, root: roots[4]!, proof };
  // By the hash alone the pair passes as the leaf of a smaller tree, therefore entries are hashed.
  expect(verifyInclusion({ ...claim, leaf: inner })).toEqual({ ok: true });
  expect(verifyEntryInclusion({ ...claim, entry }).ok).toBe(false);
  expect(equalBytes(hashLeaf(entry), inner)).toBe(false);
});

test("a tile of a wrong length is an error of the storage, not a proof", async () => {
  await expect(proveInclusion(0, 2, () => new Uint8Array(32))).rejects.toThrow(RangeError);
  await expect(computeRoot(0, readTile)).rejects.toThrow(RangeError);
});

test("the hash of an entry depends only on its bytes, even after a longer entry was hashed", () => {
  for (const length of [300, 255, 254, 90, 0, 256]) {
    const entry = new Uint8Array(length).fill(length);
    expect(hashLeaf(entry)).toEqual(sha256(Uint8Array.of(0, ...entry)));
  }
});

test.each([
  [31, 32],
  [32, 33],
  [0, 32],
])("a node over hashes of %i and %i bytes is refused", (left, right) => {
  expect(() => hashNode(new Uint8Array(left), new Uint8Array(right))).toThrow(RangeError);
});
