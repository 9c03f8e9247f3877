import { useCallback } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { loadLater } from "../../shared/components/load-later.tsx";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer, useLoaded } from "../../shared/relay/use-answer.ts";

/** The verifier is the largest part of this page, so it is loaded separately. */
const VerifiedEvidence = loadLater(async () => {
  const file = await import("./verified-evidence.tsx");
  return file.VerifiedEvidence;
});

interface TaskParams {
  readonly agentId: string;
  readonly taskId: string;
}

/** The signed evidence of a task, verified in the browser, so that the operator need not trust the relay. */
export function EvidenceBox({ params, isSettled }: { params: TaskParams; isSettled: boolean }) {
  const { relay } = usePageContext();
  const { agentId, taskId } = params;
  const load = useCallback(
    () => relay.callText("getEvidence", { params: { agentId, taskId } }),
    // A settlement changes the evidence.
    [relay, agentId, taskId, isSettled],
  );
  const evidence = useLoaded(load);
  const info = useAnswer("relayInfo", {});
  return (
    <AnswerView answer={evidence}>
      {(text) =>
        info.body !== undefined && (
          <VerifiedEvidence text={text} publicKey={info.body.public_key} taskId={taskId} />
        )
      }
    </AnswerView>
  );
}
