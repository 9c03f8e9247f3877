import { useState } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

/** The browsers that are signed in, each with a button that ends its session. */
export function SessionsPage() {
  const { relay } = usePageContext();
  const [version, setVersion] = useState(0);
  const sessions = useAnswer("listConsoleSessions", {}, { version, on: ["session."] });
  return (
    <>
      <ViewTitle title="Sessions" />
      <p class="hint">
        A session can make changes for 10 minutes after its link was opened or the token was
        entered, and then it is read-only. It ends after an hour without an open page, after 8
        hours, or when you end it here.
      </p>
      <AnswerView answer={sessions}>
        {(body) => (
          <RowTable
            caption="Sessions"
            rows={body.sessions}
            rowKey={({ session_id }) => session_id}
            empty="No session is open."
            columns={[
              { title: "session", cell: ({ session_id }) => <ShortId id={session_id} /> },
              { title: "level", cell: ({ level }) => level },
              { title: "opened by", cell: ({ opened_by }) => opened_by },
              { title: "opened", cell: ({ opened_at }) => <TimeText at={opened_at} /> },
              { title: "last used", cell: ({ renewed_at }) => <TimeText at={renewed_at} /> },
              { title: "ends", cell: ({ expires_at }) => <TimeText at={expires_at} /> },
              {
                title: "",
                cell: ({ session_id: sessionId }) => (
                  <ActButton
                    label="End"
                    onDone={() => setVersion((before) => before + 1)}
                    question={{
                      verb: "End",
                      title: "End a session",
                      consequence: `The browser of session …${sessionId.slice(-8)} is signed out at once, with all of its pages.`,
                      typedWord: "end",
                      run: ({ extras }) =>
                        relay.call("revokeConsoleSession", { params: { sessionId } }, extras),
                      describe: () => "The session has ended.",
                    }}
                  />
                ),
              },
            ]}
          />
        )}
      </AnswerView>
    </>
  );
}
