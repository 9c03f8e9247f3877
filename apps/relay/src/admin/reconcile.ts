import { asMicro, fromMicro } from "@agent/budget";
import type { Answer, Operations } from "@agent/wire";
import type { Services } from "../services.ts";
import { accountTotals, brokenAccounts, movedOutside, strayHolds } from "./store.ts";

/** Proves from the postings that no money was made or lost, and that every hold has its open task. */
export async function reconcile({
  storage,
}: Pick<Services, "storage">): Promise<Answer<Operations["reconcile"]>> {
  // One transaction, so that all questions are asked of one moment.
  return storage.transaction(async (tx) => {
    const totals = await accountTotals(tx);
    const outside = await movedOutside(tx);
    const kind = (name: string) => totals.find((row) => row.kind === name);
    const balance = (name: string) => kind(name)?.balance ?? 0;
    const moved = (type: string) => outside.find((row) => row.type === type)?.amount ?? 0;
    const sum = totals.reduce((all, row) => all + row.balance, 0);
    const owing = kind("agent")?.owing ?? 0;
    const broken = await brokenAccounts(tx);
    const stray = await strayHolds(tx);
    const checks = [
      { name: "all accounts together hold 0", ok: sum === 0, detail: `${sum} micro-units` },
      { name: "no agent owes", ok: owing === 0, detail: `${owing} accounts` },
      {
        name: "balances are the sums of their postings",
        ok: broken === 0,
        detail: `${broken} accounts`,
      },
      { name: "every hold is that of an open task", ok: stray === 0, detail: `${stray} holds` },
    ];
    return {
      status: 200 as const,
      body: {
        consistent: checks.every(({ ok }) => ok),
        checks,
        totals: {
          deposits: dollars(-moved("deposit")),
          withdrawals: dollars(moved("withdrawal")),
          balances: dollars(balance("agent")),
          holds: dollars(balance("held")),
          fees: dollars(balance("relay")),
          peers: dollars(balance("peer")),
        },
      },
    };
  });
}

/** `-0` is no amount. */
function dollars(micro: number): number {
  return fromMicro(asMicro(micro + 0));
}
