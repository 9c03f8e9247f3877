import { useState } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { FilterLinks } from "../../shared/components/filter-links.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, IdCode, TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { StateWord } from "../state-word.tsx";
import { PeerLink, TaskLink } from "../subject-links.tsx";

type Entry = BodyOf<"listOutbox">["settlements"][number];

const settlementsOf = (body: BodyOf<"listOutbox">) => body.settlements;

const STATES = [
  ["", "all"],
  ["failed", "failed"],
  ["pending", "pending"],
  ["completed", "completed"],
] as const;

/** Settlements that are being sent to other relays, with their attempts. */
export function OutboxTable() {
  const { query } = usePageContext().route.value;
  const [version, setVersion] = useState(0);
  const again = () => setVersion((before) => before + 1);
  const state = query.get("state") ?? "";
  const filter = state === "" ? {} : { state };
  const loadPage = useListPages("listOutbox", { query: filter }, settlementsOf);
  return (
    <section class="box">
      <h2>Settlements to other relays</h2>
      <FilterLinks name="state" label="State" choices={STATES} />
      <PageTable
        key={state}
        caption="Settlements to other relays"
        loadPage={loadPage}
        rules={{ version, on: ["money.", "peer."] }}
        rowKey={({ settlement_id }) => settlement_id}
        empty={
          state === "" ? "No settlement has been sent yet." : "No settlement is in this state."
        }
        tone={(entry) => (entry.state === "failed" && !entry.refunded ? "bad" : undefined)}
        columns={[
          { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
          { title: "to", cell: ({ relay_id }) => <PeerLink id={relay_id} /> },
          { title: "amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
          { title: "state", cell: (entry) => <EntryState entry={entry} /> },
          { title: "attempts", isNumber: true, cell: ({ attempts }) => attempts },
          {
            title: "next attempt",
            cell: ({ next_attempt_at }) => <TimeText at={next_attempt_at} />,
          },
          {
            title: "last error",
            cell: ({ last_error }) =>
              last_error === null ? "–" : <ForeignLine text={last_error} max={80} />,
          },
          { title: "", cell: (entry) => <OutboxActs entry={entry} onDone={again} /> },
        ]}
      />
    </section>
  );
}

function EntryState({ entry: { state, refunded } }: { entry: Entry }) {
  return refunded ? <>given up, refunded</> : <StateWord state={state} />;
}

function OutboxActs({ entry, onDone }: { entry: Entry; onDone: () => void }) {
  const { relay } = usePageContext();
  const { settlement_id: settlementId, amount, relay_id, state, refunded } = entry;
  if (state === "completed" || refunded) return null;
  const params = { settlementId };
  const money = showMoney(amount);
  const peer = (
    <>
      relay <IdCode id={relay_id} />
    </>
  );
  return (
    <span class="acts">
      <ActButton
        label="Retry"
        onDone={onDone}
        question={{
          verb: "Retry",
          title: "Retry a settlement",
          consequence: (
            <>
              The settlement of {money} is sent to {peer} again, at once. It is paid only once.
            </>
          ),
          run: ({ extras }) => relay.call("retryOutbox", { params }, extras),
          describe: ({ state: next }) => `The settlement is ${next}.`,
        }}
      />
      {state === "failed" && (
        <ActButton
          label="Give up"
          onDone={onDone}
          question={{
            verb: "Give up",
            title: "Give up a settlement",
            consequence: (
              <>
                {money} goes back to the payer. The {peer} is not paid for work that it did, and may
                record that as a default of this relay.
              </>
            ),
            typedWord: "give up",
            run: ({ reason, extras }) =>
              relay.call("giveUpOutbox", { params, body: { reason } }, extras),
            describe: () => `${money} went back to the payer.`,
          }}
        />
      )}
    </span>
  );
}
