import { delegations } from "./delegations.ts";
import { ranking } from "./ranking.ts";
import { receipts } from "./receipts.ts";
import { sessions } from "./sessions.ts";

const benches: Record<string, () => void | Promise<void>> = {
  delegations,
  receipts,
  ranking,
  sessions,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(
    `no such benchmark: ${unknown.join(", ")} (there are ${Object.keys(benches).join(", ")})`,
  );
  process.exitCode = 1;
} else {
  for (const name of names.length > 0 ? names : Object.keys(benches)) {
    console.log(`\n${name}`);
    await benches[name]?.();
  }
}
