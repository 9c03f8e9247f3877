import { useCallback } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import {
  ForeignAddress,
  ForeignLine,
  ForeignText,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showCount } from "../../shared/format/show-text.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer, useLoaded } from "../../shared/relay/use-answer.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { StateWord } from "../state-word.tsx";
import { AccountLink } from "../subject-links.tsx";
import { AgentDevices } from "./agent-devices.tsx";
import { AgentAudit, AgentCredentials, AgentTrust, AgentTrustReceived } from "./agent-records.tsx";
import { findAgent, type ListedAgent } from "./find-agent.ts";
import { OnlineBox } from "./online-box.tsx";
import { VisibilityBox } from "./visibility-box.tsx";

/** One agent: whether it has problems, and everything that the relay knows about it. */
export function AgentPage({ id }: { id: string }) {
  const { relay } = usePageContext();
  const load = useCallback(() => findAgent(relay, id), [relay, id]);
  const answer = useLoaded(load, { on: ["agent.", "device.", "task."], about: id });
  return (
    <>
      <ViewTitle title="Agent" id={id} />
      <AnswerView answer={answer}>
        {(summary) =>
          summary === null ? (
            <p class="empty">
              No agent of this relay has this id. <AccountLink id={id} /> may be an account without
              an agent.
            </p>
          ) : (
            <KnownAgent summary={summary} />
          )
        }
      </AnswerView>
    </>
  );
}

function KnownAgent({ summary }: { summary: ListedAgent }) {
  const { agent_id, state } = summary;
  return (
    <>
      <AgentFacts summary={summary} />
      <OnlineBox agentId={agent_id} />
      <div class="columns">
        {state === "registered" ? (
          <>
            <VisibilityBox agentId={agent_id} />
            <AgentRegistration agentId={agent_id} />
          </>
        ) : (
          <p class="empty">It is not registered, so no search returns it.</p>
        )}
      </div>
      <AgentDevices agentId={agent_id} />
      <div class="columns">
        <AgentTrustReceived agentId={agent_id} />
        <AgentTrust agentId={agent_id} />
      </div>
      <AgentCredentials agentId={agent_id} count={summary.credentials} />
      <AgentAudit agentId={agent_id} />
    </>
  );
}

const describeOnline = (sockets: number) =>
  sockets === 0 ? "online without a socket" : `online with ${showCount(sockets, "socket")}`;

function AgentFacts({ summary }: { summary: ListedAgent }) {
  const { agent_id, name, state, online, sockets, open_tasks, failed_24h, balance } = summary;
  const { unreachable_at } = summary;
  return (
    <section class="box">
      <p class="claim">
        {name !== null && (
          <>
            <strong>
              <ForeignLine text={name} max={80} />
            </strong>
            {" · "}
          </>
        )}
        <StateWord state={state} /> ·{" "}
        {online ? <span class="good">{describeOnline(sockets)}</span> : "offline"}
      </p>
      {unreachable_at !== null && (
        <p class="bad">
          At <TimeText at={unreachable_at} /> the relay found no agent at this endpoint. It calls
          the endpoint again once the agent has been seen again.
        </p>
      )}
      <FactList
        facts={[
          ["first seen", <TimeText key="f" at={summary.first_seen_at} />],
          ["last seen", <TimeText key="l" at={summary.last_seen_at} />],
          [
            "open tasks",
            <a key="o" href={formatHashRoute(["tasks"], { agent: agent_id })}>
              {open_tasks}
            </a>,
          ],
          [
            "failed in 24 h",
            <a
              key="x"
              class={failed_24h > 0 ? "bad" : undefined}
              href={formatHashRoute(["tasks"], { agent: agent_id, failed: "1" })}
            >
              {failed_24h}
            </a>,
          ],
          [
            "account",
            <a key="b" href={formatHashRoute(["accounts", agent_id])}>
              {showMoney(balance)}
            </a>,
          ],
          [
            "tasks submitted",
            <a key="s" href={formatHashRoute(["tasks"], { submitter: agent_id })}>
              Show them{" "}
            </a>,
          ],
        ]}
      />
    </section>
  );
}

/** Shows the agent's own description in the registry. */
function AgentRegistration({ agentId }: { agentId: string }) {
  const agent = useAnswer("getAgent", { params: { agentId } });
  return (
    <section class="box">
      <h2>Registration and listing</h2>
      <AnswerView answer={agent}>
        {({ endpoint_url, metadata, freshness, trust_level, inspections, pricing }) => (
          <>
            <FactList
              facts={[
                [
                  "endpoint",
                  endpoint_url === null ? (
                    "none"
                  ) : (
                    <ForeignAddress key="u" address={endpoint_url} />
                  ),
                ],
                ["freshness", freshness],
                ["trust level for first-time delegators", trust_level.replace("_", " ")],
                ...(inspections === undefined
                  ? []
                  : [
                      [
                        "inspected results",
                        `${inspections.as_executor.closed}, lost ${inspections.as_executor.lost}`,
                      ] as const,
                    ]),
              ]}
            />
            {typeof metadata["description"] === "string" && (
              <p>
                <ForeignText text={metadata["description"]} />
              </p>
            )}
            <RowTable
              caption="Prices"
              rows={pricing}
              rowKey={({ capability }) => capability}
              empty="It lists no price, so its tasks are free."
              columns={[
                {
                  title: "capability",
                  cell: ({ capability }) => <ForeignLine text={capability} max={80} />,
                },
                { title: "price", isNumber: true, cell: ({ unit_cost }) => showMoney(unit_cost) },
                { title: "per", cell: ({ per }) => <ForeignLine text={per} max={30} /> },
              ]}
            />
          </>
        )}
      </AnswerView>
    </section>
  );
}
