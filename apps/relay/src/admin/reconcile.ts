import { asMicro, fromMicro } from "@agent/budget";
import type { Answer, Operations, Result } from "@agent/wire";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import {
  accountTotals,
  brokenAccounts,
  movedOutside,
  owingAccounts,
  strayHolds,
  strayWithdrawals,
} from "./store.ts";

/** What the accounts hold together, and which rules they keep. */
export type Books = Result<Operations["reconcile"]>;

/** Proves from the postings that no money was made or lost, and that every hold has its open task. */
export async function reconcile({
  freezer,
}: Pick<Services, "freezer">): Promise<Answer<Operations["reconcile"]>> {
  return { status: 200, body: await freezer.inspect(booksOf) };
}

/** All questions are asked of one moment: `read` is a transaction. */
export async function booksOf(read: Reader): Promise<Books> {
  const totals = await accountTotals(read);
  const outside = await movedOutside(read);
  const kind = (name: string) => totals.find((row) => row.kind === name);
  const balance = (name: string) => kind(name)?.balance ?? 0;
  const moved = (type: string) => outside.find((row) => row.type === type)?.amount ?? 0;
  const sum = totals.reduce((all, row) => all + row.balance, 0);
  const { unexplained, reversed } = await owingAccounts(read);
  const broken = await brokenAccounts(read);
  const stray = await strayHolds(read);
  const leaving = await strayWithdrawals(read);
  const checks = [
    { name: "all accounts together hold 0", ok: sum === 0, detail: `${sum} micro-units` },
    {
      name: "no agent owes, except by card_reversal",
      ok: unexplained === 0,
      detail: `${unexplained} accounts, card_reversal ${reversed} micro-units`,
    },
    {
      name: "balances are the sums of their postings",
      ok: broken === 0,
      detail: `${broken} accounts`,
    },
    {
      name: "every hold is that of an open task or withdrawal",
      ok: stray === 0,
      detail: `${stray} holds`,
    },
    {
      name: "what agents take out is in pending withdrawals",
      ok: leaving === 0,
      detail: `${leaving} accounts`,
    },
  ];
  return {
    consistent: checks.every(({ ok }) => ok),
    checks,
    totals: {
      deposits: dollars(-moved("deposit")),
      withdrawals: dollars(moved("withdrawal")),
      balances: dollars(balance("agent")),
      holds: dollars(balance("held")),
      fees: dollars(balance("relay")),
      peers: dollars(balance("peer")),
      card_reversals: dollars(reversed),
    },
  };
}

/** `-0` is no amount. */
function dollars(micro: number): number {
  return fromMicro(asMicro(micro + 0));
}
