import { createHash } from "node:crypto";
import { Graph, runSteps } from "@agent/routing-semiring";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentFacts } from "./agent-facts.ts";
import { collectCandidates } from "./collect-candidates.ts";
import { DIGEST_BYTES, DigestList } from "./digest-list.ts";
import { hashDigests } from "./hash-digests.ts";
import { hashCandidate, KeptCapability, type CandidateList } from "./kept-capability.ts";

const facts = (agent_id: string, promisedLatencyMs: number, capability = "x"): AgentFacts => ({
  agent_id,
  capabilities: [capability],
  listing: undefined,
  acceptance: undefined,
  promisedLatencyMs,
  promisedAvailability: null,
  payersLevel: null,
  paid: { successes: 0, counted: 0, avg_latency_ms: null },
  onlineUntil: 0,
});

const agent = fc.nat(12).map((number) => `agent-${String(number).padStart(2, "0")}`);
const agents = fc.uniqueArray(agent, { maxLength: 4 });
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("join"), id: agent, ms: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave"), id: agent, ms: fc.nat(0) }) },
);
const look = fc.record({ online: agents, excluded: agents, known: agents, refused: agents });

function collect(
  kept: KeptCapability,
  view: typeof look extends fc.Arbitrary<infer V> ? V : never,
) {
  const list: CandidateList = { candidates: [], nodes: [], digests: new DigestList() };
  const record = { trust_level: 3, successes: 1, counted: 2, avg_latency_ms: 5 };
  kept.collect(
    {
      required: ["x"],
      records: new Map(view.known.map((id) => [kept.placeOf(id), record])),
      excluded: new Set(view.excluded.map((id) => kept.placeOf(id))),
      accepts: ({ agent_id }) => !view.refused.includes(agent_id),
      isOnline: ({ agent_id }) => view.online.includes(agent_id),
      isHashed: true,
    },
    0,
    kept.size,
    list,
  );
  return list;
}

test("the digests of a list match its candidates after agents joined, changed or left", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(change, look), { maxLength: 30 }), (steps) => {
      const kept = new KeptCapability("x", new Graph());
      for (const [{ kind, id, ms }, view] of steps) {
        kept.update(id, kind === "join" ? facts(id, ms) : undefined);
        const { candidates, digests } = collect(kept, view);
        expect(digests).toHaveLength(candidates.length);
        expect(Buffer.concat(digests.pieces())).toEqual(
          Buffer.concat(candidates.map(hashCandidate)),
        );
      }
    }),
  );
});

test.each([
  { count: 1_001, isRecorded: true, digests: 1_001 },
  { count: 1_000, isRecorded: true, digests: 0 },
  { count: 1_001, isRecorded: false, digests: 0 },
])("$count candidates have $digests digests, recorded: $isRecorded", (example) => {
  const kept = new KeptCapability("x", new Graph());
  for (let at = 0; at < example.count; at += 1) kept.update(`a${at}`, facts(`a${at}`, 1));
  const query = { askerId: "", required: ["x"], isRecorded: example.isRecorded };
  const presence = { connections: { isOnline: () => false }, now: 0 };
  const list = runSteps(collectCandidates(kept, query, new Map(), presence));
  expect(list.candidates).toHaveLength(example.count);
  expect(list.digests).toHaveLength(example.digests);
});

test("an agent that loses the capability is no longer a candidate", () => {
  const kept = new KeptCapability("x", new Graph());
  kept.update("a", facts("a", 1));
  expect(kept.size).toBe(1);
  kept.update("a", facts("a", 1, "y"));
  expect(kept.size).toBe(0);
});

test("the digests of neighbours are stored as one piece", () => {
  const kept = new KeptCapability("x", new Graph());
  for (const id of ["a", "b", "c", "d", "e"]) kept.update(id, facts(id, 1));
  const everyone = { online: [], excluded: [], known: [], refused: [] };
  expect(collect(kept, everyone).digests.pieces()).toHaveLength(1);
  expect(collect(kept, { ...everyone, excluded: ["b"] }).digests.pieces()).toHaveLength(2);
  expect(collect(kept, { ...everyone, known: ["c"] }).digests.pieces()).toHaveLength(3);
});

test.each([1, 8_191, 8_192, 8_193, 20_000])("%i digests are hashed as one text", (count) => {
  const joined = Buffer.alloc(DIGEST_BYTES * count, "relay");
  const digests = new DigestList();
  for (let place = 0; place < count; place += 1) {
    // The second half is added one by one.
    const start = DIGEST_BYTES * place;
    if (place < count / 2) digests.add(joined, start);
    else digests.add(joined.subarray(start, start + DIGEST_BYTES));
  }
  expect(runSteps(hashDigests(digests))).toBe(createHash("sha256").update(joined).digest("hex"));
});
