import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "../child.ts";
import { computeMedian, printFigures, type Figure } from "../figures.ts";
import { createHttpClient, measureRate, WARM_UP_SECONDS } from "../load.ts";
import { startRelay, type RelaySide } from "../relay-side.ts";
import { measureVerifySeconds } from "./verify-cost.ts";

const ROUNDS = 5;
const SECONDS = 3;

/** Few clients are the common case, and they share a commit among fewer tasks. */
const IN_FLIGHT_COUNTS = [64, 16];

interface Sides {
  readonly paid: RelaySide;
  readonly free: RelaySide;
  readonly disk: RelaySide;
  readonly postOnce: () => Promise<void>;
}

/** Measures delegations per second and bare posts per second, taking turns in one run. */
export async function benchmarkDelegations(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bare = await startChild("./bare-server.ts", {});
  const poster = createHttpClient(bare.url);
  const paid = await startRelay({}, 1);
  const free = await startRelay({}, 0);
  const disk = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const body = JSON.stringify({ id: "x", prompt: "x".repeat(1_450) });
  const postOnce = async () => void (await poster.post("/", body));
  try {
    for (const side of [paid, free, disk]) {
      await measureRate(WARM_UP_SECONDS, side.delegateOnce);
    }
    for (const inFlight of IN_FLIGHT_COUNTS) {
      printFigures(await measureSides({ paid, free, disk, postOnce }, inFlight));
    }
  } finally {
    await Promise.all([poster.close(), bare.stop(), paid.close(), free.close(), disk.close()]);
    rmSync(folder, { recursive: true });
  }
}

async function measureSides(
  { paid, free, disk, postOnce }: Sides,
  inFlight: number,
): Promise<Figure[]> {
  const rates = {
    bare: [] as number[],
    paid: [] as number[],
    free: [] as number[],
    disk: [] as number[],
  };
  const cpu: number[] = [];
  const verify: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.bare.push(await measureRate(SECONDS, postOnce, inFlight));
    const before = paid.child.cpuSeconds();
    const rate = await measureRate(SECONDS, paid.delegateOnce, inFlight);
    cpu.push((paid.child.cpuSeconds() - before) / (rate * SECONDS));
    rates.paid.push(rate);
    rates.free.push(await measureRate(SECONDS, free.delegateOnce, inFlight));
    rates.disk.push(await measureRate(SECONDS, disk.delegateOnce, inFlight));
    verify.push(await measureVerifySeconds());
  }
  const medianRate = (side: keyof typeof rates) => computeMedian(rates[side]);
  const suffix = `, ${inFlight} in flight`;
  console.log(
    `${inFlight} in flight, a second, median of ${ROUNDS}: bare ${medianRate("bare").toFixed(0)}, paid ${medianRate("paid").toFixed(0)}, ` +
      `free ${medianRate("free").toFixed(0)}, paid on disk ${medianRate("disk").toFixed(0)}; ` +
      `CPU per paid delegation ${(computeMedian(cpu) * 1e6).toFixed(0)} us, per verify ${(computeMedian(verify) * 1e6).toFixed(0)} us`,
  );
  return [
    {
      name: `paid delegations in memory / bare posts${suffix}`,
      value: medianRate("paid") / medianRate("bare"),
      floor: 0.05,
      goal: 0.08,
    },
    {
      name: `free delegations in memory / bare posts${suffix}`,
      value: medianRate("free") / medianRate("bare"),
      floor: 0.07,
      goal: 0.1,
    },
    {
      name: `paid on disk / paid in memory${suffix}`,
      value: medianRate("disk") / medianRate("paid"),
      floor: 0.7,
      goal: 0.85,
    },
    {
      name: `relay CPU per paid delegation / CPU of one native verify${suffix}`,
      value: computeMedian(cpu) / computeMedian(verify),
      floor: 6,
      goal: 3.5,
      bound: "max",
    },
  ];
}
