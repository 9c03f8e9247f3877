/**
 * Credits an account in a new database many times, with the relay's own code: `node --conditions=agent-source
 * apps/relay/test/processes/seed-long-account.ts JSON`, with `path`, `agentId` and the number of `deposits`.
 */
import { asMicro } from "@agent/budget";
import { creditAccount } from "../../src/budget/credit-account.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openStorage } from "../../src/storage/open-storage.ts";
import { systemRuntime } from "./system-runtime.ts";

interface LongAccount {
  readonly path: string;
  readonly agentId: string;
  readonly deposits: number;
}

const [given = ""] = process.argv.slice(2);
const { path, agentId, deposits } = JSON.parse(given) as LongAccount;
const opened = await openStorage({ path, migrations });
if (!opened.ok) throw new Error(opened.detail);
await opened.storage.transaction(async (tx) => {
  for (let at = 1; at <= deposits; at += 1) {
    const credit = { agentId, amount: asMicro(1), reference: `drop ${at}`, description: null };
    await creditAccount(tx, systemRuntime, credit);
  }
});
await opened.storage.close();
