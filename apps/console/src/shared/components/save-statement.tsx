import { useState } from "preact/hooks";
import type { CallRefusal } from "@agent/client";
import { usePageContext } from "../relay/page-context.ts";
import { RefusalText } from "./answer-view.tsx";
import { saveFile } from "./save-file.ts";

/** Saves the whole statement as a file by a call, because a plain link could not send the token. */
export function SaveStatement({ agentId }: { agentId: string }) {
  const { relay } = usePageContext();
  const [refusal, setRefusal] = useState<CallRefusal>();
  const save = async () => {
    const query = { format: "csv" } as const;
    const answer = await relay.callText("getStatement", { params: { agentId }, query });
    setRefusal(answer.ok ? undefined : answer);
    if (answer.ok) saveFile(`statement-${agentId}.csv`, "text/csv", answer.body);
  };
  return (
    <>
      <button type="button" onClick={() => void save()}>
        Save the statement as CSV
      </button>
      {refusal !== undefined && <RefusalText refusal={refusal} />}
    </>
  );
}
