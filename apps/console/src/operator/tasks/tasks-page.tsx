import { useCallback, useState } from "preact/hooks";
import type { RelayEvent } from "@agent/wire";
import { FilterLinks, GivenFilter } from "../../shared/components/filter-links.tsx";
import { PageTable, type TableColumn } from "../../shared/components/page-table.tsx";
import { ForeignLine, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showDuration, showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext, useRelayEvents } from "../../shared/relay/page-context.ts";
import { formatHashRoute, pickFilters } from "../../shared/routing/hash-route.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink, TaskLink } from "../subject-links.tsx";
import { readField } from "../../shared/format/read-field.ts";

type Listed = BodyOf<"listAllTasks">["tasks"][number];

const STATES = [
  ["", "all"],
  ["pending", "pending"],
  ["claimed", "claimed"],
  ["completed", "completed"],
  ["failed", "failed"],
  ["denied", "denied"],
  ["expired", "expired"],
  ["cancelled", "cancelled"],
] as const;

const columns: readonly TableColumn<Listed>[] = [
  { title: "when", cell: ({ submitted_at }) => <TimeText at={submitted_at} /> },
  { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
  { title: "state", cell: ({ status }) => <StateWord state={status} /> },
  { title: "from", cell: ({ submitted_by }) => <AgentLink id={submitted_by} /> },
  {
    title: "to",
    cell: ({ assigned_to, agent_id }) => <AgentLink id={assigned_to ?? agent_id} />,
  },
  {
    title: "capability",
    cell: ({ required_capabilities }) =>
      required_capabilities.length === 0 ? (
        "–"
      ) : (
        <ForeignLine text={required_capabilities.join(", ")} max={40} />
      ),
  },
  {
    title: "price",
    isNumber: true,
    cell: ({ settled, estimated_cost }) => showMoney(settled ?? estimated_cost),
  },
  {
    title: "duration",
    isNumber: true,
    cell: ({ duration_ms }) => (duration_ms === null ? "–" : showDuration(duration_ms)),
  },
  {
    title: "reason",
    cell: ({ reason }) =>
      reason === null ? (
        "–"
      ) : (
        <ForeignLine text={`${reason.code.replace("_", "-")}: ${reason.sentence}`} max={90} />
      ),
  },
];

const tasksOf = (body: BodyOf<"listAllTasks">) => body.tasks;

/** Lists tasks with their states and the reasons of failures. */
export function TasksPage() {
  const { route } = usePageContext();
  const { query } = route.value;
  const filter = pickFilters(query, ["state", "failed", "agent", "submitter", "q"]);
  return (
    <>
      <ViewTitle title="Tasks" />
      <div class="filters">
        <FilterLinks name="state" label="State" choices={STATES} />
        <FilterLinks
          name="failed"
          label="Outcome"
          choices={[
            ["", "any outcome"],
            ["1", "unsuccessful"],
          ]}
        />
        <TextFilter />
      </div>
      <GivenFilter name="agent" label="Only tasks of the agent" />
      <GivenFilter name="submitter" label="Only tasks submitted by" />
      <TaskList key={JSON.stringify(filter)} filter={filter} />
    </>
  );
}

function TextFilter() {
  const { query } = usePageContext().route.value;
  // Because of the key, the field shows the list's filter again after going back.
  const given = query.get("q") ?? "";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const q = readField(new FormData(event.currentTarget), "q");
        location.hash = formatHashRoute(["tasks"], { ...Object.fromEntries(query), q });
      }}
    >
      <label>
        Part of an id or a capability{" "}
        <input key={given} type="search" name="q" defaultValue={given} />
      </label>
    </form>
  );
}

/** Keeps the list unchanged while it is being read; changes are offered above it. */
function TaskList({ filter }: { filter: Readonly<Record<string, string>> }) {
  const [version, setVersion] = useState(0);
  const [added, setAdded] = useState(0);
  const [changed, setChanged] = useState(0);
  const count = useCallback(({ type }: RelayEvent) => {
    if (type === "task.submitted") setAdded((before) => before + 1);
    else setChanged((before) => before + 1);
  }, []);
  useRelayEvents(["task."], count);
  const loadPage = useListPages("listAllTasks", { query: filter }, tasksOf);
  const show = () => {
    setVersion(version + 1);
    setAdded(0);
    setChanged(0);
  };
  return (
    <>
      <p class="news" aria-live="polite">
        {added + changed > 0 && (
          <button type="button" class="small" onClick={show}>
            {added > 0 && `${added} new`}
            {added > 0 && changed > 0 && ", "}
            {changed > 0 && `${changed} changed`}: show
          </button>
        )}
      </p>
      <PageTable
        caption="Tasks"
        columns={columns}
        loadPage={loadPage}
        rules={{ version }}
        rowKey={({ task_id }) => task_id}
        empty={
          Object.keys(filter).length === 0
            ? "No task was submitted yet."
            : "No task matches these filters."
        }
        tone={({ reason }) => (reason === null ? undefined : "bad")}
      />
    </>
  );
}
