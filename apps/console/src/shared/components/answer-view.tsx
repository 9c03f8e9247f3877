import type { CallRefusal } from "@agent/client";
import type { ComponentChildren } from "preact";
import { describeRefusal } from "../relay/describe-refusal.ts";
import type { LoadedAnswer } from "../relay/use-answer.ts";
import { TimeText } from "./foreign-text.tsx";

/** A refusal as a sentence, with its code and the id of the request, by which the operator finds it in the log. */
export function RefusalText({ refusal }: { refusal: CallRefusal }) {
  const { code, requestId, retryAfterSeconds } = refusal;
  return (
    <p class="refusal" role="alert" data-code={code}>
      {describeRefusal(refusal)}
      {retryAfterSeconds !== undefined && <> Trying again in {retryAfterSeconds} s.</>}
      <small>
        code <code>{code}</code>
        {requestId !== undefined && (
          <>
            , request <code>{requestId}</code>
          </>
        )}
      </small>
    </p>
  );
}

/** Shows an answer once it has arrived; an outdated one is greyed out, with its age. */
export function AnswerView<Body>({
  answer,
  children,
}: {
  answer: LoadedAnswer<Body>;
  children: (body: Body) => ComponentChildren;
}) {
  const { body, refusal, at } = answer;
  return (
    <>
      {refusal !== undefined && <RefusalText refusal={refusal} />}
      {body === undefined && refusal === undefined && <p class="loading">Loading …</p>}
      {body !== undefined && (
        <div class={refusal === undefined ? undefined : "stale"}>
          {refusal !== undefined && (
            <p class="hint">
              As of <TimeText at={at ?? null} />
            </p>
          )}
          {children(body)}
        </div>
      )}
    </>
  );
}
