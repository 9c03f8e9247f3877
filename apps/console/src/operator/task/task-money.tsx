import { RowTable } from "../../shared/components/page-table.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney, sumMoney } from "../../shared/format/show-amount.ts";
import { showLine } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { AccountLink } from "../subject-links.tsx";

const PURPOSES: Readonly<Record<string, string>> = {
  inspected: "while the result is inspected",
  awaiting_peer: "until the other relay has settled",
};

type Report = BodyOf<"getTaskReport">;

/** Every movement of the task's money, with both sides of each, so that they add up to zero. */
export function TaskMoney({ postings, hold, task }: Pick<Report, "postings" | "hold" | "task">) {
  const sum = sumMoney(postings.map(({ amount }) => amount));
  return (
    <section class="box">
      <h2>Money</h2>
      {hold !== null && (
        <p>
          {showMoney(hold.amount)} is held {PURPOSES[hold.state] ?? "for this task"}
          {hold.until !== null && (
            <>
              , until <TimeText at={hold.until} />
            </>
          )}
          .
        </p>
      )}
      <RowTable
        caption="Movements of the task's money"
        rows={postings}
        rowKey={({ transaction_id, account }) => `${transaction_id} ${account}`}
        empty={task.estimated_cost === 0 ? "The task costs nothing." : "No money has moved."}
        columns={[
          { title: "account", cell: ({ account }) => <AccountName account={account} /> },
          { title: "movement", cell: ({ type }) => type.replaceAll("_", " ") },
          { title: "amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
        ]}
      />
      {postings.length > 0 && (
        <p class={sum === 0 ? "good sum" : "bad sum"}>
          {sum === 0 ? "✓ they add up to 0.00 USD" : `✗ they add up to ${showMoney(sum)}, not to 0`}
        </p>
      )}
    </section>
  );
}

/** The kind of an account in one word, and its owner. */
function AccountName({ account }: { account: string }) {
  const [kind = "", ...rest] = account.split(":");
  const id = rest.join(":");
  if (id === "") return <>{showLine(account, 40)}</>;
  return (
    <>
      {showLine(kind, 20)}{" "}
      {kind === "agent" ? <AccountLink id={id} /> : `…${showLine(id.slice(-8), 8)}`}
    </>
  );
}
