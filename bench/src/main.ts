import { beside } from "./beside.ts";
import { delegations } from "./delegations.ts";
import { discovery } from "./discovery.ts";
import { ranking } from "./ranking.ts";
import { receipts } from "./receipts.ts";
import { sessions } from "./sessions.ts";
import { storedTasks } from "./stored-tasks.ts";

const benches: Record<string, () => void | Promise<void>> = {
  delegations,
  receipts,
  ranking,
  discovery,
  sessions,
  "stored-tasks": storedTasks,
};

const names = process.argv.slice(2);
const [first, other] = names;
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (first === "beside" && other !== undefined) {
  await beside(other);
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
