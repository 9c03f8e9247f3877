import { PageTable } from "../../shared/components/page-table.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showDuration, showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { useNow } from "../../shared/relay/page-context.ts";
import { AgentLink, TaskLink } from "../subject-links.tsx";

const holdsOf = (body: BodyOf<"listHolds">) => body.holds;

const PURPOSES: Readonly<Record<string, string>> = {
  open: "the task",
  inspected: "its inspection",
  bond: "the executor's bond",
  awaiting_peer: "another relay, which must settle",
};

/** Money that is reserved for tasks, oldest first, with the time until the hold expires. */
export function HoldsTable() {
  const loadPage = useListPages("listHolds", {}, holdsOf);
  return (
    <>
      <h2>Held for tasks, oldest first</h2>
      <PageTable
        caption="Holds"
        loadPage={loadPage}
        rules={{ on: ["task.", "money."] }}
        rowKey={({ task_id, state }) => `${task_id} ${state}`}
        empty="No money is held."
        columns={[
          { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
          { title: "payer", cell: ({ payer_id }) => <AgentLink id={payer_id} /> },
          { title: "for", cell: ({ state }) => PURPOSES[state] ?? state },
          { title: "amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
          { title: "since", cell: ({ since }) => <TimeText at={since} /> },
          {
            title: "ends",
            cell: ({ until }) =>
              until === null ? "when the other relay answers" : <Countdown until={until} />,
          },
        ]}
      />
    </>
  );
}

function Countdown({ until }: { until: number }) {
  const leftMs = until - useNow(1_000);
  return <>{leftMs <= 0 ? "now" : `in ${showDuration(leftMs)}`}</>;
}
