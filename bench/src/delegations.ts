import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { median, printFigures } from "./figures.ts";
import { createPoster, perSecond } from "./load.ts";
import { startRelay } from "./relay-side.ts";
import { verifySeconds } from "./verify-cost.ts";

const rounds = 5;
const seconds = 3;

/** Delegations a second beside bare posts a second, taken in turn in one run. */
export async function delegations(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bare = await startChild("./bare-server.ts", {});
  const poster = createPoster(bare.url);
  const paid = await startRelay({}, 1);
  const free = await startRelay({}, 0);
  const disk = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const body = JSON.stringify({ id: "x", prompt: "x".repeat(1_450) });
  const rates = {
    bare: [] as number[],
    paid: [] as number[],
    free: [] as number[],
    disk: [] as number[],
  };
  const cpu: number[] = [];
  const verify: number[] = [];
  try {
    // A relay is compiled to the end in its first seconds.
    for (const side of [paid, free, disk]) await perSecond(3, side.once);
    for (let round = 0; round < rounds; round += 1) {
      rates.bare.push(await perSecond(seconds, async () => void (await poster.post("/", body))));
      const before = paid.child.cpuSeconds();
      const rate = await perSecond(seconds, paid.once);
      cpu.push((paid.child.cpuSeconds() - before) / (rate * seconds));
      rates.paid.push(rate);
      rates.free.push(await perSecond(seconds, free.once));
      rates.disk.push(await perSecond(seconds, disk.once));
      verify.push(await verifySeconds());
    }
  } finally {
    await Promise.all([poster.close(), bare.stop(), paid.close(), free.close(), disk.close()]);
    rmSync(folder, { recursive: true });
  }
  const of = (side: keyof typeof rates) => median(rates[side]);
  console.log(
    `a second, median of ${rounds}: bare ${of("bare").toFixed(0)}, paid ${of("paid").toFixed(0)}, ` +
      `free ${of("free").toFixed(0)}, paid on disk ${of("disk").toFixed(0)}; ` +
      `CPU per paid delegation ${(median(cpu) * 1e6).toFixed(0)} us, per verify ${(median(verify) * 1e6).toFixed(0)} us`,
  );
  printFigures([
    {
      name: "paid delegations in memory / bare posts",
      value: of("paid") / of("bare"),
      floor: 0.05,
      goal: 0.08,
    },
    {
      name: "free delegations in memory / bare posts",
      value: of("free") / of("bare"),
      floor: 0.07,
      goal: 0.1,
    },
    {
      name: "paid on disk / paid in memory",
      value: of("disk") / of("paid"),
      floor: 0.7,
      goal: 0.85,
    },
    {
      name: "relay CPU per paid delegation / CPU of one native verify",
      value: median(cpu) / median(verify),
      floor: 6,
      goal: 3.5,
      bound: "most",
    },
  ]);
}
