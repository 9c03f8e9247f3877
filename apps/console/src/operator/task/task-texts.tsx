import { useState } from "preact/hooks";
import { RefusalText } from "../../shared/components/answer-view.tsx";
import { ForeignText } from "../../shared/components/foreign-text.tsx";
import type { BodyOf, PageAnswer } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";

/** Prompt and result, hidden until the operator requests them, which the audit records. */
export function TaskTexts({ taskId }: { taskId: string }) {
  const { relay } = usePageContext();
  const [answer, setAnswer] = useState<PageAnswer<BodyOf<"getTaskTexts">> | undefined>();
  const show = async () => setAnswer(await relay.call("getTaskTexts", { params: { taskId } }));
  return (
    <section class="box">
      <h2>Prompt and result</h2>
      {answer?.ok === true ? (
        <>
          <h3>Prompt</h3>
          <pre tabIndex={0}>
            <ForeignText text={answer.body.prompt} />
          </pre>
          <h3>Result</h3>
          {answer.body.result === null ? (
            <p class="empty">There is none.</p>
          ) : (
            <pre tabIndex={0}>
              <ForeignText text={answer.body.result} />
            </pre>
          )}
        </>
      ) : (
        <p class="covered">
          Prompt and result are hidden.{" "}
          <button type="button" class="small" onClick={() => void show()}>
            Show the texts
          </button>{" "}
          <small>The audit records that you have read them.</small>
        </p>
      )}
      {answer?.ok === false && <RefusalText refusal={answer} />}
    </section>
  );
}
