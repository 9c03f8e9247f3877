import type { CallRefusal } from "@agent/client";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { RefusalText } from "../shared/components/answer-view.tsx";
import type { PageAnswer } from "../shared/relay/call-relay.ts";

/** Asks for confirmation before an action of the owner, and closes when the relay has done it. */
export function AskDialog({
  title,
  verb,
  consequence,
  run,
  onClose,
}: {
  title: string;
  verb: string;
  consequence: ComponentChildren;
  run: () => Promise<PageAnswer<unknown>>;
  onClose: (isDone: boolean) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isDone = useRef(false);
  const [refusal, setRefusal] = useState<CallRefusal>();
  const [isRunning, setRunning] = useState(false);
  // An effect after the first paint would miss an early press of Escape.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const act = async () => {
    setRunning(true);
    const answer = await run();
    setRunning(false);
    setRefusal(answer.ok ? undefined : answer);
    isDone.current = answer.ok;
    if (answer.ok) dialog.current?.close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="ask-title" onClose={() => onClose(isDone.current)}>
      <h2 id="ask-title">{title}</h2>
      <div class="consequence">{consequence}</div>
      {refusal !== undefined && <RefusalText refusal={refusal} />}
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="button" disabled={isRunning} onClick={() => void act()}>
          {verb}
        </button>
      </div>
    </dialog>
  );
}
