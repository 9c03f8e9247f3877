import { RowTable } from "../../shared/components/page-table.tsx";
import { ForeignText, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { showDuration, showMoney } from "../../shared/format/show-amount.ts";
import { useNow } from "../../shared/relay/page-context.ts";
import type { ShownTask } from "./load-day.ts";

/** The open tasks of an agent, with the time left for each. */
export function OpenTaskTable({
  tasks,
  agentId,
}: {
  tasks: readonly ShownTask[];
  agentId: string;
}) {
  const now = useNow(1_000);
  return (
    <RowTable
      caption="Open tasks"
      rows={tasks}
      rowKey={({ task_id }) => task_id}
      tone={({ expires_at }) => (expires_at < now ? "doubt" : undefined)}
      empty="No task is open."
      columns={[
        { title: "Task", cell: ({ prompt }) => <ForeignText text={prompt} /> },
        { title: "State", cell: describeState },
        {
          title: "Role",
          cell: ({ submitted_by, assigned_to }) =>
            submitted_by === agentId ? (
              <>delegated to {assigned_to === null ? "–" : <ShortId id={assigned_to} />}</>
            ) : (
              <>working for {submitted_by === null ? "–" : <ShortId id={submitted_by} />}</>
            ),
        },
        {
          title: "Held",
          isNumber: true,
          cell: ({ amount_locked }) => showMoney(amount_locked),
        },
        { title: "Since", cell: ({ submitted_at }) => <TimeText at={submitted_at} /> },
        {
          title: "Time left",
          isNumber: true,
          cell: ({ expires_at }) => showDuration(Math.max(0, expires_at - now)),
        },
        { title: "Id", cell: ({ task_id }) => <ShortId id={task_id} /> },
      ]}
    />
  );
}

function describeState({ status, cancel_requested_at }: ShownTask): string {
  if (cancel_requested_at !== undefined) return "cancellation requested";
  return status === "claimed" ? "being worked on" : "waiting for its executor";
}
