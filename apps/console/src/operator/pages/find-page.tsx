import { useCallback, useEffect } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, TimeText, WholeId } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showLine } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer, useLoaded } from "../../shared/relay/use-answer.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { findAgent } from "../agents/find-agent.ts";
import { StateWord } from "../state-word.tsx";
import { AccountLink, TaskLink } from "../subject-links.tsx";
import { findPlace } from "./find-place.ts";

const MAX_FOUND = 10;

/** The tasks and agents whose ids, names or capabilities contain a text. */
export function FindPage() {
  const { query } = usePageContext().route.value;
  const q = query.get("q") ?? "";
  return <Found key={q} q={q} />;
}

function Found({ q }: { q: string }) {
  const request = { query: { q, limit: MAX_FOUND } };
  const tasks = useAnswer("listAllTasks", request);
  const agents = useAnswer("listAllAgents", request);
  const place = usePlace(q, tasks.body, agents.body);
  // A search for an id opens its page without another entry in the browser's history.
  useEffect(() => {
    if (place !== undefined) location.replace(place);
  }, [place]);
  return (
    <>
      <ViewTitle title={`Find ${showLine(q, 40)}`} />
      <section class="box">
        <h2>Tasks</h2>
        <AnswerView answer={tasks}>
          {(body) => (
            <>
              <RowTable
                caption="Tasks found"
                rows={body.tasks}
                rowKey={({ task_id }) => task_id}
                empty="No task has this text in its id, its agents or its capabilities."
                columns={[
                  { title: "task", cell: ({ task_id }) => <TaskLink id={task_id} /> },
                  { title: "state", cell: ({ status }) => <StateWord state={status} /> },
                  { title: "when", cell: ({ submitted_at }) => <TimeText at={submitted_at} /> },
                ]}
              />
              <MoreLink list="tasks" q={q} next={body.next_cursor} />
            </>
          )}
        </AnswerView>
      </section>
      <section class="box">
        <h2>Agents</h2>
        <AnswerView answer={agents}>
          {(body) => (
            <>
              <RowTable
                caption="Agents found"
                rows={body.agents}
                rowKey={({ agent_id }) => agent_id}
                empty="No agent has this text in its id, its name or its capabilities."
                columns={[
                  {
                    title: "agent",
                    cell: ({ agent_id }) => (
                      <WholeId id={agent_id} href={formatHashRoute(["agents", agent_id])} />
                    ),
                  },
                  {
                    title: "name",
                    cell: ({ name }) => (name === null ? "–" : <ForeignLine text={name} />),
                  },
                  { title: "account", cell: ({ agent_id }) => <AccountLink id={agent_id} /> },
                ]}
              />
              <MoreLink list="agents" q={q} next={body.next_cursor} />
            </>
          )}
        </AnswerView>
      </section>
    </>
  );
}

/** Links to the whole list, because others may use names and ids that resemble the wanted one. */
function MoreLink({ list, q, next }: { list: "tasks" | "agents"; q: string; next: string | null }) {
  if (next === null) return null;
  return (
    <p>
      These are the first {MAX_FOUND}. <a href={formatHashRoute([list], { q })}>Show all {list}</a>
    </p>
  );
}

/** Returns the page of the task or agent that a text names; undefined until it is known, or if none is named. */
function usePlace(
  q: string,
  tasks: BodyOf<"listAllTasks"> | undefined,
  agents: BodyOf<"listAllAgents"> | undefined,
): string | undefined {
  const { relay } = usePageContext();
  const load = useCallback(() => findAgent(relay, q), [relay, q]);
  const named = useLoaded(load).body ?? null;
  if (named !== null) return formatHashRoute(["agents", named.agent_id]);
  if (tasks === undefined || agents === undefined) return undefined;
  return findPlace(q, {
    tasks: { ids: tasks.tasks.map(({ task_id }) => task_id), isCut: tasks.next_cursor !== null },
    agents: {
      ids: agents.agents.map(({ agent_id }) => agent_id),
      isCut: agents.next_cursor !== null,
    },
  });
}
