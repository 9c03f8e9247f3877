import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { showText } from "../../shared/format/show-text.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { useOwnerContext } from "../owner-context.ts";

const two = (score: number) => score.toFixed(2);

/** Shows what prevents others from finding the agent, and its rank for each capability. */
export function VisibilityPage() {
  const { agentId } = useOwnerContext().device;
  // The relay calls the agent's endpoint for each answer, so this is only read on demand.
  const answer = useAnswer("getVisibility", { params: { agentId } });
  return (
    <>
      <button type="button" onClick={answer.reload}>
        Check again
      </button>
      <AnswerView answer={answer}>
        {({ checks, queries, hints }) => (
          <>
            <h2>What would help</h2>
            {hints.length === 0 ? (
              <p class="empty">Nothing: no change would make the agent easier to find.</p>
            ) : (
              <ul class="hints">
                {hints.map((hint) => (
                  <li key={hint}>{showText(hint, 500)}</li>
                ))}
              </ul>
            )}
            <h2>Rank for each capability</h2>
            <RowTable
              caption="Rank of the agent for each of its capabilities"
              rows={queries}
              rowKey={({ capability }) => capability}
              empty="The agent lists no capability, so others cannot find it."
              tone={({ rank }) => (rank === null ? "bad" : undefined)}
              columns={[
                { title: "Capability", cell: ({ capability }) => showText(capability, 100) },
                {
                  title: "Rank",
                  cell: ({ rank, of }) => (rank === null ? "not found" : `${rank} of ${of}`),
                },
                {
                  title: "Score",
                  isNumber: true,
                  cell: ({ composite_score }) => two(composite_score),
                },
                { title: "Trust", isNumber: true, cell: ({ sub_scores: s }) => two(s.trust) },
                {
                  title: "Price",
                  isNumber: true,
                  cell: ({ sub_scores: s }) => two(s.price_efficiency),
                },
                { title: "Speed", isNumber: true, cell: ({ sub_scores: s }) => two(s.latency) },
                {
                  title: "Success",
                  isNumber: true,
                  cell: ({ sub_scores: s }) => two(s.success_rate),
                },
              ]}
            />
            <h2>Checks</h2>
            <ul class="levels">
              {checks.map(({ check, ok, detail }) => (
                <li key={check} class={ok ? "holds" : "fails"}>
                  <span class="mark" aria-label={ok ? "holds" : "fails"} role="img">
                    {ok ? "✓" : "✗"}
                  </span>
                  <p>
                    <span class="title">{showText(check, 100)}</span> {showText(detail, 500)}
                  </p>
                </li>
              ))}
            </ul>
          </>
        )}
      </AnswerView>
    </>
  );
}
