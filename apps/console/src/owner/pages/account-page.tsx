import { useState } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { SaveStatement } from "../../shared/components/save-statement.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { type ReloadRules, useAnswer } from "../../shared/relay/use-answer.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { useOwnerContext } from "../owner-context.ts";
import { useOwnScopes } from "../use-own-scopes.ts";
import { WithdrawalForm } from "./withdrawal-form.tsx";

const EVERY_MS = 20_000;

/** The agent's account: its balance, every movement, and its withdrawals. */
export function AccountPage() {
  const { agentId } = useOwnerContext().device;
  const [version, setVersion] = useState(0);
  const rules = { everyMs: EVERY_MS, version };
  const balance = useAnswer("getBalance", { params: { agentId } }, rules);
  return (
    <>
      <AnswerView answer={balance}>
        {(body) => (
          <FactList
            facts={[
              ["Balance", showMoney(body.balance)],
              ["Held for open tasks", showMoney(body.pending_allocations)],
              ["Pending withdrawals", showMoney(body.pending_withdrawals)],
              ...(body.card_held === undefined || body.card_held === 0
                ? []
                : [
                    [
                      "Paid in by card, cannot be withdrawn yet",
                      showMoney(body.card_held),
                    ] as const,
                  ]),
            ]}
          />
        )}
      </AnswerView>
      <h2>Statement</h2>
      <SaveStatement agentId={agentId} />
      <Movements agentId={agentId} rules={rules} />
      <h2>Withdrawals</h2>
      <Withdrawals agentId={agentId} rules={rules} onRequested={() => setVersion(version + 1)} />
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  deposit: "deposit",
  withdrawal: "withdrawal",
  allocation_hold: "held for a task",
  allocation_release: "returned from a hold",
  settlement_debit: "paid for a task",
  settlement_credit: "earned by a task",
  fee: "fee",
};

const getTransactions = ({ transactions }: BodyOf<"listTransactions">) => transactions;
const getWithdrawals = ({ withdrawals }: BodyOf<"listWithdrawals">) => withdrawals;

interface ListProps {
  readonly agentId: string;
  /** The lists are read together with the balance above them. */
  readonly rules: ReloadRules;
}

function Movements({ agentId, rules }: ListProps) {
  const loadPage = useListPages("listTransactions", { params: { agentId } }, getTransactions);
  return (
    <PageTable
      caption="Movements of the account, newest first"
      loadPage={loadPage}
      rules={rules}
      rowKey={({ transaction_id }) => transaction_id}
      empty="The account has no movements yet."
      columns={[
        { title: "When", cell: ({ created_at }) => <TimeText at={created_at} /> },
        { title: "Movement", cell: ({ type }) => WORDS[type] ?? type },
        {
          title: "For",
          cell: ({ reference_id, description }) => (
            <>
              {reference_id !== null && <ShortId id={reference_id} />}{" "}
              {description !== null && <ForeignLine text={description} />}
            </>
          ),
        },
        { title: "Amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
        { title: "Balance", isNumber: true, cell: ({ balance_after }) => showMoney(balance_after) },
      ]}
    />
  );
}

function Withdrawals({
  agentId,
  rules,
  onRequested,
}: ListProps & { readonly onRequested: () => void }) {
  const mayWithdraw = useOwnScopes()?.includes("account:write");
  const loadPage = useListPages("listWithdrawals", { params: { agentId } }, getWithdrawals);
  return (
    <>
      {mayWithdraw === true && <WithdrawalForm agentId={agentId} onDone={onRequested} />}
      {mayWithdraw === false && (
        <p class="hint">
          This browser can only read the account. To withdraw here, pair it again with{" "}
          <code>agent-server pair --allow-withdrawals</code>.
        </p>
      )}
      <PageTable
        caption="Withdrawals, newest first"
        loadPage={loadPage}
        rules={rules}
        rowKey={({ withdrawal_id }) => withdrawal_id}
        empty="Nothing has been withdrawn yet."
        tone={({ status }) => (status === "failed" ? "bad" : undefined)}
        columns={[
          { title: "When", cell: ({ created_at }) => <TimeText at={created_at} /> },
          { title: "Amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
          { title: "To", cell: ({ destination }) => <ForeignLine text={destination} /> },
          {
            title: "State",
            cell: ({ status, reason }) => (
              <>
                {status} {reason !== null && <ForeignLine text={reason} max={120} />}
              </>
            ),
          },
          {
            title: "Payment reference",
            cell: ({ payout_reference }) =>
              payout_reference === null ? "–" : <ForeignLine text={payout_reference} />,
          },
        ]}
      />
    </>
  );
}
