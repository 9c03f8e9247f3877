import { useCallback, useMemo } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { LineChart } from "../../shared/charts/line-chart.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { SaveStatement } from "../../shared/components/save-statement.tsx";
import { ForeignLine, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showCount } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer, useLoaded } from "../../shared/relay/use-answer.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { findAgent } from "../agents/find-agent.ts";
import { AgentLink } from "../subject-links.tsx";
import { DepositButton } from "./deposit-button.tsx";
import { loadStatement, type Statement } from "./load-statement.ts";

/** The account of a busy agent changes every second, and its statement can have several pages. */
const MIN_MS = 30_000;

/** An account: its balance, the balance over time, and every movement. */
export function StatementPage({ id }: { id: string }) {
  const request = { params: { agentId: id } };
  const rules = { on: ["money.", "withdrawal."], about: id, minMs: MIN_MS };
  const balance = useAnswer("getBalance", request, rules);
  const { relay } = usePageContext();
  const load = useCallback(() => loadStatement(relay, id), [relay, id]);
  const statement = useLoaded(load, rules);
  return (
    <>
      <ViewTitle title="Account" id={id}>
        <DepositButton agentId={id} />
      </ViewTitle>
      <AnswerView answer={balance}>
        {(body) => (
          <>
            <AccountOwner id={id} hasMoved={body.transactions.length > 0} />
            <p>
              {showMoney(body.balance)} now, {showMoney(body.pending_allocations)} held,{" "}
              {showMoney(body.pending_withdrawals)} to be paid out.
            </p>
          </>
        )}
      </AnswerView>
      {/* A statement that is too long is refused, and must not hide the movements. */}
      <AnswerView answer={statement}>{(body) => <StatementChart statement={body} />}</AnswerView>
      <SaveStatement agentId={id} />
      <Movements id={id} />
    </>
  );
}

/** An id with a typing error must not look like an agent's account without movements. */
function AccountOwner({ id, hasMoved }: { id: string; hasMoved: boolean }) {
  const { relay } = usePageContext();
  const load = useCallback(() => findAgent(relay, id), [relay, id]);
  const answer = useLoaded(load, { on: ["agent."], about: id });
  return (
    <AnswerView answer={answer}>
      {(agent) =>
        agent !== null ? (
          <p>
            The account of agent <AgentLink id={id} />.
          </p>
        ) : (
          <p class="doubt">
            {id.startsWith("x402:")
              ? "This is the account of a wallet, not of an agent."
              : hasMoved
                ? "No agent has this id yet. The money will belong to the agent that binds the id."
                : "No agent has this id, and no money has ever moved on its account."}
          </p>
        )
      }
    </AnswerView>
  );
}

function StatementChart({ statement }: { statement: Statement }) {
  const { transactions, opening_balance, closing_balance } = statement;
  const times = useMemo(() => transactions.map(({ created_at }) => created_at), [transactions]);
  const lines = useMemo(
    () => [
      {
        label: "balance",
        color: "link",
        values: transactions.map(({ balance_after }) => balance_after),
      },
    ],
    [transactions],
  );
  return (
    <>
      <p>
        {showMoney(opening_balance)} at the start, {showMoney(closing_balance)} at the end of{" "}
        {showCount(transactions.length, "movement")}.
      </p>
      {times.length > 1 && (
        <LineChart label="Balance" times={times} lines={lines} show={showMoney} />
      )}
    </>
  );
}

const movementsOf = (body: BodyOf<"listTransactions">) => body.transactions;

function Movements({ id }: { id: string }) {
  const loadPage = useListPages("listTransactions", { params: { agentId: id } }, movementsOf);
  return (
    <PageTable
      caption="Movements, newest first"
      loadPage={loadPage}
      rules={{ on: ["money.", "withdrawal."], about: id }}
      rowKey={({ transaction_id }) => transaction_id}
      empty="No money has moved."
      columns={[
        { title: "when", cell: ({ created_at }) => <TimeText at={created_at} /> },
        { title: "movement", cell: ({ type }) => type.replaceAll("_", " ") },
        { title: "amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
        {
          title: "balance",
          isNumber: true,
          cell: ({ balance_after }) => showMoney(balance_after),
        },
        {
          title: "for",
          cell: ({ reference_id, description }) => (
            <>
              {reference_id !== null && <ForeignLine text={reference_id} max={60} />}{" "}
              {description !== null && <ForeignLine text={description} max={60} />}
            </>
          ),
        },
      ]}
    />
  );
}
