import { RowTable } from "../../shared/components/page-table.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink, PeerLink } from "../subject-links.tsx";

const CHANNELS: Readonly<Record<string, string>> = {
  socket: "claimed by its device",
  mcp: "sent to its endpoint",
  peer: "forwarded to its relay",
};

/** The agents to which the task was assigned, in order, with the outcome of each assignment. */
export function ExecutorTable({ report }: { report: BodyOf<"getTaskReport"> }) {
  const { executors, deliveries } = report;
  const deliveryOf = (agentId: string) => deliveries.find(({ agent_id }) => agent_id === agentId);
  return (
    <section class="box">
      <h2>Executors</h2>
      <RowTable
        caption="Executors"
        rows={executors.map((executor, at) => ({ ...executor, at }))}
        rowKey={({ at }) => at}
        empty="No executor is recorded."
        tone={({ outcome }) => (["no_show", "expired"].includes(outcome) ? "bad" : undefined)}
        columns={[
          { title: "attempt", cell: ({ at }) => at + 1 },
          { title: "agent", cell: ({ agent_id }) => <AgentLink id={agent_id} /> },
          {
            title: "relay",
            cell: ({ relay_id }) => (relay_id === null ? "this relay" : <PeerLink id={relay_id} />),
          },
          { title: "price", isNumber: true, cell: ({ price }) => showMoney(price) },
          {
            title: "delivery",
            cell: ({ agent_id }) => {
              const delivery = deliveryOf(agent_id);
              if (delivery === undefined) return "not claimed";
              const way = CHANNELS[delivery.channel ?? ""] ?? "claimed";
              return delivery.attempts > 1 ? `${way}, ${delivery.attempts} times` : way;
            },
          },
          {
            title: "last claimed",
            cell: ({ agent_id }) => <TimeText at={deliveryOf(agent_id)?.last_at ?? null} />,
          },
          { title: "outcome", cell: ({ outcome }) => <StateWord state={outcome} /> },
        ]}
      />
    </section>
  );
}
