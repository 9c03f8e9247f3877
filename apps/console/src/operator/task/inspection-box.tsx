import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import { ForeignText, TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney, showPercent } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { StateWord } from "../state-word.tsx";
import { AgentLink } from "../subject-links.tsx";

type Inspection = BodyOf<"getInspection">;

/**
 * The inspection of a result before it is paid: its statements, and the deadline of the next one.
 */
export function InspectionBox({
  params,
}: {
  params: { readonly agentId: string; readonly taskId: string };
}) {
  const inspection = useAnswer(
    "getInspection",
    { params },
    { on: ["task.", "money."], about: params.taskId },
  );
  if (inspection.refusal?.code === "inspection.not_found") return null;
  return (
    <section class="box">
      <h2>Inspection before payment</h2>
      <AnswerView answer={inspection}>{(body) => <InspectionFacts inspection={body} />}</AnswerView>
    </section>
  );
}

function InspectionFacts({ inspection }: { inspection: Inspection }) {
  const { state, due, fee, submitter_id, executor_id, arbiter_id, deadline, outcome } = inspection;
  return (
    <>
      <FactList
        facts={[
          ["state", <StateWord key="s" state={state} />],
          ["due", `${showMoney(due)}, and ${showMoney(fee)} as the fee of a dispute`],
          ["submitter", <AgentLink key="d" id={submitter_id} />],
          ["executor", <AgentLink key="e" id={executor_id} />],
          ["arbiter", <AgentLink key="a" id={arbiter_id} />],
          ["deadline", <TimeText key="t" at={deadline} />],
          ...(outcome === null
            ? []
            : [
                ["outcome", `${outcome.outcome}, ${showPercent(outcome.share)} paid`] as const,
                ["closed", <TimeText key="c" at={outcome.closed_at} />] as const,
              ]),
        ]}
      />
      <ol class="statements">
        {[
          ...inspection.verdicts,
          ...(inspection.decision === null ? [] : [inspection.decision]),
        ].map((statement, at) => (
          <li key={at}>
            <SignedStatement statement={statement} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** One signed statement of a party; its reason is untrusted text. */
function SignedStatement({ statement }: { statement: Readonly<Record<string, unknown>> }) {
  const { verdict, share, reason, issuer, agent_id } = statement;
  const author = typeof agent_id === "string" ? agent_id : issuer;
  return (
    <>
      {typeof author === "string" && <AgentLink id={author} />}{" "}
      <b>
        {typeof verdict === "string"
          ? verdict
          : typeof share === "number"
            ? `decided ${showPercent(share)}`
            : "said"}
      </b>
      {typeof reason === "string" && reason !== "" && (
        <>
          : <ForeignText text={reason} />
        </>
      )}
    </>
  );
}
