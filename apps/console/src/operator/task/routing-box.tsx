import type { RoutingRecord } from "@agent/routing-semiring";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { loadLater } from "../../shared/components/load-later.tsx";
import { useAnswer } from "../../shared/relay/use-answer.ts";

/** The layout of the graph needs a large library, so it is loaded separately. */
const ReplayedRouting = loadLater(async () => {
  const file = await import("./replayed-routing.tsx");
  return file.ReplayedRouting;
});

/** Explains the choice of the executor: the recorded candidates, scored again in this browser. */
export function RoutingBox({
  params,
}: {
  params: { readonly agentId: string; readonly taskId: string };
}) {
  const routing = useAnswer("getRouting", { params });
  return (
    <section class="box">
      <h2>Why this executor?</h2>
      <AnswerView answer={routing}>
        {(record) =>
          typeof record !== "string" && (
            <ReplayedRouting record={record as unknown as RoutingRecord} />
          )
        }
      </AnswerView>
    </section>
  );
}
