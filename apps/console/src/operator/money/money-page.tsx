import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { useOverview } from "../console-overview.ts";
import { AccountsTable } from "./accounts-table.tsx";
import { BooksReport } from "./books-report.tsx";
import { DepositButton } from "./deposit-button.tsx";
import { HoldsTable } from "./holds-table.tsx";
import { WithdrawalsTable } from "./withdrawals-table.tsx";

const PARTS = [
  ["", "Accounts"],
  ["holds", "Held"],
  ["withdrawals", "Withdrawals"],
  ["books", "Books"],
] as const;

/** Shows where each party's money is. */
export function MoneyPage({ id }: { id: string }) {
  const { body } = useOverview();
  return (
    <>
      <ViewTitle title="Money">
        <DepositButton />
      </ViewTitle>
      {body !== undefined && (
        <p>
          {showMoney(body.money.balances)} in accounts · {showMoney(body.money.held)} held ·{" "}
          <a href={formatHashRoute(["disputes"], { state: "all" })}>
            {showMoney(body.money.inspected)} under inspection
          </a>{" "}
          · {showMoney(body.money.pending_withdrawals)} to be paid out ·{" "}
          {showMoney(body.money.fees_total)} fees in total, {showMoney(body.money.fees_today)} today
        </p>
      )}
      <nav class="chips" aria-label="Parts of the money page">
        {PARTS.map(([name, word]) => (
          <a
            key={word}
            href={formatHashRoute(name === "" ? ["money"] : ["money", name])}
            aria-current={name === id ? "true" : undefined}
          >
            {word}
            {name === "withdrawals" && (body?.withdrawals_pending ?? 0) > 0 && (
              <span class="count">{body?.withdrawals_pending}</span>
            )}
          </a>
        ))}
      </nav>
      <section class="box">
        {id === "holds" ? (
          <HoldsTable />
        ) : id === "withdrawals" ? (
          <WithdrawalsTable />
        ) : id === "books" ? (
          <BooksReport />
        ) : (
          <AccountsTable />
        )}
      </section>
    </>
  );
}
