import { benchmarkBeside } from "./beside.ts";
import { benchmarkLog } from "./log/benchmark-log.ts";
import { benchmarkDelegations } from "./measures/delegations.ts";
import { benchmarkDiscovery } from "./measures/discovery.ts";
import { countInstructions } from "./measures/instructions.ts";
import { benchmarkNeighbours } from "./measures/neighbours.ts";
import { benchmarkEngines } from "./measures/engines.ts";
import { benchmarkRanking } from "./measures/ranking.ts";
import { benchmarkReceipts } from "./measures/receipts.ts";
import { benchmarkScaleOut } from "./scale-out/benchmark-scale-out.ts";
import { benchmarkSessions } from "./measures/sessions.ts";
import { benchmarkStart } from "./measures/start.ts";
import { benchmarkTrustAttack } from "./measures/trust-attack.ts";
import { benchmarkStoredTasks } from "./measures/stored-tasks.ts";

const benches: Record<string, () => void | Promise<void>> = {
  delegations: benchmarkDelegations,
  receipts: benchmarkReceipts,
  ranking: benchmarkRanking,
  discovery: benchmarkDiscovery,
  neighbours: benchmarkNeighbours,
  sessions: benchmarkSessions,
  "stored-tasks": benchmarkStoredTasks,
  start: benchmarkStart,
  log: benchmarkLog,
  "trust-attack": benchmarkTrustAttack,
  engines: benchmarkEngines,
  "scale-out": benchmarkScaleOut,
};

const names = process.argv.slice(2);
const [first, other] = names;
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (first === "beside" && other !== undefined) {
  await benchmarkBeside(other);
} else if (first === "instructions") {
  await countInstructions();
} else if (unknown.length > 0) {
  console.error(
    `no such benchmark: ${unknown.join(", ")} (there are ${Object.keys(benches).join(", ")}, "beside <folder of another checkout>", and "instructions" with valgrind)`,
  );
  process.exitCode = 1;
} else {
  for (const name of names.length > 0 ? names : Object.keys(benches)) {
    console.log(`\n${name}`);
    await benches[name]?.();
  }
}
