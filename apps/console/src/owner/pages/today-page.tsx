import type { ComponentChildren } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { Sparkline } from "../../shared/charts/sparkline.tsx";
import { ForeignText, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showCount } from "../../shared/format/show-text.ts";
import { browserEnvironment, usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer, useLoaded } from "../../shared/relay/use-answer.ts";
import { useOwnerContext } from "../owner-context.ts";
import { useVotableCount } from "../use-votable-approvals.ts";
import { createDayReader, type FailedTask, type LoadedDay } from "./load-day.ts";
import type { DaySummary } from "../views/summarize-day.ts";
import { OpenTaskTable } from "./open-task-table.tsx";

const EVERY_MS = 20_000;

/** Shows first what needs the owner's decision, then what the agent earned, spent and did since midnight. */
export function TodayPage() {
  const { relay } = usePageContext();
  const { agentId } = useOwnerContext().device;
  const readDay = useMemo(() => createDayReader(relay, agentId), [relay, agentId]);
  const load = useCallback(() => readDay(browserEnvironment.now()), [readDay]);
  const day = useLoaded(load, { everyMs: EVERY_MS });
  return (
    <>
      <NeedsYou failed={day.body?.failed.length ?? 0} />
      <AnswerView answer={day}>{(body) => <Day day={body} agentId={agentId} />}</AnswerView>
    </>
  );
}

/** Shows the matters that need the owner's decision, or that there are none. */
function NeedsYou({ failed }: { failed: number }) {
  const approvals = useVotableCount();
  return (
    <p class={approvals + failed > 0 ? "needs" : "needs calm"} role="status">
      {approvals > 0 && (
        <a href="#/approvals">
          {approvals} {approvals === 1 ? "call waits" : "calls wait"} for your vote
        </a>
      )}
      {failed > 0 && (
        <a href="#/" onClick={showFailed}>
          {failed} {failed === 1 ? "task has" : "tasks have"} failed today
        </a>
      )}
      {approvals + failed === 0 && "Nothing needs your attention."}
    </p>
  );
}

function showFailed(event: Event) {
  event.preventDefault();
  document.querySelector("#failed")?.scrollIntoView();
}

function Day({ day, agentId }: { day: LoadedDay; agentId: string }) {
  const { worked, ordered, failed, open, isCut } = day;
  const balance = useAnswer("getBalance", { params: { agentId } }, { everyMs: EVERY_MS });
  return (
    <>
      <ul class="tiles">
        <Card title="Earned today" value={showMoney(worked.earned)}>
          <Sparkline values={worked.earnedByHour} label="Earned per hour in US dollars" />
        </Card>
        <Card title="Spent today" value={showMoney(worked.spent)}>
          <small>{describeOrders(ordered)}</small>
        </Card>
        <Card title="Tasks done today" value={String(worked.done)}>
          <small>{worked.failed > 0 ? `${worked.failed} failed` : "none failed"}</small>
        </Card>
        <Card
          title="Balance now"
          value={balance.body === undefined ? "…" : showMoney(balance.body.balance)}
        >
          <small>{describeHold(balance.body?.pending_allocations)}</small>
        </Card>
      </ul>
      {isCut && (
        <p class="hint">
          There is more from today than this page reads, so the real sums may be higher.
        </p>
      )}
      <h2 id="failed">Failed today</h2>
      <FailedTable failed={failed} agentId={agentId} />
      <h2>Open tasks</h2>
      <OpenTaskTable tasks={open} agentId={agentId} />
    </>
  );
}

function Card({
  title,
  value,
  children,
}: {
  title: string;
  value: string;
  children: ComponentChildren;
}) {
  return (
    <li>
      <span>{title}</span>
      <strong>{value}</strong>
      {children}
    </li>
  );
}

function FailedTable({ failed, agentId }: { failed: readonly FailedTask[]; agentId: string }) {
  return (
    <RowTable
      caption="Failed tasks of today"
      rows={failed}
      rowKey={({ task }) => task.task_id}
      tone={() => "bad"}
      empty="No task has failed today."
      columns={[
        {
          title: "Why",
          cell: ({ reason, task }) => (
            <>
              <strong>{describeWho(reason.by, task.assigned_to === agentId)}</strong>{" "}
              <ForeignText text={reason.sentence} />
            </>
          ),
        },
        { title: "Task", cell: ({ task }) => <ShortId id={task.task_id} /> },
        {
          title: "For",
          cell: ({ task }) =>
            task.submitted_by === agentId ? "you" : <ShortId id={task.submitted_by ?? ""} />,
        },
        { title: "State", cell: ({ task }) => task.status },
        { title: "When", cell: ({ task }) => <TimeText at={task.submitted_at} /> },
      ]}
    />
  );
}

function describeOrders({ done, failed }: DaySummary): string {
  if (done + failed === 0) return "no tasks delegated to others";
  return `${showCount(done, "task")} done by others${failed > 0 ? `, ${failed} failed` : ""}`;
}

function describeHold(held: number | undefined): string {
  return held === undefined || held === 0
    ? "nothing held"
    : `and ${showMoney(held)} held for open tasks`;
}

function describeWho(by: "executor" | "relay", isOwn: boolean): string {
  if (by === "relay") return "Relay:";
  return isOwn ? "Your agent:" : "Executor:";
}
