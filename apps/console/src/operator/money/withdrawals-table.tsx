import { useState } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { FilterLinks } from "../../shared/components/filter-links.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import {
  ForeignLine,
  ForeignText,
  IdCode,
  QuotedText,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink } from "../subject-links.tsx";

type Withdrawal = BodyOf<"listAllWithdrawals">["withdrawals"][number];

const withdrawalsOf = (body: BodyOf<"listAllWithdrawals">) => body.withdrawals;

const STATES = [
  ["", "waiting"],
  ["completed", "paid out"],
  ["failed", "failed"],
] as const;

const ORDERS = [
  ["", "newest first"],
  ["amount", "largest first"],
] as const;

/** Withdrawals of agents, which the operator pays elsewhere and then marks here as paid. */
export function WithdrawalsTable() {
  const { query } = usePageContext().route.value;
  const [version, setVersion] = useState(0);
  const given = query.get("status") ?? "";
  const status = given === "" ? "pending" : given;
  const sort = query.get("sort") === "amount" ? "amount" : "newest";
  const loadPage = useListPages("listAllWithdrawals", { query: { status, sort } }, withdrawalsOf);
  return (
    <>
      <h2>Withdrawals</h2>
      <FilterLinks name="status" label="State" choices={STATES} />
      <FilterLinks name="sort" label="Order" choices={ORDERS} />
      <PageTable
        key={`${status} ${sort}`}
        caption="Withdrawals"
        loadPage={loadPage}
        rules={{ version, on: ["withdrawal."] }}
        rowKey={({ withdrawal_id }) => withdrawal_id}
        empty="No withdrawal is in this state."
        columns={[
          { title: "requested", cell: ({ created_at }) => <TimeText at={created_at} /> },
          {
            title: "agent",
            cell: ({ agent_id, agent_revoked_at: revokedAt = null }) => (
              <>
                <AgentLink id={agent_id} />
                {revokedAt !== null && <span class="bad"> revoked after the request</span>}
              </>
            ),
          },
          {
            title: "amount",
            isNumber: true,
            cell: ({ amount, account_owes: owed = 0 }) => (
              <>
                {showMoney(amount)}
                {owed > 0 && <span class="bad"> the account owes {showMoney(owed)}</span>}
              </>
            ),
          },
          {
            title: "to",
            // The operator pays to this destination, so it is never shortened.
            cell: ({ destination }) => <ForeignText text={destination} />,
          },
          { title: "state", cell: ({ status: state }) => <StateWord state={state} /> },
          {
            title: "",
            cell: (withdrawal) =>
              withdrawal.status === "pending" ? (
                <WithdrawalActs
                  withdrawal={withdrawal}
                  onDone={() => setVersion((before) => before + 1)}
                />
              ) : (
                <ForeignLine
                  text={withdrawal.payout_reference ?? withdrawal.reason ?? ""}
                  max={60}
                />
              ),
          },
        ]}
      />
    </>
  );
}

/** Failing a withdrawal repays the debt of its account, whereas paying it out may cause a loss. */
function describeDebt(owed: number): string {
  return owed === 0
    ? ""
    : `The account owes ${showMoney(owed)}, which failing the withdrawal would repay. `;
}

/** A thief of the key may have requested the withdrawal before the agent was revoked. */
function describeRevocation(revokedAt: number | null): string {
  return revokedAt === null ? "" : "The agent was revoked after it requested this money. ";
}

function WithdrawalActs({ withdrawal, onDone }: { withdrawal: Withdrawal; onDone: () => void }) {
  const { relay } = usePageContext();
  const { withdrawal_id: withdrawalId, agent_id, amount, destination } = withdrawal;
  const { account_owes: owed = 0, agent_revoked_at: revokedAt = null } = withdrawal;
  const params = { withdrawalId };
  const money = showMoney(amount);
  const account = (
    <>
      account <IdCode id={agent_id} />
    </>
  );
  return (
    <span class="acts">
      <ActButton
        label="Complete"
        onDone={onDone}
        question={{
          verb: "Complete",
          title: "Complete a withdrawal",
          consequence: (
            <>
              This records that you paid {money} to <QuotedText text={destination} /> for {account}.{" "}
              {describeRevocation(revokedAt)}
              {describeDebt(owed)}It cannot be undone.
            </>
          ),
          fields: [{ name: "payout_reference", label: "Reference of your payment" }],
          run: ({ fields, extras }) => {
            const body = { payout_reference: fields["payout_reference"] ?? "" };
            return relay.call("completeWithdrawal", { params, body }, extras);
          },
          describe: ({ status }) => `The withdrawal of ${money} is ${status}.`,
        }}
      />
      <ActButton
        label="Fail"
        onDone={onDone}
        question={{
          verb: "Fail",
          title: "Fail a withdrawal",
          consequence: (
            <>
              {money} goes back to {account}. Do this only if you have paid nothing out.
            </>
          ),
          run: ({ reason, extras }) =>
            relay.call("failWithdrawal", { params, body: { reason } }, extras),
          describe: () => (
            <>
              {money} is back in {account}.
            </>
          ),
        }}
      />
    </span>
  );
}
