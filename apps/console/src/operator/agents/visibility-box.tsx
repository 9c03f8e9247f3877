import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { ForeignLine, ForeignText } from "../../shared/components/foreign-text.tsx";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { summarizeVisibility, type VisibilitySummary } from "./summarize-visibility.ts";

/** Shows whether others can find the agent, and what to correct if they cannot. */
export function VisibilityBox({ agentId }: { agentId: string }) {
  const visibility = useAnswer("getVisibility", { params: { agentId } });
  return (
    <section class="box">
      <h2>Can others find it?</h2>
      <AnswerView answer={visibility}>
        {({ checks, queries, hints }) => (
          <>
            <Summary {...summarizeVisibility({ checks, hints })} />
            <ul class="checks">
              {checks.map(({ check, ok, detail }) => (
                <li key={check} class={ok ? "holds" : "fails"}>
                  <span class="mark" aria-hidden="true">
                    {ok ? "✓" : "✗"}
                  </span>{" "}
                  <b>{check.replaceAll("_", " ")}</b>: <ForeignText text={detail} />
                </li>
              ))}
            </ul>
            {hints.length > 0 && <h3>What would help</h3>}
            <ul class="hints">
              {hints.map((hint) => (
                <li key={hint}>
                  <ForeignText text={hint} />
                </li>
              ))}
            </ul>
            <RowTable
              caption="Its rank for each capability"
              rows={queries}
              rowKey={({ capability }) => capability}
              empty="It offers no capability."
              columns={[
                {
                  title: "capability",
                  cell: ({ capability }) => <ForeignLine text={capability} max={60} />,
                },
                {
                  title: "rank",
                  isNumber: true,
                  cell: ({ rank, of }) => (rank === null ? "not found" : `${rank} of ${of}`),
                },
                {
                  title: "score",
                  isNumber: true,
                  cell: ({ composite_score }) => composite_score.toFixed(3),
                },
              ]}
            />
          </>
        )}
      </AnswerView>
    </section>
  );
}

function Summary({ tone, text }: VisibilitySummary) {
  return (
    <p class={tone}>
      <strong>{text}</strong>
    </p>
  );
}
