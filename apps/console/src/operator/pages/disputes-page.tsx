import { FilterLinks } from "../../shared/components/filter-links.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import { IdCode, QuotedText, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { parseNumber } from "../../shared/format/parse-number.ts";
import { showDuration, showMoney, showPercent } from "../../shared/format/show-amount.ts";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { refuseLocally } from "../../shared/relay/refuse-locally.ts";
import { useNow, usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink, TaskLink } from "../subject-links.tsx";
import { useState } from "preact/hooks";

type Dispute = BodyOf<"listDisputes">["inspections"][number];

const inspectionsOf = (body: BodyOf<"listDisputes">) => body.inspections;

const STATES = [
  ["", "waiting for you"],
  ["all", "all inspections"],
  ["inspecting", "being inspected"],
  ["rejected", "rejected"],
  ["disputed", "disputed"],
  ["closed", "closed"],
] as const;

/** The disputes that the operator must decide, and all other inspections of results before their payment. */
export function DisputesPage() {
  const state = usePageContext().route.value.query.get("state") ?? "";
  return (
    <>
      <ViewTitle title="Disputes" />
      <FilterLinks name="state" label="Inspections" choices={STATES} />
      {state === "" ? <WaitingDisputes /> : <InspectionList key={state} state={state} />}
    </>
  );
}

/** The disputes that wait for the operator's decision, largest amount first. */
function WaitingDisputes() {
  const [version, setVersion] = useState(0);
  const loadPage = useListPages("listDisputes", {}, inspectionsOf);
  return (
    <>
      <p class="hint">
        A submitter rejected a result, its executor contested that, and no arbiter has decided. If
        you do not decide in time, the executor is paid the share halfway between full payment and
        the submitter's offer, and the relay states publicly that you did not decide.
      </p>
      <PageTable
        caption="Disputes"
        loadPage={loadPage}
        rules={{ version, on: ["task.", "money."] }}
        rowKey={({ task_id }) => task_id}
        empty="No dispute waits for you."
        columns={[
          { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
          { title: "submitter", cell: ({ submitter_id }) => <AgentLink id={submitter_id} /> },
          { title: "executor", cell: ({ executor_id }) => <AgentLink id={executor_id} /> },
          { title: "in dispute", isNumber: true, cell: ({ due }) => showMoney(due) },
          { title: "statements", cell: (dispute) => <Reasons dispute={dispute} /> },
          { title: "decide by", cell: ({ deadline }) => <TimeLeft until={deadline} /> },
          {
            title: "",
            cell: (dispute) => (
              <DecideButton dispute={dispute} onDone={() => setVersion((before) => before + 1)} />
            ),
          },
        ]}
      />
    </>
  );
}

/** Inspections of all agents, newest first; a task's page shows the statements of its parties. */
function InspectionList({ state }: { state: string }) {
  const query = state === "all" ? {} : { state };
  const loadPage = useListPages("listAllInspections", { query }, inspectionsOf);
  const relayId = useAnswer("relayInfo", {}).body?.relay_id;
  return (
    <PageTable
      caption="Inspections"
      loadPage={loadPage}
      rules={{ on: ["task.", "money."] }}
      rowKey={({ task_id }) => task_id}
      empty="No inspection is in this state."
      columns={[
        { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
        { title: "state", cell: (inspection) => <StateWord state={inspection.state} /> },
        { title: "submitter", cell: ({ submitter_id }) => <AgentLink id={submitter_id} /> },
        { title: "executor", cell: ({ executor_id }) => <AgentLink id={executor_id} /> },
        {
          title: "arbiter",
          cell: ({ arbiter_id }) =>
            arbiter_id === relayId ? "you" : <AgentLink id={arbiter_id} />,
        },
        { title: "due", isNumber: true, cell: ({ due }) => showMoney(due) },
        {
          title: "outcome",
          cell: ({ outcome }) =>
            outcome === null ? "open" : `${outcome.outcome}, ${showPercent(outcome.share)} paid`,
        },
        {
          title: "ends",
          cell: ({ deadline, outcome }) =>
            outcome === null ? <TimeLeft until={deadline} /> : <TimeText at={outcome.closed_at} />,
        },
      ]}
    />
  );
}

function Reasons({ dispute }: { dispute: Dispute }) {
  return (
    <>
      {dispute.verdicts.map(({ verdict, reason }, at) => (
        <p key={at}>
          {verdict}
          {typeof reason === "string" && reason !== "" ? (
            <>
              : <QuotedText text={reason} />
            </>
          ) : (
            ", without a reason"
          )}
        </p>
      ))}
    </>
  );
}

function TimeLeft({ until }: { until: number | null }) {
  const now = useNow(1_000);
  if (until === null) return <>–</>;
  return (
    <>
      <TimeText at={until} />, in {showDuration(until - now)}
    </>
  );
}

function DecideButton({ dispute, onDone }: { dispute: Dispute; onDone: () => void }) {
  const { relay } = usePageContext();
  const { agent_id: agentId, task_id: taskId, due, submitter_id, executor_id } = dispute;
  return (
    <ActButton
      label="Decide"
      onDone={onDone}
      question={{
        verb: "Decide",
        title: "Decide a dispute",
        consequence: (
          <>
            The executor <IdCode id={executor_id} /> is paid the share of {showMoney(due)} that you
            enter, and the rest goes back to the submitter <IdCode id={submitter_id} />. The relay
            signs your decision, and it is final.
          </>
        ),
        fields: [
          { name: "percent", label: "Share of the executor in percent", inputMode: "decimal" },
        ],
        run: async ({ reason, fields, extras }) => {
          const percent = parseNumber(fields["percent"]);
          if (percent === undefined || percent > 100) {
            return refuseLocally("The share must be a number from 0 to 100");
          }
          const body = { share: percent / 100, reason };
          return relay.call("decideDispute", { params: { agentId, taskId }, body }, extras);
        },
        describe: ({ outcome }) =>
          `The dispute is decided: the executor is paid ${showPercent(outcome?.share ?? 0)}.`,
      }}
    />
  );
}
