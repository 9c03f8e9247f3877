import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import {
  ForeignLine,
  ForeignText,
  ShortId,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showDuration, showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink, PeerLink, TaskLink } from "../subject-links.tsx";
import { describeEnd } from "./describe-end.ts";
import { EvidenceBox } from "./evidence-box.tsx";
import { ExecutorTable } from "./executor-table.tsx";
import { InspectionBox } from "./inspection-box.tsx";
import { RoutingBox } from "./routing-box.tsx";
import { TaskMoney } from "./task-money.tsx";
import { TaskTexts } from "./task-texts.tsx";
import { TaskTimeline } from "./task-timeline.tsx";

type Report = BodyOf<"getTaskReport">;

/** Shows what happened to a task, the deciding party, and where its money is. */
export function TaskPage({ id }: { id: string }) {
  const report = useAnswer(
    "getTaskReport",
    { params: { taskId: id } },
    { on: ["task.", "money."], about: id, minMs: 500 },
  );
  return (
    <>
      <ViewTitle title="Task" id={id} />
      <AnswerView answer={report}>{(body) => <TaskReport report={body} />}</AnswerView>
    </>
  );
}

const FINISHED = ["completed", "failed", "denied"];

function TaskReport({ report }: { report: Report }) {
  const { task, events, postings, hold } = report;
  const isFinished = FINISHED.includes(task.status);
  const isRouted = task.routing_choice !== null;
  const params = { agentId: task.agent_id, taskId: task.task_id };
  return (
    <>
      {task.reason !== null && <BadEnd report={report} />}
      <TaskFacts report={report} />
      <TaskTimeline events={events} submittedAt={task.submitted_at} endedAt={task.ended_at} />
      {task.acceptance !== undefined && task.status === "completed" && (
        <InspectionBox params={params} />
      )}
      <div class="columns">
        <section class="box">
          <h2>Receipts</h2>
          {isFinished ? (
            <EvidenceBox params={params} isSettled={task.settled !== null} />
          ) : (
            <p class="empty">There is no receipt: the task is {task.status}.</p>
          )}
        </section>
        <TaskMoney postings={postings} hold={hold} task={task} />
      </div>
      <ExecutorTable report={report} />
      {isRouted && <RoutingBox params={params} />}
      <TaskTexts taskId={task.task_id} />
    </>
  );
}

/** The reason of a failure: its text, its author, and what the operator can do. */
function BadEnd({ report }: { report: Report }) {
  const { task } = report;
  if (task.reason === null) return null;
  const { author, remedy } = describeEnd(task.reason.code);
  const executor = task.assigned_to ?? task.agent_id;
  return (
    <section class="bad-end" role="region" aria-label="Why the task did not succeed">
      <p class="reason">
        <strong>
          <ForeignText text={task.reason.sentence} />
        </strong>
      </p>
      <p>
        <code>{task.reason.code}</code>, stated by{" "}
        {author === "executor" ? (
          <>
            its executor <AgentLink id={executor} />, under its signature
          </>
        ) : (
          "this relay"
        )}
        . {remedy}
      </p>
    </section>
  );
}

function TaskFacts({ report }: { report: Report }) {
  const { task, parent_task_id, children, settlement_ids } = report;
  const took = task.duration_ms === null ? "still open" : showDuration(task.duration_ms);
  return (
    <section class="box">
      <p class="claim">
        <StateWord state={task.status} /> · {took} ·{" "}
        <AgentLink id={task.assigned_to ?? task.agent_id} /> for{" "}
        <AgentLink id={task.submitted_by} /> ·{" "}
        {task.settled === null
          ? `${showMoney(task.estimated_cost)} at most`
          : `${showMoney(task.settled)} paid`}
      </p>
      <FactList
        facts={[
          ["submitted", <TimeText key="at" at={task.submitted_at} />],
          [
            "required capabilities",
            task.required_capabilities.length === 0 ? (
              "none"
            ) : (
              <ForeignLine key="c" text={task.required_capabilities.join(", ")} max={120} />
            ),
          ],
          ["expires", <TimeText key="e" at={task.expires_at} />],
          ["requested agent", <AgentLink key="a" id={task.agent_id} />],
          ...(parent_task_id === null
            ? []
            : [["subtask of", <TaskLink key="p" id={parent_task_id} />] as const]),
          ...(children.length === 0
            ? []
            : [["subtasks", children.map((each) => <TaskLink key={each} id={each} />)] as const]),
          ...(settlement_ids.length === 0
            ? []
            : [
                [
                  "settlements",
                  settlement_ids.map((each) => <ShortId key={each} id={each} />),
                ] as const,
              ]),
        ]}
      />
      {report.executors.some(({ relay_id }) => relay_id !== null) && (
        <p>
          Forwarded to{" "}
          {report.executors.flatMap(({ relay_id }) =>
            relay_id === null ? [] : [<PeerLink key={relay_id} id={relay_id} />],
          )}
          .
        </p>
      )}
    </section>
  );
}
