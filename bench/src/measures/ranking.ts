import { createHash } from "node:crypto";
import { Graph, rankAndRecord, type Candidate } from "@agent/routing-semiring";
import { createSeededRandom } from "@agent/testkit";
import { computeMedian, printFigures, type Figure } from "../figures.ts";
import { benchmarkRankedRequests } from "./ranked-requests.ts";

const ROUNDS = 7;
const EDGES_PER_AGENT = 10;

/** Measures the ranking of many agents as in a submission, both alone and in a started relay. */
export async function benchmarkRanking(): Promise<void> {
  printFigures([
    measure(10_000, { floor: 12, goal: 5 }),
    measure(100_000, { floor: 300, goal: 100 }),
  ]);
  await benchmarkRankedRequests();
}

function measure(agents: number, limits: Pick<Figure, "floor" | "goal">): Figure {
  const random = createSeededRandom(7);
  const ids = Array.from({ length: agents }, (_, index) => `agent-${index}`);
  const graph = new Graph();
  const pick = () => ids[random.below(agents)] ?? "agent-0";
  for (const from of ["self", ...ids]) {
    for (let edge = 0; edge < EDGES_PER_AGENT; edge += 1) {
      graph.addEdge(from, pick(), {
        trust: 0.3 + random.next() * 0.6,
        cost: 0,
        latency: 0,
        reliability: 1,
      });
    }
  }
  const candidates: Candidate[] = ids.map((agent_id) => ({
    agent_id,
    capabilities: ["x"],
    unit_cost: random.next(),
    trust_score: 0.1,
    blocked: false,
    successes: 8,
    counted: 10,
    avg_latency_ms: random.next() * 5_000,
    listing_latency_ms: null,
    online: random.next() > 0.5,
    availability_guarantee: 0.9,
  }));
  const digests = Buffer.alloc(32 * agents);
  const run = () =>
    rankAndRecord(candidates, {
      graph,
      requiredCapabilities: ["x"],
      limit: 8,
      onlyEligible: true,
      hashInputs: () => createHash("sha256").update(digests).digest("hex"),
    });
  for (let i = 0; i < 20; i += 1) run();
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1_000);
  }
  const name = `ms of CPU to rank and record ${agents} agents with ${EDGES_PER_AGENT} edges each`;
  return { name, value: computeMedian(times), bound: "max", ...limits };
}
