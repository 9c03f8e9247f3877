import { benchmarkBeside } from "./beside.ts";
import { benchmarkDelegations } from "./delegations.ts";
import { benchmarkDiscovery } from "./discovery.ts";
import { benchmarkRanking } from "./ranking.ts";
import { benchmarkReceipts } from "./receipts.ts";
import { benchmarkSessions } from "./sessions.ts";
import { benchmarkStoredTasks } from "./stored-tasks.ts";

const benches: Record<string, () => void | Promise<void>> = {
  delegations: benchmarkDelegations,
  receipts: benchmarkReceipts,
  ranking: benchmarkRanking,
  discovery: benchmarkDiscovery,
  sessions: benchmarkSessions,
  "stored-tasks": benchmarkStoredTasks,
};

const names = process.argv.slice(2);
const [first, other] = names;
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (first === "beside" && other !== undefined) {
  await benchmarkBeside(other);
} else if (unknown.length > 0) {
  console.error(
    `no such benchmark: ${unknown.join(", ")} (there are ${Object.keys(benches).join(", ")}, and "beside <folder of another checkout>")`,
  );
  process.exitCode = 1;
} else {
  for (const name of names.length > 0 ? names : Object.keys(benches)) {
    console.log(`\n${name}`);
    await benches[name]?.();
  }
}
