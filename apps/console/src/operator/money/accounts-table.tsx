import { FilterLinks } from "../../shared/components/filter-links.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { AccountLink } from "../subject-links.tsx";

const accountsOf = (body: BodyOf<"listAccounts">) => body.accounts;

const ORDERS = [
  ["", "largest balance first"],
  ["held", "most held first"],
  ["id", "by id"],
] as const;

/** Every account, including those whose id belongs to no agent. */
export function AccountsTable() {
  const { query } = usePageContext().route.value;
  const given = query.get("sort") ?? "";
  const sort = given === "" ? "balance" : given;
  const loadPage = useListPages("listAccounts", { query: { sort } }, accountsOf);
  return (
    <>
      <h2>Accounts</h2>
      <FilterLinks name="sort" label="Order" choices={ORDERS} />
      <PageTable
        key={sort}
        caption="Accounts"
        loadPage={loadPage}
        rules={{ on: ["money.", "withdrawal."] }}
        rowKey={({ agent_id }) => agent_id}
        empty="There is no account yet."
        tone={({ agent_known }) => (agent_known ? undefined : "doubt")}
        columns={[
          {
            title: "account",
            cell: ({ agent_id, agent_known }) => (
              <>
                <AccountLink id={agent_id} />{" "}
                {!agent_known && <span class="doubt">no agent has this id</span>}
              </>
            ),
          },
          { title: "balance", isNumber: true, cell: ({ balance }) => showMoney(balance) },
          { title: "held", isNumber: true, cell: ({ held }) => showMoney(held) },
          {
            title: "to be paid out",
            isNumber: true,
            cell: ({ pending_withdrawals }) => showMoney(pending_withdrawals),
          },
          { title: "last movement", cell: ({ last_at }) => <TimeText at={last_at ?? null} /> },
        ]}
      />
    </>
  );
}
