import { useCallback } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import type { RelayCaller } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useLoaded } from "../../shared/relay/use-answer.ts";
import { useOwnerContext } from "../owner-context.ts";
import { OpenTaskTable } from "./open-task-table.tsx";

const EVERY_MS = 10_000;

/** The tasks that the agent works on, and those whose results it waits for. */
export function WorkPage() {
  const { agentId } = useOwnerContext().device;
  return (
    <>
      <h2>Tasks that your agent works on</h2>
      <OpenTasks agentId={agentId} />
      <h2>Tasks that others work on for your agent</h2>
      <OpenTasks agentId={agentId} submittedBy="me" />
    </>
  );
}

function OpenTasks({ agentId, submittedBy }: { agentId: string; submittedBy?: "me" }) {
  const { relay } = usePageContext();
  const load = useCallback(
    () => loadOpen(relay, agentId, submittedBy),
    [relay, agentId, submittedBy],
  );
  const answer = useLoaded(load, { everyMs: EVERY_MS });
  return (
    <AnswerView answer={answer}>
      {({ tasks, isCut }) => (
        <>
          <OpenTaskTable tasks={tasks} agentId={agentId} />
          {isCut && <p class="hint">More tasks are open than are listed here.</p>}
        </>
      )}
    </AnswerView>
  );
}

async function loadOpen(relay: RelayCaller, agentId: string, submittedBy: "me" | undefined) {
  const params = { agentId };
  const asked = submittedBy === undefined ? {} : { submitted_by: submittedBy };
  const pages = await Promise.all(
    (["claimed", "pending"] as const).map((status) =>
      relay.call("listTasks", { params, query: { status, limit: 100, ...asked } }),
    ),
  );
  const refused = pages.find((page) => !page.ok);
  if (refused !== undefined && !refused.ok) return refused;
  const bodies = pages.flatMap((page) => (page.ok ? [page.body] : []));
  const isCut = bodies.some(({ next_cursor }) => next_cursor !== null);
  return { ok: true as const, body: { tasks: bodies.flatMap(({ tasks }) => tasks), isCut } };
}
