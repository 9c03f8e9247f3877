import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 1;
const file = process.env["BENCH_STOPS_FILE"];
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

// Loaded before a measured server. On the signal it writes the longest pause since the last one, in ms.
process.on("SIGUSR2", () => {
  if (file === undefined) return;
  writeFileSync(file, String(Math.max(0, delays.max / 1e6 - RESOLUTION_MS)));
  delays.reset();
});
