import { entryOf, hashLeaf, proveInclusion, TreeEdge, verifyInclusion } from "@agent/transparency";
import { computeMedian, printFigures } from "../figures.ts";

const ENTRIES = 1_000_000;
const NEWEST = 10_000;
const SAMPLES = 501;
const ROUND = 1_000;

/** Measures a log of a million entries: its growth, proofs of the newest entries, their check. */
export async function benchmarkTransparency(): Promise<void> {
  const tiles = new Map<string, Uint8Array>();
  const edge = new TreeEdge();
  const rounds: number[] = [];
  let record = { task_id: "task", payee_id: "payee", net: 0 };
  while (edge.size < ENTRIES) {
    const entries = Array.from({ length: ROUND }, () => {
      record = { ...record, net: record.net + 1 };
      return entryOf.settlement(record, { time: record.net });
    });
    const start = performance.now();
    for (const entry of entries) {
      for (const { level, index, hashes } of edge.append(hashLeaf(entry))) {
        tiles.set(`${level}/${index}`, hashes);
      }
    }
    edge.root();
    rounds.push((1_000 * (performance.now() - start)) / ROUND);
  }
  const readTile = (level: number, index: number, width: number) =>
    (tiles.get(`${level}/${index}`) ?? edge.getPartialTile(level)).subarray(0, width * 32);

  const root = edge.root();
  const proving: number[] = [];
  const verifying: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const index = ENTRIES - 1 - Math.floor((sample * NEWEST) / SAMPLES);
    const leafTile = readTile(0, Math.floor(index / 256), 256);
    const leaf = leafTile.slice((index % 256) * 32, ((index % 256) + 1) * 32);
    const start = performance.now();
    const proof = await proveInclusion(index, ENTRIES, readTile);
    const proven = performance.now();
    if (!verifyInclusion({ index, size: ENTRIES, leaf, proof, root }).ok) {
      throw new Error("a valid proof was refused");
    }
    verifying.push(1_000 * (performance.now() - proven));
    proving.push(proven - start);
  }
  printFigures([
    {
      name: "us to add one entry to the tree, without the database",
      value: computeMedian(rounds),
      floor: 20,
      goal: 6,
      bound: "max",
    },
    {
      name: "ms to prove one of the newest 10,000 of 1 M entries from tiles",
      value: computeMedian(proving),
      floor: 2,
      goal: 0.3,
      bound: "max",
    },
    {
      name: "us to verify one inclusion at 1 M entries",
      value: computeMedian(verifying),
      floor: 150,
      goal: 50,
      bound: "max",
    },
  ]);
}
