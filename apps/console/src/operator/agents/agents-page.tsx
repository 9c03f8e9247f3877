import { FilterLinks, GivenFilter } from "../../shared/components/filter-links.tsx";
import { PageTable, type TableColumn } from "../../shared/components/page-table.tsx";
import { ForeignLine, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showCount } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { formatHashRoute, pickFilters } from "../../shared/routing/hash-route.ts";
import { StateWord } from "../state-word.tsx";
import { AccountLink, AgentLink } from "../subject-links.tsx";
import type { ListedAgent } from "./find-agent.ts";

const columns: readonly TableColumn<ListedAgent>[] = [
  { title: "agent", cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
  {
    title: "name",
    cell: ({ name }) => (name === null ? "–" : <ForeignLine text={name} max={40} />),
  },
  { title: "state", cell: ({ state }) => <StateWord state={state} /> },
  {
    title: "online",
    cell: ({ online, sockets }) =>
      online ? <span class="good">online, {showCount(sockets, "socket")}</span> : "offline",
  },
  {
    title: "capabilities",
    cell: ({ capabilities }) =>
      capabilities.length === 0 ? "–" : <ForeignLine text={capabilities.join(", ")} max={60} />,
  },
  { title: "open tasks", isNumber: true, cell: ({ open_tasks }) => open_tasks },
  {
    title: "failed in 24 h",
    isNumber: true,
    cell: ({ agent_id, failed_24h }) =>
      failed_24h === 0 ? (
        0
      ) : (
        <a class="bad" href={formatHashRoute(["tasks"], { agent: agent_id, failed: "1" })}>
          {failed_24h}
        </a>
      ),
  },
  {
    title: "balance",
    isNumber: true,
    cell: ({ agent_id, balance }) => (
      <>
        {showMoney(balance)} <AccountLink id={agent_id} />
      </>
    ),
  },
  { title: "last seen", cell: ({ last_seen_at }) => <TimeText at={last_seen_at} /> },
];

const agentsOf = (body: BodyOf<"listAllAgents">) => body.agents;

const CHOICES = {
  state: [
    ["", "all"],
    ["registered", "registered"],
    ["bound", "bound, not registered"],
    ["revoked", "revoked"],
  ],
  sort: [
    ["", "by id"],
    ["seen", "last seen first"],
  ],
} as const;

/** Every agent that ever bound a key at this relay. */
export function AgentsPage() {
  const { query } = usePageContext().route.value;
  const filter = pickFilters(query, ["state", "sort", "q"]);
  return (
    <>
      <ViewTitle title="Agents" />
      <div class="filters">
        <FilterLinks name="state" label="State" choices={CHOICES.state} />
        <FilterLinks name="sort" label="Order" choices={CHOICES.sort} />
      </div>
      <GivenFilter name="q" label="Only agents that match" />
      <AgentList key={JSON.stringify(filter)} filter={filter} />
    </>
  );
}

function AgentList({ filter }: { filter: Readonly<Record<string, string>> }) {
  const loadPage = useListPages("listAllAgents", { query: filter }, agentsOf);
  return (
    <PageTable
      caption="Agents"
      columns={columns}
      loadPage={loadPage}
      rules={{ on: ["agent.", "key."] }}
      rowKey={({ agent_id }) => agent_id}
      empty={
        filter["state"] === undefined && filter["q"] === undefined
          ? "No agent has joined yet. An agent joins by its first call, without your help."
          : "No agent matches these filters."
      }
      tone={({ state }) => (state === "revoked" ? "bad" : undefined)}
    />
  );
}
